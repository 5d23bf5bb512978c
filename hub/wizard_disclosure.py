"""Step 3: what readers may see of the exam. Both parts are off by default and show what they would show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.http import QueryDict
from django.utils import timezone

from benchmarks.domain.types import DomainError
from hub.candidate import Builder
from hub.choices import Choices
from hub.domain.manifest import Manifest
from hub.publish_pages import DisclosurePage, FieldError, Shown
from hub.wizard import STEPS, DraftView
from plural_site import formats

STEP = STEPS[2]
NEVER = (
    "Trajectories, traces and logs",
    "Verifier definitions and rubrics",
    "Expected answers",
    "Initial State, reset options and hidden State",
    "Resources, secrets and keys",
    "Prompts of Agents: only a digest of them",
)


def disclosure_page(view: DraftView, errors: Sequence[FieldError] = ()) -> DisclosurePage:
    everything, problem = _everything(view)
    return DisclosurePage(
        frame=view.frame(STEP, errors, [problem] if problem else []),
        instructions=view.choices.instructions,
        findings=view.choices.findings,
        instruction_texts=_instructions(everything),
        finding_texts=_findings(everything),
        never=NEVER,
    )


def disclosure_answer(view: DraftView, data: QueryDict) -> Choices:
    return replace(
        view.choices,
        instructions=data.get("instructions") == "yes",
        findings=data.get("findings") == "yes",
    )


def _everything(view: DraftView) -> tuple[Manifest | None, str]:
    """The manifest as it would be with everything disclosed, or why there is none."""
    open_choices = replace(view.choices, instructions=True, findings=True)
    try:
        return Builder(view).build(timezone.now(), open_choices).manifest, ""
    except DomainError as error:
        return None, f"As picked so far there can be no manifest. {error}"


def _instructions(manifest: Manifest | None) -> tuple[Shown, ...]:
    tasks = manifest.tasks if manifest else ()
    return tuple(
        Shown(formats.clean_text(task.name), formats.clean_text(task.instructions or "")) for task in tasks
    )


def _findings(manifest: Manifest | None) -> tuple[Shown, ...]:
    """Of example attempts that are in the manifest for the first time or again."""
    if manifest is None:
        return ()
    names = {task.id: task.name for task in manifest.tasks}
    labels = {found.id: found.label for found in manifest.configurations}
    return tuple(
        Shown(
            formats.clean_text(
                f"{labels[result.configuration]} on {names[example.task_id]}, attempt {example.attempt}"
            ),
            formats.clean_text("\n".join(example.findings)),
        )
        for result in manifest.results
        for example in result.examples
        if example.findings
    )
