"""Step 5: the very bytes that would become public, what they change, what stays private, what looks wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.utils import timezone

from benchmarks.domain.types import DomainError
from hub import drafts, freezing
from hub.checking import Checked
from hub.domain.diff import Change, diff
from hub.domain.disclosure import private_kinds, public_items
from hub.domain.leaks import Finding, Waiver
from hub.domain.stored import reference_of
from hub.private_facts import private_facts
from hub.public_board import PublicState
from hub.public_links import Links
from hub.public_pages import PublicationPage
from hub.public_publication import manifest_page
from hub.public_read import read_published
from hub.publish_pages import Answer, ChangeRow, CheckPage, CheckTab, FieldError, FindingRow, Shown
from hub.redaction import can_redact
from hub.wizard import STEPS, DraftView
from plural_site import formats
from plural_site.accounts.models import User

STEP = STEPS[4]
READER = "reader"
TABS = {"": "What changes", READER: "As a reader sees it", "raw": "Raw manifest", "findings": "Findings"}
LONGEST_REASON = 500
SIGNS = {"added": "+ added", "removed": "− removed", "changed": "changed"}


def check_page(
    view: DraftView, tab: str, errors: Sequence[FieldError] = (), state: PublicState | None = None
) -> CheckPage:
    """Makes the preview where there is none, or where it is old or something behind it has moved.

    `state` is that of the board that a reader will see.
    """
    shown_before = view.draft.candidate_digest
    try:
        checked = freezing.preview(view)
    except DomainError as error:
        return _without(view, [*errors, FieldError("", str(error))])
    moved = shown_before and shown_before != checked.digest and not errors
    notices = [
        "What would be published is not what was shown last: something behind it moved, or a day has passed. "
        "This is the new preview."
    ]
    page = _Page(view, checked, tab if tab in TABS else "", state or PublicState())
    return page.page(errors, notices if moved else [])


def settle_finding(view: DraftView, actor: User, *, seen: int, data: Mapping[str, str]) -> FieldError | None:
    """Waives a finding with a reason, redacts it, or takes either back. What is wrong, if anything."""
    name, do, choices = data.get("finding", ""), data.get("do", ""), view.choices
    found = next((each for each in freezing.preview(view).findings if each.id == name), None)
    kept = {other: waiver for other, waiver in choices.waived.items() if other != name}
    redacted = tuple(other for other in choices.redacted if other != name)
    if do == "waive":
        reason = formats.clean_text(data.get("reason", "").replace("\0", "")).strip()[:LONGEST_REASON]
        if not reason:
            return FieldError(f"reason-{name}", "Say why it may become public.")
        if found is None:
            return FieldError("", "This finding is not there any more.")
        kept[name] = Waiver(reason, str(actor), timezone.now().isoformat())
    elif do == "redact":
        if found is None or not can_redact(found):
            return FieldError("", "This can’t be redacted: change it where it comes from, or leave it out.")
        redacted = (*redacted, name)
    drafts.settle(view.draft, seen=seen, choices=replace(choices, waived=kept, redacted=redacted))
    return None


def freeze(view: DraftView, actor: User, *, seen: int, digest: str) -> str | FieldError:
    """The digest of what is public now, or why it isn't."""
    try:
        return freezing.freeze(view, actor=actor, seen=seen, digest=digest).digest
    except drafts.DraftChanged:
        raise
    except DomainError as error:
        return FieldError("", str(error))


