"""Step 4: what the publisher says: text, limitations, licence, name, and a line on each Task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings
from django.http import QueryDict

from benchmarks.models import TaskPin
from hub.candidate import default_text
from hub.choices import Choices, TaskText, Text
from hub.publish_pages import FieldError, TaskFields, TextField, TextPage
from hub.wizard import STEPS, DraftView
from plural_site import formats

STEP = STEPS[3]
LONGEST_LINE, LONGEST_TEXT = 500, 20_000
LICENCES = ("CC-BY-4.0", "CC-BY-SA-4.0", "CC0-1.0", "Apache-2.0", "MIT", "ODC-By-1.0")
FIELDS = (
    ("title", "Title", "As it stands on the Hub.", 0),
    ("publisher", "Published by", "The name that readers see.", 0),
    ("license", "Licence", "Of what becomes public. An SPDX identifier is understood by machines.", 0),
    ("description", "Description", "What the Benchmark is, in a few sentences.", 4),
    ("purpose", "Purpose", "What question it answers.", 3),
    ("success", "Success", "What counts as done.", 3),
    ("limitations", "Limitations", "What it does not measure: one a line.", 4),
)


def text_page(
    view: DraftView,
    errors: Sequence[FieldError] = (),
    text: Text | None = None,
    tasks: dict[str, TaskText] | None = None,
) -> TextPage:
    """`text` and `tasks`: what was sent, where it can't be kept."""
    shown = text or view.choices.text or default_text(view)
    typed = view.choices.tasks if tasks is None else tasks
    values = {name: getattr(shown, name) for name, *_ in FIELDS} | {
        "limitations": "\n".join(shown.limitations)
    }
    return TextPage(
        frame=view.frame(STEP, errors),
        fields=tuple(
            TextField(name, label, hint, values[name], rows, LICENCES if name == "license" else ())
            for name, label, hint, rows in FIELDS
        ),
        tasks=tuple(
            TaskFields(
                pin.position,
                formats.clean_text(pin.name),
                typed[pin.task_digest].description if pin.task_digest in typed else "",
                "\n".join(f"{name}: {value}" for name, value in typed[pin.task_digest].applicability.items())
                if pin.task_digest in typed
                else "",
                next((error.message for error in errors if error.field == f"applies-{pin.position}"), ""),
            )
            for pin in _pins(view)
        ),
        address=settings.PLURAL_SITE_URL + view.publication.get_absolute_url(),
    )


def text_answer(view: DraftView, data: QueryDict) -> tuple[Choices, list[FieldError]]:
    errors: list[FieldError] = []
    values = {name: _clean(data.get(name, "")) for name, *_ in FIELDS}
    for name, label, _, rows in FIELDS:
        longest = LONGEST_TEXT if rows else LONGEST_LINE
        if len(values[name]) > longest:
            errors.append(FieldError(name, f"{label}: at most {formats.count(longest)} characters."))
    for name, message in (
        ("title", "Give it a title."),
        ("publisher", "Say who publishes it."),
        ("license", "Choose a licence, or readers may use nothing of it."),
    ):
        if not values[name]:
            errors.append(FieldError(name, message))
    lines = [line.strip() for line in values.pop("limitations").splitlines()]
    text = Text(limitations=tuple(line for line in lines if line), **values)
    return replace(view.choices, text=text, tasks=_tasks(view, data, errors)), errors


def _tasks(view: DraftView, data: QueryDict, errors: list[FieldError]) -> dict[str, TaskText]:
    found = {}
    for pin in _pins(view):
        description = _clean(data.get(f"task-{pin.position}", ""))
        applicability = _applicability(pin, _clean(data.get(f"applies-{pin.position}", "")), errors)
        if len(description) > LONGEST_TEXT:
            errors.append(
                FieldError(f"task-{pin.position}", f"At most {formats.count(LONGEST_TEXT)} characters.")
            )
        if description or applicability:
            found[pin.task_digest] = TaskText(description, applicability)
    return found


def _applicability(pin: TaskPin, text: str, errors: list[FieldError]) -> dict[str, str]:
    found = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not (name and colon and value):
            errors.append(
                FieldError(
                    f"applies-{pin.position}",
                    f"{formats.clean_text(pin.name)}: write each condition as “name: value”, for instance "
                    "“language: en”.",
                )
            )
            break
        found[name] = value
    return found


def _pins(view: DraftView) -> list[TaskPin]:
    return list(view.draft.release.revision.pins.all()) if view.draft.release else []


def _clean(text: str) -> str:
    return "\n".join(
        formats.clean_text(line).rstrip() for line in text.replace("\0", "").splitlines()
    ).strip()
