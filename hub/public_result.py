"""A published result: its figures, where they come from, and what it takes to run it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from django.http import Http404
from django.urls import reverse

from benchmarks.board.parts import Fact
from benchmarks.board.rows import FigureTexts
from benchmarks.domain.arithmetic import plain
from benchmarks.domain.explanation import OUTCOME_NAMES
from benchmarks.pages import Crumb, Figure
from hub.domain.manifest import Manifest, ManifestConfiguration, ManifestResult
from hub.domain.recompute import ranking, track_of
from hub.public_board import PublicEntry, PublicState, configuration_of, harness_words, public_board
from hub.public_links import Links, manifest_href, release_href
from hub.public_notices import notices_of
from hub.public_pages import (
    CategoryLine,
    ExampleLine,
    Notice,
    ProvenanceLabel,
    ResultPage,
    TaskLine,
)
from hub.public_publication import evaluated_words, track_words
from hub.public_read import Place, Published, RecordLine
from hub.public_words import COST_OF_WHOLE, PROVENANCE, STATUS
from plural_site import formats

clean = formats.clean_text
COMMANDS_OF_MEMBERS = (
    "The Tasks’ files are not public. The lines work for members of the publisher’s project, and for whoever "
    "was given a copy of the release with this content hash."
)


def result_of(published: Published, result_id: str) -> ManifestResult:
    """Raises Http404 where the manifest has no such result."""
    for result in published.manifest.results:
        if result.id == result_id:
            return result
    raise Http404("No such result.")


def result_page(
    place: Place, record: RecordLine, published: Published, links: Links, result_id: str
) -> ResultPage:
    return _Page(place, record, published, links, result_of(published, result_id)).page()


class _Page(FigureTexts):
    def __init__(
        self,
        place: Place,
        record: RecordLine,
        published: Published,
        links: Links,
        result: ManifestResult,
    ) -> None:
        super().__init__(published.manifest.scoring)
        self.place, self.record, self.published, self.links = place, record, published, links
        self.manifest, self.result = published.manifest, result
        self.configuration = configuration_of(self.manifest, result)
        self.track = track_of(self.manifest, result.track)
        self.unit = formats.score_unit(self.low, self.high)
        self.entry = self._entry()

    def _entry(self) -> PublicEntry:
        """As the board has it; an ended result as it would stand there, without a rank."""
        board = public_board(self.published, self.links, self.track, PublicState(), (self.result,))
        return next(entry for entry in board.entries if entry.result is self.result)

    def page(self) -> ResultPage:
        result, manifest = self.result, self.manifest
        label = clean(self.configuration.label)
        pinned = manifest_href(self.place, self.published.digest)
        words = PROVENANCE[result.provenance]
        ranked = [rank for rank in ranking(manifest, result.track).values() if rank is not None]
        home = pinned if self.links.is_pinned else release_href(self.place, self.record.version)
        return ResultPage(
            crumbs=(
                Crumb("Hub", reverse("hub:home")),
                Crumb(f"{clean(self.place.title)} {manifest.release.version}", home),
                Crumb(f"{label} on {result.track}"),
            ),
            name=label,
            title=clean(manifest.publication.title),
            version=manifest.release.version,
            notices=(*self._ended(), *self._notices()),
            status=STATUS[result.status],
            status_tone={"withdrawn": "bad", "superseded": "warn"}.get(result.status, "good"),
            is_ended=result.status != "accepted",
            rank=self.entry.place,
            of=f"of {len(ranked)} ranked" if self.entry.rank is not None else "not ranked",
            score=self.score(self.entry.overall, ""),
            unit=self.unit,
            interval=self.interval(self.entry.overall, ""),
            range_low=self._text(self.low),
            range_high=self._text(self.high),
            figures=tuple(self._figures()),
            reasons=formats.clean_texts(result.ineligible_reasons),
            provenance=ProvenanceLabel(words.label, 0, words.means, words.means_not),
            submitted=tuple(self._submitted()),
            configuration=tuple(self._configured()),
            models_used=tuple(_models_used(self.configuration)),
            hashes=tuple(self._hashes()),
            jobs=formats.clean_texts(result.reproducibility.evaluation_ids),
            track=track_words(self.track),
            commands=tuple(self._commands()),
            command_notes=tuple(self._command_notes()),
            tasks=tuple(self._tasks()),
            categories=tuple(self._categories()),
            cost_scope=COST_OF_WHOLE,
            examples=tuple(self._examples()),
            examples_note=_examples_note(manifest),
            board_href=f"{home}?track={result.track}#entry-{result.id}",
            pinned_href=f"{pinned}/results/{result.id}",
            corrections=tuple(self._corrections()),
        )

    def _ended(self) -> Iterator[Notice]:
        result = self.result
        if result.status == "withdrawn":
            reason = clean(result.status_reason or "")
            yield Notice("bad", "This result was withdrawn", f"It is not ranked any more. {reason}".strip())
        if result.status == "superseded":
            yield Notice(
                "warn",
                "This result was corrected",
                f"It is not ranked any more. {clean(result.status_reason or '')}".strip(),
                tuple(self._corrections()),
            )

    def _notices(self) -> tuple[Notice, ...]:
        line = self.place.line(self.record.version)
        return notices_of(self.place, line, self.record, self.published, is_pinned=self.links.is_pinned)

    def _corrections(self) -> Iterator[Figure]:
        for other in self.manifest.results:
            label = clean(configuration_of(self.manifest, other).label)
            if other.id == self.result.supersedes:
                yield Figure(f"Corrects an earlier result of {label}", href=self.links.result(other.id))
            if other.supersedes == self.result.id:
                yield Figure(f"The result of {label} that corrects it", href=self.links.result(other.id))

    def _figures(self) -> Iterator[Fact]:
        row, result = self.entry.overall, self.result
        yield Fact("Success", self.success(row, "#tasks"))
        if self.entry.consistency.pass_hat is not None:
            k = self.entry.consistency.k
            text = formats.percent(self.entry.consistency.pass_hat)
            yield Fact("All attempts succeed", Figure(text, note=f"pass^k, k = {k}"))
        yield Fact("Coverage", self.coverage(row, "#tasks"))
        complete = formats.percent(result.complete_coverage)
        yield Fact("With every attempt", Figure(complete, note="of the Tasks by weight"))
        yield Fact("Completed", Figure(formats.percent(result.completion_rate), note="ended with a score"))
        yield Fact("Cost per attempt", self.cost(row, ""))
        yield Fact("Time per attempt", self.latency(row, ""))
        outcomes = ", ".join(
            f"{formats.count(result.outcomes[key])} {words}"
            for key, words in OUTCOME_NAMES.items()
            if result.outcomes.get(key)
        )
        yield Fact("Attempts", Figure(formats.count(row.attempts), note=outcomes))

    def _submitted(self) -> Iterator[Fact]:
        yield Fact("Brought by", Figure(clean(self.result.submitted_by.name)))
        yield Fact("Evaluated", Figure(evaluated_words([self.result])))
        yield Fact("Result id", Figure(clean(self.result.id)))

    def _configured(self) -> Iterator[Fact]:
        found = self.configuration
        kind = "one model" if found.kind == "model" else "a system: more than one model may answer"
        yield Fact("Kind", Figure(kind))
        yield Fact("Model", Figure(clean(found.model)))
        if found.provider:
            yield Fact("Provider", Figure(clean(found.provider)))
        if found.fallback_models:
            yield Fact("Fallback models", Figure(clean(", ".join(found.fallback_models))))
        yield Fact("Harness", Figure(clean(harness_words(found))))
        temperature, tokens = found.settings.get("temperature"), found.settings.get("max_tokens")
        yield Fact("Temperature", Figure("not set" if temperature is None else plain(temperature)))
        yield Fact("max_tokens", Figure("not set" if tokens is None else formats.count(tokens)))
        instructions = "its own; private, see the digest" if found.instructions_digest else "none"
        yield Fact("Instructions", Figure(instructions))

    def _hashes(self) -> Iterator[tuple[str, str]]:
        hashes = self.result.reproducibility
        yield "Release reference", self.published.reference
        yield "Content of the release", hashes.release_content_hash
        yield f"Rules of track {self.result.track}", hashes.track_rules_hash
        yield "Agent configuration", hashes.configuration_hash
        if self.configuration.instructions_digest:
            yield "Agent’s instructions", self.configuration.instructions_digest

    def _commands(self) -> Iterator[str]:
        release = f"{self.manifest.publication.slug}@{self.manifest.release.version}"
        found = self.configuration
        yield _line("plural", "benchmark", "pull", release, "--with-deps")
        run = ["plural", "run", "--benchmark", release]
        who = ["--agent", "NAME"]
        if _is_plain(found):
            who = ["--model", found.model, *(["--harness", found.harness] if found.harness else [])]
        yield _line(*run, *who, "--evaluation-track", self.track.id)

    def _command_notes(self) -> Iterator[str]:
        yield COMMANDS_OF_MEMBERS
        found = self.configuration
        if not _is_plain(found):
            yield (
                "NAME is a saved Agent with the configuration above; it is the same one where its content "
                f"hash is {found.id}."
            )
        if found.harness and found.harness_version:
            yield f"The Harness was {clean(harness_words(found))}; another version is another configuration."
        yield f"The track sets the number of attempts: {self.track.attempts} at every Task."

    def _tasks(self) -> Iterator[TaskLine]:
        tasks = {task.id: task for task in self.manifest.tasks}
        for line in self.result.tasks:
            text = self._text(line.score)
            bar = formats.interval_bar(line.score, None, None, self.low, self.high)
            why = "" if line.score is not None else "No valid attempt"
            rate = line.success_rate
            yield TaskLine(
                name=clean(tasks[line.task_id].name),
                score=Figure(text, why or plain(line.score or 0.0)),
                fill=round((bar.point_x or 0) / formats.BAR_WIDTH * 100, 1),
                attempts=f"{line.valid} of {line.attempts}",
                success=formats.DASH if rate is None else f"{line.successes} of {line.valid}",
                agent_failures=line.agent_failures,
                infrastructure_errors=line.infrastructure_errors,
                weight=plain(tasks[line.task_id].weight),
            )

    def _categories(self) -> Iterator[CategoryLine]:
        for row in self.entry.categories:
            yield CategoryLine(
                name=clean(row.name),
                score=self.score(row, ""),
                interval=self.interval(row, ""),
                coverage=f"{row.tasks_covered} of {row.tasks_total} Tasks",
            )

    def _examples(self) -> Iterator[ExampleLine]:
        names = {task.id: clean(task.name) for task in self.manifest.tasks}
        for example in self.result.examples:
            yield ExampleLine(
                task=names[example.task_id],
                attempt=example.attempt,
                outcome=example.outcome.replace("_", " "),
                score=self._text(example.score),
                stop_reason=clean(example.stop_reason or "").replace("_", " "),
                findings=formats.clean_texts(example.findings),
            )


def _line(*words: str) -> str:
    """A command to be pasted into a shell."""
    return clean(shlex.join(words))


def _is_plain(found: ManifestConfiguration) -> bool:
    """Whether naming the model, and the Harness, is all it takes to run this configuration."""
    return not (found.instructions_digest or found.fallback_models or found.settings or found.provider)


def _models_used(found: ManifestConfiguration) -> Iterator[str]:
    for use in found.models_used:
        provider = f" by {clean(use.provider)}" if use.provider else ""
        calls = "" if use.calls is None else f", {formats.count(use.calls)} calls"
        yield f"{clean(use.model)}{provider}{calls}"


def _examples_note(manifest: Manifest) -> str:
    shown = (
        "with what the Verifiers found, as the publisher chose"
        if manifest.disclosure.verifier_findings
        else "with outcome, score and stop reason; what the Verifiers found is not disclosed"
    )
    return (
        "Of each Task with both a success and a failure, the attempt of the lowest number and Trial id, "
        f"{shown}. Examples never select what counts."
    )
