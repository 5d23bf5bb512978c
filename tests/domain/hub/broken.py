"""Manifests with one thing wrong each: a sound one as JSON, changed in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
OTHER = "sha256:" + "0" * 64


@dataclass(frozen=True)
class Broken:
    """`field` is where the problem has to be found, `client` whether the client's model refuses it too."""

    name: str
    change: Callable[[Json], Any]
    field: str
    client: bool = False


def at(path: str, value: Any) -> Callable[[Json], None]:
    """Puts a value at a dotted path."""

    def change(manifest: Json) -> None:
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        place: Any = manifest
        for part in way:
            place = place[part]
        place[last] = value

    return change


def both(*changes: Callable[[Json], Any]) -> Callable[[Json], None]:
    def change(manifest: Json) -> None:
        for each in changes:
            each(manifest)

    return change


def named(manifest: Json, label: str) -> Json:
    """The result of the configuration with this label."""
    ids = {each["label"]: each["id"] for each in manifest["configurations"]}
    found: Json = next(each for each in manifest["results"] if each["configuration"] == ids[label])
    return found


def corrected(manifest: Json, **fields: Any) -> None:
    """A second result that corrects the first one, with both in order."""
    first = manifest["results"][0]
    manifest["results"].insert(1, {**first, "id": "res_new", "supersedes": first["id"]})
    first |= {"status": "superseded", "status_reason": "A wrong key."}
    manifest["results"][1] |= fields