class _Page:
    def __init__(self, view: DraftView, checked: Checked, tab: str, state: PublicState) -> None:
        self.view, self.checked, self.tab, self.state = view, checked, tab, state
        self.manifest, self.base = checked.manifest, checked.candidate.base

    def page(self, errors: Sequence[FieldError], notices: Sequence[str]) -> CheckPage:
        checked, view = self.checked, self.view
        findings = tuple(self._findings())
        open_ones = len(checked.settlement.open)
        changes = tuple(self._changes())
        sequence = view.head.sequence + 1 if view.head else 1
        size = formats.bytes_text(len(checked.body))
        details = {
            "": formats.count(len(changes)),
            "raw": size,
            "findings": f"{open_ones} open" if findings else "none",
        }
        return CheckPage(
            frame=view.frame(STEP, errors, notices),
            tab=self.tab,
            tabs=tuple(
                CheckTab(label, details.get(key, ""), self._href(key), key == self.tab)
                for key, label in TABS.items()
            ),
            answers=tuple(self._answers()),
            compared=self._compared(),
            changes=changes,
            public=tuple(
                Shown(f"{item.count} × {item.kind}" if item.count > 1 else item.kind, item.words)
                for item in public_items(self.manifest)
            ),
            private=tuple(self._private()),
            findings=findings,
            open_findings=open_ones,
            scanned=f"Scanned all {formats.count(len(checked.body))} bytes for secrets, machine paths, "
            "e-mail addresses and overlap with what stays private.",
            raw=checked.body.decode() if self.tab == "raw" else "",
            reader=self._reader() if self.tab == READER else None,
            size=size,
            reference=reference_of(self.manifest, checked.digest),
            digest=checked.digest,
            sequence=sequence,
            hindrance=freezing.hindrance_of(view, checked),
            is_withdrawal=self.manifest.status == "withdrawn",
        )

    def _href(self, tab: str) -> str:
        return f"{self.view.href('check')}{'/reader' if tab == READER else f'?tab={tab}' if tab else ''}"

    def _reader(self) -> PublicationPage:
        published = read_published(self.checked.body, self.checked.digest)
        return manifest_page(published, Links(self._href(READER)), self.state)

    def _compared(self) -> str:
        head = self.view.head
        if head is None:
            return "Nothing of this release is public yet."
        return f"Compared with manifest {head.sequence}, frozen {formats.datetime_text(head.at)}"

    def _changes(self) -> list[ChangeRow]:
        return [
            ChangeRow(
                kind="withdrawn" if _withdraws(change) else change.sign,
                sign="− withdrawn" if _withdraws(change) else SIGNS[change.sign],
                what=formats.clean_text(change.what),
                why=formats.clean_text(change.reason),
                parts=formats.clean_texts(_parts(change)),
            )
            for change in diff(self.base, self.manifest)
        ]

    def _private(self) -> list[Shown]:
        kinds = private_kinds(private_facts(self.view), self.manifest.disclosure)
        return [
            Shown(f"{formats.count(kind.count)} × {kind.kind}" if kind.count else kind.kind, kind.why)
            for kind in kinds
        ]

    def _findings(self) -> list[FindingRow]:
        settled, chosen = self.checked.settlement, self.view.choices
        rows = [self._finding(found, "open", "") for found in settled.open]
        rows += [
            self._finding(found, "waived", f"Waived by {waiver.by}: “{waiver.reason}”")
            for found, waiver in settled.waived
        ]
        rows += [self._finding(found, "note", "") for found in settled.information]
        return rows + [
            FindingRow(
                name, "A text", "", "", "redacted", "Redacted: readers see a mark in its place.", False, ""
            )
            for name in chosen.redacted
        ]

    def _finding(self, found: Finding, state: str, settled: str) -> FindingRow:
        step = {"results": "results", "configurations": "results", "tasks": "text", "about": "text"}.get(
            str(found.path[0]) if found.path else "", "text"
        )
        if "instructions" in found.path or "findings" in found.path:
            step = "disclosure"
        return FindingRow(
            id=found.id,
            looks_like=formats.clean_text(found.label),
            where=formats.clean_text(found.where),
            context=formats.clean_text(found.context),
            state=state,
            settled=formats.clean_text(settled),
            can_redact=can_redact(found),
            change_href=self.view.href(step),
        )

    def _answers(self) -> list[Answer]:
        view, choices = self.view, self.view.choices
        labels = {found.id: found.label for found in self.manifest.configurations}
        picked = [
            f"{labels.get(pick.configuration, pick.configuration[:19])} on {pick.track}, from "
            f"{len(pick.jobs)} Job{'' if len(pick.jobs) == 1 else 's'}"
            for pick in choices.picks
        ]
        if choices.withdraws_release:
            picked = ["The whole release is withdrawn"]
        picked += [f"{name} is withdrawn: “{why}”" for name, why in choices.withdrawn.items()]
        on = {True: "published", False: "kept private"}
        about, publisher = self.manifest.about, self.manifest.publisher
        return [
            Answer("Release", (self.manifest.release.version,), view.href("release")),
            Answer("Results", formats.clean_texts(picked), view.href("results")),
            Answer(
                "Disclosure",
                (
                    f"Task instructions: {on[choices.instructions]}",
                    f"Verifier findings on examples: {on[choices.findings]}",
                ),
                view.href("disclosure"),
            ),
            Answer(
                "Text and licence",
                formats.clean_texts(
                    [self.manifest.publication.title, f"by {publisher.name}", about.license or "no licence"]
                ),
                view.href("text"),
            ),
            Answer(
                "Reason",
                formats.clean_texts([freezing.reason_of(view) or "none given"]),
                view.href("results"),
            ),
        ]


def _withdraws(change: Change) -> bool:
    """A result or the release that is withdrawn: it stays, and counts no more."""
    fields = {part.field: part.new for part in change.parts}
    return change.sign == "changed" and fields.get("status", fields.get("")) == "withdrawn"


def _parts(change: Change) -> list[str]:
    if change.sign != "changed":
        return [f"{part.label}: {part.new or part.old}" for part in change.parts if part.label]
    return [
        f"{part.label or change.what}: {part.old or 'none'} → {part.new or 'none'}" for part in change.parts
    ]


def _without(view: DraftView, errors: Sequence[FieldError]) -> CheckPage:
    """The page of a draft that stands for no manifest."""
    return CheckPage(
        frame=view.frame(STEP, errors),
        tab="",
        tabs=(),
        answers=(),
        compared="",
        changes=(),
        public=(),
        private=(),
        findings=(),
        open_findings=0,
        scanned="",
        raw="",
        reader=None,
        size="",
        reference="",
        digest="",
        sequence=0,
        hindrance="As answered so far there can be no manifest.",
        is_withdrawal=False,
    )
