"""What becomes public with a manifest, item by item, and what stays private, kind by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass

from hub.domain.manifest import Disclosure, Manifest
from hub.domain.words import counted, result_names


@dataclass(frozen=True, slots=True)
class PublicItem:
    """One kind of thing that becomes public. `items` are its members in words, or what is told of them."""

    kind: str
    count: int
    words: str
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFacts:
    """How much there is of each kind of private material behind a publication; None where nobody counted."""

    tasks: int = 0
    expected_answers: int | None = None
    initial_states: int | None = None
    verifiers: int | None = None
    resources: int | None = None
    agents_with_instructions: int | None = None
    secret_names: int | None = None
    trials: int | None = None
    files: int | None = None
    findings: int | None = None
    other_jobs: int | None = None
    """Jobs on the release that no published result uses."""


@dataclass(frozen=True, slots=True)
class PrivateKind:
    kind: str
    count: int | None
    why: str


def public_items(manifest: Manifest) -> list[PublicItem]:
    """Every kind of which there is something, in the manifest's order."""
    return [
        *_about_release(manifest),
        *_rules(manifest),
        *_tasks(manifest),
        *_configurations(manifest),
        *_results(manifest),
    ]


def private_kinds(facts: PrivateFacts, disclosure: Disclosure) -> list[PrivateKind]:
    """What no choice makes public, and what this choice keeps private, each with why."""
    kinds = [
        PrivateKind(
            "Expected answers", facts.expected_answers, "Whoever knows them can pass without the skill."
        ),
        PrivateKind(
            "Initial and hidden State, reset options",
            facts.initial_states,
            "They can hold the answer, and what graders look at.",
        ),
        PrivateKind(
            "Verifier definitions and rubrics",
            facts.verifiers,
            "They show what is checked and how to get around it. Names and kinds are public.",
        ),
        PrivateKind("Contents of resources", facts.resources, "They can hold answers and data of others."),
        PrivateKind(
            "Agents’ instructions and Harness settings",
            facts.agents_with_instructions,
            "They belong to whoever wrote them and can hold answers. A digest of the instructions is public.",
        ),
        PrivateKind("Secrets and API keys", facts.secret_names, "Neither their values nor their names."),
        PrivateKind(
            "Trajectories and recordings",
            facts.trials,
            "They repeat the Task, the answer and what the Agent saw, step by step.",
        ),
        PrivateKind("Files of the runs", facts.files, "They hold State, logs and paths of machines."),
        PrivateKind(
            "Single attempts",
            facts.trials,
            "Scores, costs and times are public as means; of examples outcome, score and stop reason.",
        ),
        PrivateKind("Jobs that no published result uses", facts.other_jobs, "You did not pick them."),
    ]
    if not disclosure.task_instructions:
        kinds.append(PrivateKind("Task instructions", facts.tasks, "You chose not to disclose them."))
    if not disclosure.verifier_findings:
        kinds.append(PrivateKind("Verifier findings", facts.findings, "You chose not to disclose them."))
    return kinds


def _about_release(manifest: Manifest) -> Iterator[PublicItem]:
    publication, release, about = manifest.publication, manifest.release, manifest.about
    yield PublicItem(
        "Publication",
        1,
        "its title, name, address and id",
        (publication.title, publication.slug, publication.path, publication.id),
    )
    people = {manifest.publisher, *(result.submitted_by for result in manifest.results)}
    accounts = tuple(sorted(f"{each.name} ({each.account_id})" for each in people))
    yield PublicItem("Accounts", len(accounts), "who published and who contributed", accounts)
    yield PublicItem(
        "Release",
        1,
        "its version, content hash, ids and time of publication",
        tuple(text for text in astuple(release) if text is not None),
    )
    texts = {
        "Description": about.description,
        "Purpose": about.purpose,
        "What counts as success": about.success,
        **{f"Limitation {number}": text for number, text in enumerate(about.limitations, start=1)},
        "Licence": about.license,
    }
    filled = tuple(f"{name}: {text}" for name, text in texts.items() if text)
    yield from _item("Text", filled, "as you wrote them")


def _rules(manifest: Manifest) -> Iterator[PublicItem]:
    scoring = manifest.scoring
    yield PublicItem(
        "Scoring rules",
        1,
        "metric, range, threshold, weights and how failures count",
        tuple(filter(None, (scoring.metric, scoring.description))),
    )
    yield from _item(
        "Tracks",
        [track.reference for track in manifest.tracks],
        "with every rule, and which kind is shown first",
    )
    yield from _item("Categories", [each.name for each in manifest.categories], "with their Tasks")


def _tasks(manifest: Manifest) -> Iterator[PublicItem]:
    tasks = manifest.tasks
    yield from _item(
        "Tasks",
        [f"{task.name} {task.version}".strip() for task in tasks],
        "name, version, content hash, weight, Environment, actions and limits",
    )
    verifiers = Counter(f"{each.name} ({each.kind})" for task in tasks for each in task.verifiers)
    yield from _item("Verifiers", sorted(verifiers), "name, kind and weight, not the definition")
    yield from _item(
        "Task descriptions", [task.name for task in tasks if task.description], "as you typed them"
    )
    yield from _item(
        "Where Tasks apply", [task.name for task in tasks if task.applicability], "as you typed it"
    )
    yield from _item(
        "Task instructions",
        [task.name for task in tasks if task.instructions is not None],
        "the whole text, as you chose",
    )


def _configurations(manifest: Manifest) -> Iterator[PublicItem]:
    configured = manifest.configurations
    yield from _item(
        "Agent configurations",
        [f"{each.label} ({each.model}, {each.harness or 'the built-in loop'})" for each in configured],
        "label, model, provider, fallbacks, Harness, temperature, max_tokens and content hash",
    )
    yield from _item(
        "Digests of Agents’ instructions",
        [each.label for each in configured if each.instructions_digest],
        "the digest only",
    )
    used = sorted({use.model for each in configured for use in each.models_used})
    yield from _item("Models that answered", used, "by name, with the number of calls where it is known")


def _results(manifest: Manifest) -> Iterator[PublicItem]:
    results, names = manifest.results, result_names(manifest)
    words = {"accepted": "", "withdrawn": ", withdrawn", "superseded": ", corrected"}
    yield from _item(
        "Results",
        [f"{names[result.id]}{words[result.status]}" for result in results],
        "score, interval, coverage, rates, cost, time, outcomes, reasons, provenance and dates",
    )
    per_task = sum(len(result.tasks) for result in results)
    if per_task:
        yield PublicItem("Figures per Task", per_task, "score and counts of attempts, of each result")
    per_category = sum(len(result.categories) for result in results)
    if per_category:
        yield PublicItem("Figures per category", per_category, "score and coverage, of each result")
    examples = [
        f"{names[result.id]}: {counted(len(result.examples), 'attempt')}"
        for result in results
        if result.examples
    ]
    shown = sum(len(result.examples) for result in results)
    if shown:
        yield PublicItem("Example attempts", shown, "number, outcome, score and stop reason", tuple(examples))
    findings = [text for result in results for each in result.examples for text in each.findings]
    yield from _item("Verifier findings", findings, "on example attempts, as you chose")
    jobs: Iterable[str] = (job for result in results for job in result.reproducibility.evaluation_ids)
    yield from _item("Jobs", list(dict.fromkeys(jobs)), "their ids only")


def _item(kind: str, items: Sequence[str], words: str) -> Iterator[PublicItem]:
    if items:
        yield PublicItem(kind, len(items), words, tuple(items))
