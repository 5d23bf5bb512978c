"""The steps of publishing: their order, their head, and what stands around each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.urls import reverse

from benchmarks.pages import Crumb
from hub.choices import Choices
from hub.models import Draft, ManifestRecord
from hub.publish_pages import FieldError, StepMark, WizardFrame
from plural_site import formats
from plural_site.accounts.models import Project


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    name: str
    """In addresses."""
    label: str
    question: str


STEPS = (
    Step(1, "release", "Release", "Which release do you want to publish?"),
    Step(2, "results", "Results", "Which results become public?"),
    Step(3, "disclosure", "Disclosure", "What may readers see of the exam itself?"),
    Step(4, "text", "Text and licence", "What do you say about it?"),
    Step(5, "check", "Check and publish", "Is this exactly what should become public?"),
)
BY_NAME = {step.name: step for step in STEPS}


def step_href(project: Project, slug: str, name: str) -> str:
    return reverse("hub:publish-step", args=[project.slug, slug, name])


class DraftView:
    """A draft with what it is about. Needs the publication's resource and the release's revision."""

    def __init__(self, project: Project, draft: Draft) -> None:
        resource = draft.publication.resource
        if resource is None:
            raise ValueError("A draft needs its Benchmark.")
        self.project, self.draft, self.resource = project, draft, resource
        self.publication = draft.publication
        self.choices = Choices.load(draft.choices)

    @cached_property
    def head(self) -> ManifestRecord | None:
        """The newest record of the chosen release."""
        if self.draft.release is None:
            return None
        return ManifestRecord.objects.head(self.publication, self.draft.release.version)

    def href(self, name: str) -> str:
        return step_href(self.project, self.resource.slug, name)

    def frame(
        self, step: Step, errors: Sequence[FieldError] = (), notices: Sequence[str] = ()
    ) -> WizardFrame:
        name = formats.clean_text(self.resource.name)
        before = STEPS[step.number - 2] if step.number > 1 else None
        overview = reverse("hub:publish", args=[self.project.slug])
        return WizardFrame(
            crumbs=(
                Crumb(self.project.name, reverse("jobs:project", args=[self.project.slug])),
                Crumb(name, reverse("benchmarks:benchmark", args=[self.project.slug, self.resource.slug])),
                Crumb("Publish", overview),
            ),
            steps=tuple(self._mark(other, step) for other in STEPS),
            number=step.number,
            title=step.question,
            action=self.href(step.name),
            back_href=self.href(before.name) if before else overview,
            back_label=f"Back to {before.label.lower()}" if before else "Back to the overview",
            discard_href=reverse("hub:publish-discard", args=[self.project.slug, self.resource.slug]),
            notices=(*self._others(), *notices),
            version=self.draft.version,
            errors=tuple(errors),
            saved=f"Draft saved {formats.datetime_text(self.draft.updated_at)}",
        )

    def _mark(self, step: Step, current: Step) -> StepMark:
        is_open = step.number <= self.draft.reached
        state = "current" if step == current else "done" if step.number < self.draft.reached else "ahead"
        return StepMark(
            step.number, step.label, self._detail(step), self.href(step.name) if is_open else "", state
        )

    def _detail(self, step: Step) -> str:
        """What was answered at a step that lies behind."""
        choices, release = self.choices, self.draft.release
        if step.number >= self.draft.reached or release is None:
            return ""
        if step.name == "results":
            words = [f"{len(choices.picks)} picked"]
            if choices.withdrawn:
                words.append(f"{len(choices.withdrawn)} withdrawn")
            return "release withdrawn" if choices.withdraws_release else ", ".join(words)
        on = {True: "on", False: "off"}
        return {
            "release": release.version,
            "disclosure": f"instructions {on[choices.instructions]}, findings {on[choices.findings]}",
            "text": formats.clean_text(choices.text.license) if choices.text else "",
        }.get(step.name, "")

    def _others(self) -> list[str]:
        others = self.publication.drafts.exclude(pk=self.draft.pk).select_related("person", "release")
        return [
            f"{formats.clean_text(str(other.person))} has a draft of this too"
            f"{f' (release {other.release.version})' if other.release else ''}, "
            f"last saved {formats.datetime_text(other.updated_at)}. Whoever publishes first changes what "
            "the other’s draft is compared with."
            for other in others
        ]
