"""The receipt of an execution, with every digest recomputed from the bytes that are stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from benchmarks.domain.identity import plain_hash, revision_hash
from benchmarks.domain.types import DomainError
from benchmarks.models import Revision
from benchmarks.pages import Crumb
from jobs.domain.json_tree import tree
from jobs.domain.readers.execution import receipt_hash
from jobs.domain.room import Room
from jobs.stored_files import StoredFile, StoredFiles, removed_words
from jobs.trial_config import TrialConfig, mapping
from jobs.trial_page import Shown, TrialQuery, find_shown
from jobs.trial_pages import CheckRow, ReceiptPage
from plural_site import formats
from plural_site.accounts.models import Project

MOST_JSON = 8 * 1024 * 1024
MOST_HASHED = 512 * 1024 * 1024
"""Bytes of an execution that one request reads again."""
MOST_ROWS, ROWS_SIZE = 300, 200_000
TREE_SIZE, TREE_NODES = 100_000, 800
ARTIFACTS, MANIFEST = "artifacts/", "artifacts/manifest.json"
MATCHES, DIFFERS, UNKNOWN = "matches", "differs", "not recomputed"
TONES = {MATCHES: "good", DIFFERS: "bad", UNKNOWN: "neutral"}


def receipt_page(project: Project, trial_id: str, query: TrialQuery) -> ReceiptPage:
    """Reads every file of the execution once, as a stream. Raises Http404."""
    shown = find_shown(project, trial_id, query)
    trial, stored = shown.trial, shown.stored
    number = shown.execution.number if shown.execution else 0
    checks: list[CheckRow] = []
    files: list[CheckRow] = []
    missing, receipt = "The Trial left no execution.", None
    if stored is not None and shown.execution is not None:
        read = stored.read_json("receipt.json", MOST_JSON)
        receipt = read.value
        missing = "" if receipt is not None else _why_missing(stored, read.problem)
        if receipt is not None:
            checks = list(_Checks(shown, stored, receipt).rows())
            files = list(_file_checks(stored, receipt))
    shown_files, words = _bounded(files)
    tone, summary = _summary([*checks, *files])
    is_final = shown.execution is None or shown.execution.is_final
    return ReceiptPage(
        crumbs=_crumbs(project, shown),
        task=formats.clean_text(trial.task_name),
        agent=formats.clean_text(trial.job_agent.name),
        attempt=trial.attempt,
        execution=number,
        summary=summary,
        tone=tone,
        missing=missing,
        checks=tuple(checks),
        files=tuple(shown_files),
        files_words=words,
        tree=None if receipt is None else tree(receipt, Room(TREE_SIZE, TREE_NODES, formats.clean_text)),
        trial_href=shown.links.page(execution=None if is_final else number),
        file_href=shown.links.file(number, "receipt.json") if receipt is not None else "",
    )


def _crumbs(project: Project, shown: Shown) -> tuple[Crumb, ...]:
    job = shown.trial.job.client_job_id
    return (
        Crumb(project.name, reverse("jobs:project", args=[project.slug])),
        Crumb("Jobs", reverse("jobs:jobs", args=[project.slug])),
        Crumb(job, reverse("jobs:job", args=[project.slug, job])),
        Crumb(shown.trial.client_trial_id, shown.links.page()),
        Crumb("Receipt"),
    )


def _why_missing(stored: StoredFiles, problem: str) -> str:
    if not stored.is_kept():
        return "The files of this execution are no longer in the store."
    return f"receipt.json can’t be read: {formats.clean_text(problem[:300]) or 'there is none'}."


def _summary(rows: list[CheckRow]) -> tuple[str, str]:
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in TONES}
    if not rows:
        return "neutral", ""
    checked = counts[MATCHES] + counts[DIFFERS]
    rest = f" {formats.count(counts[UNKNOWN])} can’t be recomputed here." if counts[UNKNOWN] else ""
    if counts[DIFFERS]:
        return "bad", f"{formats.count(counts[DIFFERS])} of {formats.count(checked)} digests differ.{rest}"
    return "good", f"All {formats.count(checked)} recomputed digests match.{rest}"


def _check(what: str, recorded: Any, found: str | None, how: str) -> CheckRow:
    """`found` is None where nothing can be recomputed; `how` then says why."""
    text = recorded if isinstance(recorded, str) else ""
    verdict = UNKNOWN if found is None else MATCHES if found == text else DIFFERS
    return CheckRow(
        formats.clean_text(what[:300]),
        formats.clean_text(text[:100]) or formats.DASH,
        formats.DASH if found is None else formats.clean_text(found[:100]) or formats.DASH,
        verdict,
        TONES[verdict],
        how,
    )


# Files -----------------------------------------------------------------------------------------------


def _file_checks(stored: StoredFiles, receipt: Mapping[str, Any]) -> Iterator[CheckRow]:
    """Each artifact against the receipt and the manifest, every other file against its digest at import."""
    manifest = stored.read_json(MANIFEST, MOST_JSON).value or {}
    entries = manifest.get("artifacts")
    listed = {
        str(mapping(entry).get("path")): mapping(entry)
        for entry in (entries if isinstance(entries, list) else [])
    }
    hashes = mapping(receipt.get("artifact_hashes"))
    left = MOST_HASHED
    seen = set()
    for file in stored.files:
        name = file.path.removeprefix(ARTIFACTS) if file.path.startswith(ARTIFACTS) else ""
        seen.add(name)
        if file.removed:
            yield _check(file.path, file.digest, None, removed_words(file))
            continue
        left -= file.size
        found = None if left < 0 else _hashed(stored, file)
        if not name or file.path == MANIFEST:
            how = "digest at import; the run records none"
            yield _check(file.path, file.digest, found, how if found is not None else _TOO_MUCH)
            continue
        yield _artifact(file, name, found, hashes.get(name), listed.get(name, {}))
    for name in sorted({*map(str, hashes), *listed} - seen):
        yield _check(f"{ARTIFACTS}{name}", hashes.get(name) or listed[name].get("sha256"), "", "no such file")


_TOO_MUCH = f"this execution holds more than {formats.bytes_text(MOST_HASHED)}"


def _artifact(
    file: StoredFile, name: str, found: str | None, hashed: Any, listed: Mapping[str, Any]
) -> CheckRow:
    """One row for receipt and manifest; the one that is not as it should be decides."""
    if found is None:
        return _check(file.path, hashed, None, _TOO_MUCH)
    if not isinstance(hashed, str):
        return _check(file.path, "", found, "the receipt lists no such artifact")
    if hashed != found:
        return _check(file.path, hashed, found, "against the receipt")
    if listed.get("sha256") != found:
        recorded = listed.get("sha256")
        return _check(file.path, recorded, found, "against manifest.json")
    if listed.get("size") != file.size:
        told = f"{listed.get('size')} bytes"
        return _check(file.path, told, f"{file.size} bytes", "size against manifest.json")
    return _check(file.path, hashed, found, "receipt and manifest.json")


def _hashed(stored: StoredFiles, file: StoredFile) -> str:
    """'' where the store has lost bytes of it."""
    sha, size = hashlib.sha256(), 0
    for chunk in stored.chunks(file):
        sha.update(chunk)
        size += len(chunk)
    return f"sha256:{sha.hexdigest()}" if size == file.size else ""


def _bounded(rows: list[CheckRow]) -> tuple[list[CheckRow], str]:
    order = sorted(rows, key=lambda row: (row.verdict == MATCHES, row.verdict == UNKNOWN))
    room = Room(ROWS_SIZE, 0, str)
    shown: list[CheckRow] = []
    for row in order[:MOST_ROWS]:
        if not room.spend(600 + 4 * len(row.what)):
            break
        shown.append(row)
    words = f"{formats.count(len(rows))} file{'' if len(rows) == 1 else 's'}."
    if len(shown) < len(rows):
        words += f" These are {formats.count(len(shown))} of them, those that differ first."
    return shown, words


# Pins ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Held:
    """A definition of the site, and its hash recomputed from what is stored of it."""

    content: Mapping[str, Any]
    computed: str


class _Checks:
    """Digests of the receipt against the Job's pins (config.json, lock.json) and the site's definitions."""

    def __init__(self, shown: Shown, stored: StoredFiles, receipt: Mapping[str, Any]) -> None:
        self.trial, self.execution, self.stored, self.receipt = shown.trial, shown.execution, stored, receipt
        self.config = TrialConfig(shown.trial)
        self.lock = self.config.files.read_json("lock.json", MOST_JSON).value or {}
        self.held = self._definitions(shown.project)

    def rows(self) -> Iterator[CheckRow]:
        yield from self._receipt()
        yield from self._task()
        yield from self._definitions_of("environment", [self.receipt.get("environment_digest")])
        digests = self.receipt.get("verifier_digests")
        yield from self._definitions_of("verifier", digests if isinstance(digests, list) else [])
        yield from self._agent()
        yield from self._harness()
        yield from self._release()
        yield self._specification()

    def _definitions(self, project: Project) -> dict[str, _Held]:
        """One query: what the receipt names, as far as the site holds it."""
        pin = mapping(self.receipt.get("task_pin"))
        named = [
            pin.get("content_hash"),
            self.receipt.get("task_digest"),
            self.receipt.get("environment_digest"),
        ]
        named += self.receipt.get("verifier_digests") or []
        named.append(mapping(self.receipt.get("benchmark")).get("content_hash"))
        digests = {name for name in named if isinstance(name, str) and "\0" not in name and len(name) <= 71}
        found = Revision.objects.filter(resource__project=project, content_hash__in=sorted(digests)[:200])
        return {revision.content_hash: _held(revision) for revision in found.select_related("resource")}

    def _receipt(self) -> Iterator[CheckRow]:
        execution = self.execution
        computed = _hash_of(self.receipt)
        kept = execution.receipt_hash if execution else ""
        how = "receipt.json, hashed again, against the hash taken at import"
        yield _check("receipt", kept, computed, how)
        result = self.stored.read_json("result.json", MOST_JSON).value or {}
        inside = mapping(result.get("receipt"))
        yield _check("receipt inside result.json", computed or "", _hash_of(inside), "against receipt.json")
        if execution is None or not execution.is_final:
            return
        said = [note for note in self.trial.notes if str(note.get("file", "")).endswith("selected.json")]
        how = "selected.json is not kept; at import it named this receipt, if the Trial had one"
        if said:
            how = formats.clean_text(
                f"at import selected.json was found wrong: {said[0].get('message')}"[:400]
            )
            yield CheckRow("selected.json", formats.DASH, formats.DASH, DIFFERS, TONES[DIFFERS], how)
        else:
            yield _check("selected.json", kept, None, how)

    def _task(self) -> Iterator[CheckRow]:
        pinned = mapping(self.receipt.get("task_pin")).get("content_hash")
        digest = self.receipt.get("task_digest")
        yield self._definition("task", digest)
        yield _check("task pin", pinned, self.trial.task_digest, "against the Task that the Trial stands at")
        yield self._in_lock("task", "task_digests", digest)

    def _definitions_of(self, kind: str, digests: list[Any]) -> Iterator[CheckRow]:
        for digest in digests[:50]:
            yield self._definition(kind, digest)
            yield self._in_lock(kind, f"{kind}_digests", digest)
        if kind == "verifier":
            yield from self._bound(digests)
        elif held := self.held.get(str(self.receipt.get("task_digest"))):
            how = "against the Environment of the Task’s definition"
            yield _check("environment of the Task", digests[0], str(held.content.get("environment")), how)

    def _bound(self, digests: list[Any]) -> Iterator[CheckRow]:
        held = self.held.get(str(self.receipt.get("task_digest")))
        if held is None:
            return
        bound, named = held.content.get("verifiers"), list(map(str, digests))
        how = "a digest over their list, against the Verifiers of the Task’s definition"
        yield _check("verifiers of the Task", plain_hash(named), plain_hash(bound), how)

    def _definition(self, kind: str, digest: Any) -> CheckRow:
        held = self.held.get(digest) if isinstance(digest, str) else None
        if held is None:
            return _check(kind, digest, None, "the site holds no definition with this hash")
        return _check(kind, digest, held.computed, "hashed again from the definition that the site holds")

    def _in_lock(self, kind: str, key: str, digest: Any) -> CheckRow:
        pins = self.lock.get(key)
        if not isinstance(pins, list):
            return _check(f"{kind} in lock.json", digest, None, "lock.json can’t be read or lists none")
        found = digest if digest in pins else ""
        return _check(f"{kind} in lock.json", digest, str(found), f"must be one of its {key}")

    def _agent(self) -> Iterator[CheckRow]:
        digest, position = self.receipt.get("agent_digest"), self.trial.job_agent.position
        pins = self.lock.get("agent_digests")
        if isinstance(pins, list) and position < len(pins):
            how = f"must be number {position + 1} of its agent_digests"
            yield _check("agent in lock.json", digest, str(pins[position]), how)
        else:
            yield _check("agent in lock.json", digest, None, "lock.json can’t be read or lists none")
        agents = self.config.config.get("agents")
        if isinstance(agents, list) and position < len(agents):
            how = "hashed again from the Agent in config.json"
            yield _check("agent", digest, _plain(agents[position]), how)
        else:
            yield _check("agent", digest, None, "config.json can’t be read for a page")

    def _harness(self) -> Iterator[CheckRow]:
        digest = self.receipt.get("harness_digest")
        if not digest:
            yield _check("harness", "", None, "the built-in loop, which has no digest")
            return
        yield self._in_lock("harness", "harness_digests", digest)
        yield _check("harness", digest, None, "the files of the Harness are not kept")

    def _release(self) -> Iterator[CheckRow]:
        release = mapping(self.receipt.get("benchmark"))
        digest = release.get("content_hash")
        if not digest:
            return
        yield self._definition("release", digest)
        pinned = mapping(self.lock.get("benchmark")).get("content_hash")
        yield _check("release in lock.json", digest, str(pinned or ""), "against its benchmark")

    def _specification(self) -> CheckRow:
        claimed, config = self.lock.get("spec_hash"), self.config.config
        if not config:
            return _check("Job specification", claimed, None, "config.json can’t be read for a page")
        spec = {key: value for key, value in config.items() if key != "run_id" or value is not None}
        how = "config.json, hashed again, against lock.json’s spec_hash"
        return _check("Job specification", claimed, _plain(spec), how)


def _held(revision: Revision) -> _Held:
    content = revision.content
    try:
        computed = revision_hash(revision.resource.kind, content)  # type: ignore[arg-type]  # a kind by its check
    except DomainError:
        computed = ""
    return _Held(content, computed)


def _hash_of(receipt: Mapping[str, Any]) -> str:
    try:
        return receipt_hash(dict(receipt))
    except DomainError:
        return ""


def _plain(value: Any) -> str:
    try:
        return plain_hash(value)
    except DomainError:
        return ""
