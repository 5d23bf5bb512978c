"""One execution of a Trial: its result, its receipt and all its files as a pack."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from benchmarks.domain.identity import plain_hash, sha256_digest
from jobs.domain.parsed import (
    ImportProblemError,
    Note,
    Pack,
    ParsedExecution,
    ParsedVerifierResult,
)
from jobs.domain.readers import atif, strict_json
from jobs.domain.readers.folders import Folder, join
from jobs.domain.readers.packs import PackBuilder, add_entries, add_tree
from jobs.domain.readers.progress import status_of
from jobs.domain.readers.strict_json import Fields

RESULT_LIMIT = 32 * 1024 * 1024
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80}(; ?[a-z0-9.+-]+=[\w./+-]+){0,3}", re.ASCII)
_MAX_ROLE = 40

T = TypeVar("T")
Listing = dict[str, Fields]
"""Entries of artifacts/manifest.json by path."""


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """The Trial's own files: its result.json as bytes and fields, its selected.json (b'' for none)."""

    data: bytes
    fields: Fields
    selected: bytes


class ExecutionReader:
    """Reads one open execution folder into an empty pack and a ParsedExecution."""

    def __init__(
        self, folder: Folder, number: int, pack: PackBuilder, *, is_final: bool, notes: list[Note]
    ) -> None:
        self.folder, self.number, self.is_final, self.notes = folder, number, is_final, notes
        self.pack = pack
        self.trajectory = atif.Trajectory()

    def read(self, known: TrialFiles, trial_id: str, job_id: str, reviews: Folder | None) -> ParsedExecution:
        try:
            return self._read(known, trial_id, job_id, reviews)
        except BaseException:
            self.pack.close()
            raise

    def _read(self, known: TrialFiles, trial_id: str, job_id: str, reviews: Folder | None) -> ParsedExecution:
        files, folders = self.folder.entries()
        result = self._result(known)
        receipt = result.object("receipt")
        self._check_ids(receipt, trial_id, job_id)
        receipt_hash = self._receipt(receipt, known if result is known.fields else None)
        for name in files:
            if name not in ("result.json", "receipt.json"):
                self.pack.add_file(self.folder, name, name)
        for name in folders:
            with self.folder.folder(name) as inner:
                if name == "artifacts":
                    self._artifacts(inner, receipt)
                else:
                    add_tree(self.pack, inner, name)
        if reviews is not None:
            add_tree(self.pack, reviews, "reviews")
        return self._parsed(result, receipt, receipt_hash, self.pack.finish())

    def _result(self, known: TrialFiles) -> Fields:
        file = join(self.folder.label, "result.json")
        data = self.folder.read("result.json", RESULT_LIMIT)
        self.pack.add("result.json", data)
        if data == known.data:
            return known.fields
        if self.is_final:
            self.notes.append(Note(file, "", "differs from the Trial's result.json, which counts"))
        return Fields(strict_json.loads(data, file), file)

    def _check_ids(self, receipt: Fields, trial_id: str, job_id: str) -> None:
        for key, wanted in (("trial_id", trial_id), ("job_id", job_id)):
            if receipt.text(key) != wanted:
                raise receipt.problem(key, f"must be {wanted}, as its folder is called")
        if receipt.integer("execution_id", 0) != self.number:
            raise receipt.problem("execution_id", f"must be {self.number}, as its folder is called")

    def _receipt(self, receipt: Fields, known: TrialFiles | None) -> str:
        """The receipt's hash; notes a receipt.json that is not the receipt inside the result."""
        file = join(self.folder.label, "receipt.json")
        data = self.folder.read("receipt.json", RESULT_LIMIT)
        self.pack.add("receipt.json", data)
        text = data.rstrip(b"\n")
        # The store writes both with sorted keys, so one text normally stands inside the other.
        same = known is not None and b'"receipt":%b,"reward_failures":' % text in known.data
        if not same and strict_json.loads(data, file) != receipt.data:
            self.notes.append(Note(file, "", "differs from the receipt in result.json, which counts"))
        elif known is not None and known.selected:
            digest = sha256_digest(text)
            if known.selected == selection(self.number, digest):
                return digest
        return receipt_hash(receipt.data)

    def _artifacts(self, folder: Folder, receipt: Fields) -> None:
        files, folders = folder.entries()
        listing: Listing = {}
        if "manifest.json" in files:
            files.remove("manifest.json")
            listing = self._manifest(folder)
        if self.is_final and atif.NAME in files:
            files.remove(atif.NAME)
            self._read_trajectory(folder)
        add_entries(self.pack, folder, "artifacts", files, folders)
        self._compare(folder.label, listing, receipt)

    def _manifest(self, folder: Folder) -> Listing:
        data = folder.read("manifest.json", RESULT_LIMIT)
        self.pack.add("artifacts/manifest.json", data)
        file = join(folder.label, "manifest.json")
        listing: Listing = {}
        for entry in Fields(strict_json.loads(data, file), file).objects("artifacts"):
            path = _artifact_path(entry)
            if path in listing:
                raise entry.problem("path", "is listed twice")
            listing[path] = entry
            media_type = entry.optional_text("media_type")
            role = entry.optional_text("role")
            self.pack.labels[f"artifacts/{path}"] = (
                media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
                role[:_MAX_ROLE],
                entry.optional_text("sha256"),
            )
        return listing

    def _read_trajectory(self, folder: Folder) -> None:
        file = join(folder.label, atif.NAME)
        path = f"artifacts/{atif.NAME}"

        def attempt(parse: Callable[[T, str], atif.Trajectory], source: T) -> None:
            try:
                self.trajectory = parse(source, file)
            except ImportProblemError as error:
                message = f"{error.message}; its figures are not used"
                self.notes.append(Note(file, error.field, message))

        self.pack.add_parsed(
            folder,
            atif.NAME,
            path,
            lambda data: attempt(atif.from_bytes, data),
            lambda read: attempt(atif.from_stream, read),
        )

    def _compare(self, label: str, listing: Listing, receipt: Fields) -> None:
        """Note every artifact that is not what the manifest or the receipt says."""
        found = {
            file.path.removeprefix("artifacts/"): file
            for file in self.pack.files
            if file.path.startswith("artifacts/") and file.path != "artifacts/manifest.json"
        }
        digests = {path: file.sha256 for path, file in found.items()}
        for path, entry in listing.items():
            if path not in found:
                self._note(entry, "path", f"is listed, but there is no such file: {strict_json.shown(path)}")
            elif entry.data.get("sha256") != digests[path]:
                self._note(entry, "sha256", f"is not that of the file, {digests[path]}")
            elif entry.data.get("size") != found[path].size:
                self._note(entry, "size", f"is not that of the file, {found[path].size}")
        for path in found.keys() - listing.keys():
            self.notes.append(Note(join(label, path), "", "is not listed in manifest.json"))
        claimed = receipt.object("artifact_hashes").data
        if claimed != digests:
            odd = sorted(
                path for path in claimed.keys() | digests.keys() if claimed.get(path) != digests.get(path)
            )
            message = f"differs from the files: {strict_json.shown(', '.join(odd))}"
            self._note(receipt, "artifact_hashes", message)

    def _note(self, fields: Fields, key: str, message: str) -> None:
        problem = fields.problem(key, message)
        self.notes.append(Note(problem.file, problem.field, problem.message))

    def _parsed(self, result: Fields, receipt: Fields, hashed: str, pack: Pack) -> ParsedExecution:
        return ParsedExecution(
            number=self.number,
            status=status_of(result),
            error_code=result.optional_text("error_code"),
            error_message=result.free_text("error_message"),
            stop_reason=result.optional_text("stop_reason"),
            started_at=receipt.time("started_at"),
            completed_at=receipt.time("completed_at"),
            receipt_hash=hashed,
            is_final=self.is_final,
            verifier_results=_verifier_results(result),
            pack=pack,
        )