# The first result is `quick`, whose attempts all counted; `wobbly` has examples, `sleeper` Agent failures.
FORM = [
    Broken("an unknown key", at("extra", 1), "extra", True),
    Broken("an unknown key below", at("tasks.0.answer", "x"), "tasks.0.answer", True),
    Broken("a missing key", lambda m: m["release"].pop("id"), "release.id", True),
    Broken("another schema", at("schema_version", "plural.benchmark-publication/2"), "schema_version", True),
    Broken("a text for a number", at("results.0.score", "much"), "results.0.score", True),
    Broken("a truth for a number", at("results.0.tasks.0.valid", True), "results.0.tasks.0.valid"),
    Broken("a fraction for a count", at("results.0.tasks.0.valid", 1.5), "results.0.tasks.0.valid", True),
    Broken("a number for a text", at("about.purpose", 3), "about.purpose", True),
    Broken("a number for a truth", at("results.0.eligible", 2), "results.0.eligible", True),
    Broken("null for a text", at("publisher.name", None), "publisher.name", True),
    Broken("an object for a list", at("tasks.0.categories", {}), "tasks.0.categories", True),
    Broken("a list for an object", at("publisher", []), "publisher", True),
    Broken("a number for an object", at("scoring.task_weights", 1), "scoring.task_weights", True),
    Broken("a range of three", at("scoring.score_range", [0.0, 1.0, 2.0]), "scoring.score_range", True),
    Broken("an unknown status", at("results.0.status", "done"), "results.0.status", True),
    Broken("an unknown provenance", at("results.0.provenance", "seen"), "results.0.provenance", True),
    Broken("a NUL", at("about.purpose", "a\0b"), "about.purpose"),
    Broken("a NUL in a key", at("tasks.0.applicability", {"a\0": 1}), "tasks.0.applicability.a\ufffd…"),
    Broken("a number beyond the exact ones", at("results.0.tasks.0.valid", 2**60), "results.0.tasks.0.valid"),
    Broken("deep free JSON",
           at("tasks.0.applicability", {"a": [[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]}),
           "tasks.0.applicability.a" + ".0" * 20),
]  # fmt: skip
IDENTITY = [
    Broken("no Tasks", at("tasks", []), "tasks", True),
    Broken("an empty title", at("publication.title", " "), "publication.title"),
    Broken("a slug with a slash", at("publication.slug", "a/b"), "publication.slug"),
    Broken("a version of digits", at("release.version", "3"), "release.version"),
    Broken("a short hash", at("release.content_hash", "sha256:00"), "release.content_hash", True),
    Broken("a time without a zone", at("release.published_at", "2026-01-01T00:00:00"),
           "release.published_at"),
    Broken("no time", at("release.published_at", "soon"), "release.published_at"),
    Broken("superseding no reference", at("release.supersedes", "0.9.0"), "release.supersedes"),
    Broken("superseding itself", at("release.supersedes", f"plural:benchmark/support-triage@1.0.0#{OTHER}"),
           "release.supersedes"),
    Broken("superseding another's", at("release.supersedes", f"plural:benchmark/other@0.9.0#{OTHER}"),
           "release.supersedes"),
    Broken("traces", at("disclosure.traces", True), "disclosure.traces"),
    Broken("one Task twice", lambda m: m["tasks"].append(m["tasks"][0]), "tasks", True),
    Broken("one Task name twice", lambda m: at("tasks.1.name", m["tasks"][0]["name"])(m), "tasks"),
    Broken("one category twice", lambda m: m["categories"].append(m["categories"][0]), "categories", True),
    Broken("one track twice", lambda m: m["tracks"].append(m["tracks"][0]), "tracks", True),
    Broken("one configuration twice", lambda m: m["configurations"].append(m["configurations"][0]),
           "configurations", True),
    Broken("one result twice", lambda m: m["results"].append(m["results"][0]), "results", True),
    Broken("a result without an id", at("results.0.id", ""), "results"),
]  # fmt: skip
RULES = [
    Broken("a range upside down", at("scoring.score_range", [1.0, 0.0]), "scoring.score_range", True),
    Broken("a threshold outside", at("scoring.success_threshold", 2.0), "scoring.success_threshold", True),
    Broken("a coverage above 1", at("scoring.coverage_required", 1.5), "scoring.coverage_required", True),
    Broken("a weight of 0", at("scoring.task_weights.acct-delete-data", 0.0),
           "scoring.task_weights.acct-delete-data", True),
    Broken("a weight for no Task", at("scoring.task_weights.other", 2.0), ""),
    Broken("another aggregation", at("scoring.aggregation", "max"), "scoring.aggregation", True),
    Broken("a track that compares models with instructions", at("tracks.0.instructions", "any"),
           "tracks.0.instructions", True),
    Broken("a track version of two parts", at("tracks.0.version", "1.0"), "tracks.0.version", True),
    Broken("a category id in capitals", at("categories.0.id", "Billing"), "categories.0.id", True),
    Broken("a taxonomy with spaces", at("categories.0.taxonomy", "a b"), "categories.0.taxonomy"),
    Broken("a view without a track", lambda m: m.update(default_view="agents", tracks=m["tracks"][:1]), "",
           True),
    Broken("a category with an unknown Task", lambda m: m["categories"][0]["tasks"].append(OTHER),
           "categories.0.tasks", True),
    Broken("a category with a Task twice",
           lambda m: m["categories"][0]["tasks"].append(m["categories"][0]["tasks"][0]),
           "categories.0.tasks"),
    Broken("a Task id that is no hash", at("tasks.0.id", "task-1"), "tasks.0.id", True),
    Broken("a Task in an unknown category", at("tasks.0.categories", ["other"]), "tasks.0.categories", True),
    Broken("a Task in another category", at("tasks.0.categories", ["account"]), "tasks.0.categories"),
    Broken("a Task of another weight", at("tasks.0.weight", 7.0), "tasks.0.weight"),
    Broken("undisclosed instructions", at("tasks.0.instructions", "Work it."), "tasks.0.instructions"),
]  # fmt: skip
CONFIGURATIONS = [
    Broken("a configuration id that is no hash", at("configurations.0.id", "cfg"),
           "configurations.0.id", True),
    Broken("a configuration without a result", lambda m: m.update(
        results=[r for r in m["results"] if r["configuration"] != m["configurations"][0]["id"]]),
        "configurations.0"),
    Broken("a system called a model", at("configurations.0.fallback_models", ["other"]),
           "configurations.0.kind"),
    Broken("a system that answered", at("configurations.0.models_used",
           [{"model": "other", "provider": None, "calls": 2}]), "configurations.0.kind"),
    Broken("a digest that is none", at("configurations.0.instructions_digest", "x"),
           "configurations.0.instructions_digest"),
    Broken("fewer than no calls", at("configurations.0.models_used",
           [{"model": "desk-sim/unused", "provider": None, "calls": -1}]), "configurations.0.models_used"),
    Broken("a setting of a Harness", at("configurations.0.settings", {"answer": 1}),
           "configurations.0.settings.answer"),
    Broken("a temperature in words", at("configurations.0.settings", {"temperature": "hot"}),
           "configurations.0.settings.temperature"),
    Broken("max_tokens as a fraction", at("configurations.0.settings", {"max_tokens": 1.5}),
           "configurations.0.settings.max_tokens"),
]  # fmt: skip
REFERENCES = [
    Broken("an unknown track", at("results.0.track", "other@1.0.0"), "results.0.track", True),
    Broken("an unknown configuration", at("results.0.configuration", OTHER), "results.0.configuration", True),
    Broken("an unknown Task", at("results.0.tasks.0.task_id", OTHER), "results.0.tasks", True),
    Broken("a Task left out", lambda m: m["results"][0]["tasks"].pop(), "results.0.tasks"),
    Broken("an unknown category", at("results.0.categories.0.id", "other"), "results.0.categories", True),
    Broken("a category left out", lambda m: m["results"][0]["categories"].pop(), "results.0.categories"),
    Broken("an example of an unknown Task",
           lambda m: named(m, "wobbly")["examples"][0].update(task_id=OTHER), "results.3.examples", True),
    Broken("a correction of nothing", at("results.0.supersedes", "res_none"), "results.0.supersedes", True),
    Broken("a correction of itself", lambda m: corrected(m, supersedes="res_new"), "results.1.supersedes"),
    Broken("a correction on another track", lambda m: corrected(m, supersedes=m["results"][-1]["id"]),
           "results.1.supersedes"),
    Broken("two corrections of one", both(corrected,
           lambda m: m["results"].insert(2, {**m["results"][1], "id": "res_newer"})), "results.0"),
    Broken("a corrected result that is accepted",
           both(corrected, lambda m: m["results"][0].update(status="accepted", status_reason=None)),
           "results.0.status"),
    Broken("superseded by nothing", both(at("results.0.status", "superseded"),
           at("results.0.status_reason", "Why.")), "results.0.status"),
    Broken("withdrawn without a reason", at("results.0.status", "withdrawn"), "results.0.status_reason"),
    Broken("withdrawn for no reason", both(at("results.0.status", "withdrawn"),
           at("results.0.status_reason", " ")), "results.0.status_reason"),
    Broken("accepted with a reason", at("results.0.status_reason", "Why."), "results.0.status_reason"),
    Broken("accepted twice", both(lambda m: corrected(m, supersedes=None),
           lambda m: m["results"][0].update(status="accepted", status_reason=None)), "results.1"),
]  # fmt: skip
RESULTS = [
    Broken("another release", at("results.0.reproducibility.release_content_hash", OTHER),
           "results.0.reproducibility.release_content_hash", True),
    Broken("another track's rules", at("results.0.reproducibility.track_rules_hash", OTHER),
           "results.0.reproducibility.track_rules_hash"),
    Broken("a changed rule", at("tracks.0.max_turns", 9), "results.0.reproducibility.track_rules_hash"),
    Broken("another configuration", at("results.0.reproducibility.configuration_hash", OTHER),
           "results.0.reproducibility.configuration_hash"),
    Broken("other Tasks", at("results.0.reproducibility.task_hashes", []),
           "results.0.reproducibility.task_hashes"),
    Broken("no Jobs", at("results.0.reproducibility.evaluation_ids", []),
           "results.0.reproducibility.evaluation_ids"),
    Broken("nobody", at("results.0.submitted_by.name", ""), "results.0.submitted_by"),
    Broken("no time", at("results.0.evaluated_from", "then"), "results.0.evaluated_from"),
    Broken("times upside down", at("results.0.evaluated_from", "2027-01-01T00:00:00Z"),
           "results.0.evaluated_to"),
    Broken("an unknown outcome", at("results.0.outcomes.lost", 1), "results.0.outcomes.lost"),
    Broken("an outcome that did not occur", at("results.0.outcomes.pending", 0),
           "results.0.outcomes.pending"),
    Broken("other outcomes", at("results.0.outcomes.scored", 19), "results.0.outcomes.scored"),
    Broken("more attempts than there are", at("results.0.outcomes.cancelled", 3), "results.0.outcomes"),
    Broken("fewer than no attempts", at("results.0.tasks.0.valid", -1), "results.0.tasks.0"),
    Broken("fewer attempts than outcomes", at("results.0.tasks.0.attempts", 1), "results.0.tasks.0.attempts"),
    Broken("more successes than attempts", at("results.0.tasks.0.successes", 99),
           "results.0.tasks.0.successes"),
    Broken("another success rate of a Task", at("results.0.tasks.0.success_rate", 0.3),
           "results.0.tasks.0.success_rate"),
    Broken("no score of a Task", at("results.0.tasks.0.score", None), "results.0.tasks.0.score"),
    Broken("a score outside the range", at("results.0.tasks.0.score", 1.5), "results.0.tasks.0.score"),
    Broken("a score below what succeeded", at("results.2.tasks.0.score", 0.1), "results.2.tasks.0.score"),
    Broken("more attempts that cost than ran", at("results.0.cost.attempts", 99), "results.0.cost.attempts"),
    Broken("more costs than attempts", at("results.0.cost.measured", 99), "results.0.cost.measured"),
    Broken("a cost of nothing measured", at("results.0.cost.measured", 0), "results.0.cost.value"),
    Broken("a cost below nothing", at("results.0.cost.value", -1.0), "results.0.cost.value"),
    Broken("a cost in another unit", at("results.0.cost.unit", "EUR"), "results.0.cost.unit"),
    Broken("a time in another unit", at("results.0.latency.unit", "USD per attempt"),
           "results.0.latency.unit"),
    Broken("another score", at("results.0.score", 0.99), "results.0.score"),
    Broken("no score", at("results.0.score", None), "results.0.score"),
    Broken("another coverage", at("results.0.coverage", 0.5), "results.0.coverage"),
    Broken("another complete coverage", at("results.0.complete_coverage", 0.5),
           "results.0.complete_coverage"),
    Broken("another success rate", at("results.0.success_rate", 0.5), "results.0.success_rate"),
    Broken("another completion rate", at("results.0.completion_rate", 0.5), "results.0.completion_rate"),
    Broken("another interval", at("results.0.uncertainty.low", 0.0), "results.0.uncertainty.low"),
    Broken("another sample", at("results.0.uncertainty.sample_size", 3),
           "results.0.uncertainty.sample_size"),
    Broken("an interval without a method", at("results.0.uncertainty.method", None),
           "results.0.uncertainty"),
    Broken("another score of a category", at("results.0.categories.0.score", 0.5),
           "results.0.categories.0.score"),
    Broken("other Tasks of a category", at("results.0.categories.0.tasks_total", 9),
           "results.0.categories.0.tasks_total"),
    Broken("eligible with a reason", at("results.0.ineligible_reasons", ["Why."]), "results.0.eligible"),
    Broken("not eligible without one", at("results.0.eligible", False), "results.0.eligible"),
    Broken("eligible though it does not conform",
           lambda m: named(m, "wobbly").update(eligible=True, ineligible_reasons=[]),
           "results.3.ineligible_reasons"),
    Broken("an example left out", lambda m: named(m, "wobbly")["examples"].pop(), "results.3.examples"),
    Broken("an example of what did not count",
           lambda m: named(m, "wobbly")["examples"][0].update(outcome="cancelled"), "results.3.examples"),
    Broken("an example without its score",
           lambda m: named(m, "wobbly")["examples"][0].update(score=None), "results.3.examples"),
    Broken("undisclosed findings",
           lambda m: named(m, "wobbly")["examples"][0].update(findings=["The key is 7."]),
           "results.3.examples.0.findings", True),
    Broken("an attempt below 0", lambda m: named(m, "wobbly")["examples"][0].update(attempt=-1),
           "results.3.examples.0.attempt"),
]  # fmt: skip
ALL = [*FORM, *IDENTITY, *RULES, *CONFIGURATIONS, *REFERENCES, *RESULTS]
