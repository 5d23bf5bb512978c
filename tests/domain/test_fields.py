"""Reading fields strictly: what is missing, wrong or too much is reported, each with its path."""

from __future__ import annotations

import pytest

from benchmarks.domain.fields import MAX_INTEGER, FieldProblem, FieldReader, RulesError


def test_required_fields_that_are_missing() -> None:
    fields = FieldReader({}, "here")
    fields.integer("count", low=3)
    fields.number("share")
    fields.text("name")
    fields.choice("kind", ("a", "b"))
    with pytest.raises(RulesError) as refused:
        fields.finish()
    assert refused.value.problems == tuple(
        FieldProblem(f"here.{key}", "is missing") for key in ("count", "share", "name", "kind")
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"), (True, "true"), ("1", "'1'"), (1.5, "1.5"), ([1], "a list"), ({}, "a mapping"),
        ("x" * 100, f"'{'x' * 39}…"),
    ],
)  # fmt: skip
def test_what_stands_there_instead_is_shown(value: object, shown: str) -> None:
    fields = FieldReader({"count": value})
    fields.integer("count", low=0)
    assert [problem.message for problem in fields.problems] == [f"must be a whole number, not {shown}"]


def test_integers_beyond_exact_json_are_refused() -> None:
    fields = FieldReader({"fits": MAX_INTEGER, "beyond": MAX_INTEGER + 1, "endless": 10**9999})
    assert fields.optional_integer("fits", low=0) == MAX_INTEGER
    for key in ("beyond", "endless"):
        fields.optional_integer(key, low=0)
    assert [problem.field for problem in fields.problems] == ["beyond", "endless"]


def test_problems_of_nested_fields_join_with_their_path() -> None:
    def parse(value: object, at: str) -> str:
        nested = FieldReader(value, at)
        name = nested.text("name", filled=True)
        nested.finish()
        return name

    fields = FieldReader({"one": {"name": 1}, "many": [{"name": "a"}, {"name": ""}, 7]}, "at")
    assert fields.one("one", parse, "default") == "default"
    assert fields.one("other", parse, "default") == "default"
    assert fields.each("many", parse) == ("a",)
    assert [problem.field for problem in fields.problems] == ["at.one.name", "at.many.1.name", "at.many.2"]