def selection(number: int, receipt_hash: str) -> bytes:
    """What the store writes into selected.json."""
    return f'{{"execution_id":{number},"receipt_hash":"{receipt_hash}"}}\n'.encode()


def receipt_hash(receipt: dict[str, Any]) -> str:
    """Plain hash of the receipt, without `phases` when that is empty."""
    content = {key: value for key, value in receipt.items() if key != "phases" or value}
    return plain_hash(content)


def _artifact_path(entry: Fields) -> str:
    path = entry.text("path")
    if "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise entry.problem("path", f"must stay inside the folder: {strict_json.shown(path)!r}")
    return path


def _verifier_results(result: Fields) -> tuple[ParsedVerifierResult, ...]:
    found = []
    seen: set[tuple[str, str]] = set()
    for entry in result.objects("verifier_results"):
        verifier, digest = entry.text("verifier_name"), entry.optional_text("verifier_digest")
        if (verifier, digest) in seen:
            raise entry.problem("verifier_name", f"has two results: {strict_json.shown(verifier)!r}")
        seen.add((verifier, digest))
        found.append(
            ParsedVerifierResult(
                verifier=verifier,
                digest=digest,
                kind=entry.text("kind"),
                status=entry.text("status"),
                score=entry.number("score"),
                scores=entry.numbers("scores"),
                feedback=entry.free_text("feedback"),
                evidence=strict_json.without_nul(entry.array("evidence")),
            )
        )
    return tuple(found)
