"""The line of the published client, `plural` 0.23, that runs again what a Job ran. Pure.

What is run is named by content hash: the client then takes the files of the working copy where they have
exactly that content, else it pulls that revision from the project that the checkout is bound to. A version is
looked up there alone, and may name another content in another project.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.domain.types import JsonObject

BUILT_IN_HARNESS = "native"
"""What the client calls its built-in loop."""
BY_MODEL: JsonObject = {
    "schema_version": "2",
    "instructions": "",
    "routing": {"provider": None, "fallback_models": [], "temperature": None, "max_tokens": None},
    "harness_kwargs": {},
    "auth_mode": "environment",
    "secret_names": [],
    "endpoint": None,
    "endpoint_key": None,
    "metadata": {},
    "harness": None,
}
"""Content of an Agent that was named by its model alone, without that name."""
UNWRITABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of what can be neither seen nor copied for sure: controls, formats, line separators."""


@dataclass(frozen=True, slots=True)
class RanAgent:
    """An Agent of a Job. `slug` is the name of its folder, '' for one that was named by model alone.

    `harness` is the name that the client has for it, '' for the built-in loop; it counts by model alone.
    `is_sure` says whether the Job itself told the folder.
    """

    name: str
    slug: str
    content_hash: str
    model: str
    harness: str = ""
    is_sure: bool = True
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """What a Job ran. `track_id` is '' without a track, `track_attempts` 0; `title` is for readers."""

    kind: Literal["benchmark", "task"]
    slug: str
    content_hash: str
    title: str
    agents: tuple[RanAgent, ...]
    attempts: int
    track_id: str = ""
    track_attempts: int = 0


@dataclass(frozen=True, slots=True)
class CommandLines:
    """One line for each Agent, and what is to be known before they are run."""

    lines: tuple[str, ...]
    notes: tuple[str, ...]


def command_lines(ran: Ran) -> CommandLines:
    """Lines quoted for a POSIX shell."""
    lines, unwritable = [], []
    for agent in ran.agents:
        arguments = _arguments(ran, agent)
        if all(map(_is_writable, arguments)):
            lines.append(" ".join(("plural run", *map(_quoted, arguments))))
        else:
            unwritable.append(agent.name)
    return CommandLines(tuple(dict.fromkeys(lines)), tuple(_notes(ran, unwritable)))


def is_by_model_alone(content: JsonObject) -> bool:
    """Whether an Agent's hashed content is what the client makes of a model's name alone."""
    return {key: value for key, value in content.items() if key != "model"} == BY_MODEL


def rerun_line(job_id: str, trial_id: str = "") -> str:
    """What repeats a Job, or the one Trial that it repeated, in the checkout that ran it."""
    what, ident = ("trial", trial_id) if trial_id else ("job", job_id)
    return f"plural {what} rerun {shlex.quote(ident)}" if _is_writable(ident) else ""


def _arguments(ran: Ran, agent: RanAgent) -> list[str]:
    """Options with their values, one after another."""
    arguments = [f"--{ran.kind}", f"{ran.slug}@{ran.content_hash}"]
    if agent.slug:
        arguments += ["--agent", f"{agent.slug}@{agent.content_hash}"]
    else:
        arguments += ["--model", agent.model]
        if agent.harness and agent.harness != BUILT_IN_HARNESS:
            arguments += ["--harness", agent.harness]
    if ran.track_id:
        arguments += ["--evaluation-track", ran.track_id]
    elif ran.attempts != 1:
        arguments += ["--attempts", str(ran.attempts)]
    joined: list[str] = []
    for option, value in zip(arguments[::2], arguments[1::2], strict=True):
        # A value that starts like an option is taken for one unless it is joined to its own.
        joined += [f"{option}={value}"] if value.startswith("-") or not value else [option, value]
    return joined


def _quoted(argument: str) -> str:
    return shlex.quote(argument)


def _is_writable(text: str) -> bool:
    return not any(unicodedata.category(character) in UNWRITABLE for character in text)


def _notes(ran: Ran, unwritable: list[str]) -> Iterator[str]:
    yield (
        "Run it in the project's folder. Files that have exactly this content there are used as they are; "
        f"else the client pulls {ran.title} with all that it pins from the project that the checkout is "
        "bound to. What only came in with an import can't be pulled: take its files from where the Job ran."
    )
    if not ran.track_id:
        yield "Add --record to record the run here as it goes; without it, it stays in the project's folder."
    else:
        yield "A track records the run as it goes, so sign in first with plural auth login."
    if ran.track_id and ran.track_attempts not in (0, ran.attempts):
        yield (
            f"This Job made {_times(ran.attempts)} at each Task. The track asks for {ran.track_attempts}, "
            "and the line makes as many."
        )
    if len(ran.agents) > 1:
        yield "The client runs one Agent at a time, so each line makes a Job of its own."
    if guessed := dict.fromkeys(agent.slug for agent in ran.agents if agent.slug and not agent.is_sure):
        yield (
            "The Job doesn't tell the folders of its Agents below agents/. These are made from their names: "
            f"{', '.join(guessed)}."
        )
    if secrets := sorted({secret for agent in ran.agents for secret in agent.secrets}):
        yield f"Secrets that it needs, by name: {', '.join(secrets)}."
    for name in unwritable:
        yield f"No line for {name}: a name in it holds characters that can't be copied for sure."


def _times(attempts: int) -> str:
    return f"{attempts} attempt{'' if attempts == 1 else 's'}"
