"""The published client's own model of a manifest against ours: forms, digests, references and refusals."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.domain.types import Attempt
from hub.domain import codec, manifest
from hub.domain.assemble import assemble
from hub.domain.codec import FormError
from hub.domain.consistency import consistency
from hub.domain.shapes import fields_of
from hub.domain.stored import digest_of, manifest_bytes, parse_manifest, reference_of
from tests.domain.hub.broken import ALL, Broken
from tests.domain.hub.made import MADE, facts
from tests.domain.hub.recorded import ALL_DISCLOSED, inputs, recorded, release_facts
from tests.domain.hub.test_stored import free

pytest.importorskip("plural", reason="the published client is not installed")

from plural.benchmarks import publication
from pydantic import ValidationError

VECTOR: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "manifest-vector.json").read_text("utf-8")
)
DISCLOSED = {
    **inputs(),
    "release": release_facts("1.0.0", instructions=True, texts=True),
    "disclosure": ALL_DISCLOSED,
}


def client_digest(data: bytes) -> str:
    """Loads in the client's model, both ways, and gives the same bytes back."""
    ours = json.loads(data)
    model = publication.PublicationManifest.model_validate(ours)
    assert model == publication.PublicationManifest.model_validate_json(data)
    assert model.model_dump(mode="json") == ours
    assert model.reference == reference_of(parse_manifest(data), digest_of(data))
    digest: str = model.digest
    return digest


@pytest.mark.parametrize(
    "given_facts", [inputs(), inputs("1.1.0"), DISCLOSED, MADE], ids=["1.0.0", "1.1.0", "disclosed", "made"]
)
def test_the_client_loads_ours_and_computes_the_same_digest(given_facts: dict[str, Any]) -> None:
    data = manifest_bytes(assemble(**given_facts))
    assert client_digest(data) == digest_of(data)


def test_the_vector_has_its_digest_and_reference() -> None:
    found = parse_manifest(json.dumps(VECTOR["manifest"]).encode())
    data = manifest_bytes(found)
    assert digest_of(data) == VECTOR["digest"] == client_digest(data)
    assert reference_of(found, digest_of(data)) == VECTOR["reference"]
    # Ours asks for the figures of every category too.
    assert [problem.field for problem in consistency(found)] == ["results.0.categories"]


def test_words_and_defaults_are_the_clients() -> None:
    assert manifest.MANIFEST_SCHEMA == publication.MANIFEST_SCHEMA
    assert manifest.PUBLIC_ROUTING_FIELDS == publication.PUBLIC_ROUTING_FIELDS
    assert manifest.PRIVATE_EVALUATION_MATERIAL == publication.PRIVATE_EVALUATION_MATERIAL
    for name in publication.__all__:
        theirs, ours = getattr(publication, name), getattr(manifest, name, None)
        if ours is not None and hasattr(theirs, "model_fields"):
            assert list(fields_of(ours)) == list(theirs.model_fields), name
    fields = publication.PublicationManifest.model_fields
    assert list(fields_of(manifest.Manifest)) == list(fields)


@pytest.mark.parametrize("broken", ALL, ids=lambda broken: broken.name)
def test_what_the_client_refuses_is_refused(broken: Broken) -> None:
    value = deepcopy(codec.plain(assemble(**inputs())))
    broken.change(value)
    try:
        publication.PublicationManifest.model_validate(value)
    except ValidationError:
        assert broken.client
    else:
        assert not broken.client  # ours is the stricter one here
    with suppress(FormError):
        assert consistency(parse_manifest(json.dumps(value).encode()))


paths = st.lists(
    st.sampled_from(
        [
            ("release", "content_hash"),
            ("tasks", 0, "id"),
            ("tasks", 1, "categories"),
            ("categories", 0, "id"),
            ("tracks", 0, "id"),
            ("configurations", 0, "id"),
            ("results", 0, "track"),
            ("results", 0, "score"),
            ("results", 0, "configuration"),
            ("results", 0, "supersedes"),
            ("results", 0, "tasks", 0, "task_id"),
            ("results", 0, "categories", 0, "id"),
            ("tasks",),
            ("results", 0, "tasks"),
            ("scoring", "score_range"),
            ("scoring", "success_threshold"),
            ("tracks", 0, "attempts"),
            ("tracks", 1, "instructions"),
            ("tasks", 0, "weight"),
            ("about", "license"),
            ("default_view",),
            ("status",),
            ("schema_version",),
        ]
    ),
    min_size=1,
    max_size=2,
)


@given(paths, st.data())
def test_ours_takes_nothing_that_the_client_would_not(
    ways: list[tuple[Any, ...]], data: st.DataObject
) -> None:
    value = deepcopy(codec.plain(assemble(**MADE)))
    for way in ways:
        place: Any = value
        with suppress(KeyError, IndexError, TypeError):  # the other change may have taken the place away
            for step in way[:-1]:
                place = place[step]
            place[way[-1]] = data.draw(
                free | st.just([]) | st.sampled_from(["res_1", "first", "open@1.0.0", 0.5])
            )
    text = json.dumps(value).encode()
    with suppress(FormError):
        found = parse_manifest(text)
        if not consistency(found):
            written = manifest_bytes(found)
            assert client_digest(written) == digest_of(written)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.floats(0, 1), st.none() | st.floats(0, 9))),
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3), free
    ),
)
def test_digests_agree_whatever_the_figures(
    rows: list[tuple[str, float | None, float | None]], applicability: dict[str, Any]
) -> None:
    attempts = [
        Attempt(name, at, "failed" if score is None else "succeeded", score, cost_usd=cost, trial_id=f"t{at}")
        for at, (name, score, cost) in enumerate(rows)
    ]
    made = {**MADE, "results": [facts(attempts=attempts)]}
    first, *others = MADE["release"].tasks
    task = replace(first, applicability=applicability)
    made["release"] = replace(MADE["release"], tasks=[task, *others])
    data = manifest_bytes(assemble(**made))
    assert client_digest(data) == digest_of(data)


def test_recorded_releases_are_both_here() -> None:
    assert sorted(recorded()) == ["1.0.0", "1.1.0"]
