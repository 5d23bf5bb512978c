"""Step 2: results, each of one configuration on one track from exactly the Jobs named.

Names of the form's fields: `pick` (TRACK|CONFIGURATION), `job` (TRACK|CONFIGURATION|JOB),
`why|TRACK|CONFIGURATION`, `withdraw` (a result's id), `why|RESULT`, `withdraw_release`, `reason`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.http import QueryDict
from django.urls import reverse

from benchmarks.domain.types import Track
from benchmarks.pages import Figure
from hub.choices import Choices, Pick
from hub.domain.manifest import Manifest, ManifestResult
from hub.domain.stored import parse_manifest
from hub.publish_pages import FieldError, PickGroup, PickJob, PickRow, PublishedRow, ResultsPage, Unpickable
from hub.wizard import STEPS, DraftView
from jobs.entries import Entry, load_entries
from jobs.models import Job, Tally
from plural_site import formats

STEP = STEPS[1]
LONGEST_REASON = 500
UNTRACKED = (
    "Its Jobs ran on no track: evidence only, which is never published. Run it again with "
    "--evaluation-track and the id of a track of this release."
)


class ResultsStep:
    def __init__(self, view: DraftView) -> None:
        if view.draft.release is None:
            raise ValueError("No release is chosen.")
        self.view, self.choices = view, view.choices
        self.revision = view.draft.release.revision
        self.rules = self.revision.rules
        self.low, self.high = self.rules.scoring.score_range
        self.base = parse_manifest(bytes(view.head.manifest.body)) if view.head else None
        self.entries = {
            track.reference: load_entries(self.revision, track.reference) for track in self.rules.tracks
        }

    # What is shown

    def page(self, errors: Sequence[FieldError] = (), choices: Choices | None = None) -> ResultsPage:
        """`choices`: what was sent, where it can't be kept."""
        chosen = choices or self.choices
        accepted = [result for result in self._published() if result.status == "accepted"]
        ended = [result for result in self._published() if result.status != "accepted"]
        is_withdrawn = self.base is not None and self.base.status == "withdrawn"
        return ResultsPage(
            frame=self.view.frame(STEP, errors),
            groups=tuple(self._group(track, chosen) for track in self.rules.tracks),
            unpickable=tuple(self._unpickable()),
            published=tuple(self._row(result, chosen) for result in accepted),
            ended=tuple(self._row(result, chosen) for result in ended),
            can_withdraw_release=self.base is not None and not is_withdrawn,
            withdraws_release=chosen.withdraws_release,
            is_withdrawn=is_withdrawn,
            reason=chosen.reason,
            needs_reason=self.base is not None,
        )

    def _published(self) -> tuple[ManifestResult, ...]:
        return self.base.results if self.base else ()

    def _group(self, track: Track, chosen: Choices) -> PickGroup:
        picks = {pick.key: pick for pick in chosen.picks}
        rows = (
            self._pick_row(
                track, entry, picks.get((track.reference, entry.configuration.content_hash)), number
            )
            for number, entry in enumerate(self.entries[track.reference], 1)
            if not _pending(entry)
        )
        return PickGroup(
            reference=track.reference,
            name=formats.clean_text(track.name),
            unit=formats.score_unit(self.low, self.high),
            rows=tuple(rows),
        )

    def _pick_row(self, track: Track, entry: Entry, pick: Pick | None, number: int) -> PickRow:
        tally, digest = entry.overall, entry.configuration.content_hash
        value = f"{track.reference}|{digest}"
        low, high = (formats.score_text(end, self.low, self.high) for end in (tally.low, tally.high))
        replaced = self._replaced(track.reference, digest)
        return PickRow(
            value=value,
            id=f"pick-{track.id}-{number}",
            rank=entry.place,
            agent=formats.clean_text(entry.names[0]),
            detail=formats.clean_text(f"{entry.configuration.model} · {entry.harness}"),
            score=_score(tally, self.low, self.high),
            interval=f"{low} – {high}" if tally.low is not None else "no interval",
            attempts=f"{formats.count(tally.attempts)} attempts",
            warnings=formats.clean_texts(
                [f"Becomes public as not ranked: {reason}" for reason in tally.reasons]
                if not tally.eligible
                else []
            ),
            replaces=f"Replaces the published result {replaced.id}" if replaced else "",
            reason=pick.reason if pick else "",
            jobs=tuple(self._jobs(value, entry, pick)),
            chosen=pick is not None,
        )

    def _jobs(self, value: str, entry: Entry, pick: Pick | None) -> Iterator[PickJob]:
        for job in {agent.job_id: agent.job for agent in entry.agents}.values():
            yield PickJob(
                value=f"{value}|{job.client_job_id}",
                id=job.client_job_id,
                label=f"of {formats.date_text(job.started_at)}",
                href=reverse("jobs:job", args=[self.view.project.slug, job.client_job_id]),
                chosen=pick is None or job.client_job_id in pick.jobs,
            )

    def _replaced(self, track: str, configuration: str) -> ManifestResult | None:
        for result in self._published():
            if result.status == "accepted" and (result.track, result.configuration) == (track, configuration):
                return result
        return None

    def _row(self, result: ManifestResult, chosen: Choices) -> PublishedRow:
        labels = {found.id: found.label for found in self.base.configurations} if self.base else {}
        return PublishedRow(
            id=result.id,
            label=formats.clean_text(labels.get(result.configuration, result.configuration)),
            track=result.track,
            score=formats.score_text(result.score, self.low, self.high),
            status=result.status,
            withdraws=result.id in chosen.withdrawn,
            reason=chosen.withdrawn.get(result.id, result.status_reason or ""),
        )

    def _unpickable(self) -> Iterator[Unpickable]:
        for reference, entries in self.entries.items():
            for entry in filter(_pending, entries):
                pending = entry.overall.outcomes["pending"]
                yield Unpickable(
                    formats.clean_text(f"{entry.names[0]} on {reference}"),
                    f"{pending} of its attempts {'is' if pending == 1 else 'are'} pending. Wait for its "
                    "Jobs, or close one that was killed.",
                    self._jobs_href(reference),
                )
        for entry in load_entries(self.revision, ""):
            yield Unpickable(formats.clean_text(entry.names[0]), UNTRACKED, self._jobs_href("none"))
        aside = Job.objects.visible(self.view.project).filter(
            revision=self.revision, set_aside_at__isnull=False
        )
        for job in aside.only("client_job_id", "set_aside_reason"):
            yield Unpickable(
                job.client_job_id,
                f"This Job was set aside: {formats.clean_text(job.set_aside_reason)}",
                reverse("jobs:job", args=[self.view.project.slug, job.client_job_id]),
            )

    def _jobs_href(self, track: str) -> str:
        path = reverse("jobs:jobs", args=[self.view.project.slug])
        return f"{path}?benchmark={self.view.resource.slug}&revision={self.revision.number}&track={track}"

    # What was answered

    def answer(self, data: QueryDict) -> tuple[Choices, list[FieldError]]:
        jobs: dict[str, list[str]] = defaultdict(list)
        for value in data.getlist("job"):
            key, _, job = value.rpartition("|")
            jobs[key].append(job)
        rows = {row.value: row for track in self.rules.tracks for row in self._group(track, Choices()).rows}
        errors: list[FieldError] = []
        picks = []
        for value in dict.fromkeys(data.getlist("pick")):
            if value not in rows:
                errors.append(
                    FieldError("", "A picked result is not there any more. Look at the list again.")
                )
                continue
            picks.append(self._pick(value, rows[value], jobs[value], data, errors))
        choices = replace(
            self.choices,
            picks=tuple(picks),
            withdrawn=self._withdrawn(data, errors),
            withdraws_release=self.base is not None and data.get("withdraw_release") == "yes",
            reason=_reason(data.get("reason", "")),
        )
        errors += self._whole(choices)
        return choices, errors

    def _pick(
        self, value: str, row: PickRow, jobs: Sequence[str], data: QueryDict, errors: list[FieldError]
    ) -> Pick:
        track, _, digest = value.rpartition("|")
        known = [job.id for job in row.jobs]
        named = tuple(job for job in known if job in jobs)
        if not named:
            errors.append(FieldError(row.id, f"Name at least one Job for {row.agent}."))
        reason = _reason(data.get(f"why|{value}", ""))
        if row.replaces and not reason:
            errors.append(FieldError(f"{row.id}-why", f"Say why the result of {row.agent} is replaced."))
        return Pick(track, digest, named, reason)

    def _withdrawn(self, data: QueryDict, errors: list[FieldError]) -> dict[str, str]:
        accepted = {result.id for result in self._published() if result.status == "accepted"}
        found = {}
        for name in data.getlist("withdraw"):
            if name in accepted:
                found[name] = _reason(data.get(f"why|{name}", ""))
                if not found[name]:
                    errors.append(FieldError(f"withdraw-{name}-why", f"Say why {name} is withdrawn."))
        return found

    def _whole(self, choices: Choices) -> list[FieldError]:
        """What is wrong with the answers taken together."""
        errors = []
        needs_reason = bool(choices.withdraws_release or (self.base and self.base.status == "withdrawn"))
        if needs_reason and not choices.reason:
            errors.append(FieldError("reason", "Say why. Readers of the Hub see it."))
        if not choices.picks and self.base is None:
            errors.append(FieldError("results", "Pick at least one result."))
        replaced = {
            result.id
            for pick in choices.picks
            if (result := self._replaced(pick.track, pick.configuration)) is not None
        }
        errors += [
            FieldError(f"withdraw-{name}", f"{name} can be withdrawn or replaced, not both.")
            for name in sorted(replaced & set(choices.withdrawn))
        ]
        return errors


def base_manifest(view: DraftView) -> Manifest | None:
    return parse_manifest(bytes(view.head.manifest.body)) if view.head else None


def _pending(entry: Entry) -> bool:
    return bool(entry.overall.outcomes.get("pending"))


def _score(tally: Tally, low: float, high: float) -> Figure:
    return Figure(formats.score_text(tally.score, low, high), str(tally.score))


def _reason(text: str) -> str:
    return formats.clean_text(text.replace("\0", "")).strip()[:LONGEST_REASON]
