from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain import yaml_files
from benchmarks.domain.yaml_files import MAX_BYTES, MAX_DEPTH, YamlError, parse_yaml

LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
TOWER = "b0: &b0 [x]\n" + "".join(f"b{n}: &b{n} [*b{n - 1}]\n" for n in range(1, 100))

REFUSED = [
    ("a: 1\nb:\n  a: 1\n  a: 2\n", 4, "b.a", "is written twice"),
    ("a: 1\n1: 2\n", 2, "", "key that isn't text"),
    ("on: 1\n", 1, "", "key that isn't text"),
    ("? [1]\n: 2\n", 1, "", "key that isn't text"),
    ("x:\n  - when: 2026-01-31\n", 2, "x.0.when", "is a date"),
    ("a: 2026-13-45\n", 1, "a", "is a date"),
    ("a: =\n", 1, "a", "meaning of its own"),
    ("a: .nan\n", 1, "a", "finite"),
    ("a: -.inf\n", 1, "a", "finite"),
    ("a: 1.0e+999\n", 1, "a", "finite"),
    ("a: 0x_\n", 1, "a", "is no int value"),
    (f"a: {'9' * 5000}\n", 1, "a", "more than 400 characters"),
    (f"a: 0x{'f' * 500_000}\n", 1, "a", "more than 400 characters"),
    (f"a: 1{':59' * 300_000}\n", 1, "a", "more than 400 characters"),
    ("a: !!bool maybe\n", 1, "a", "is no bool value"),
    ('a: "\\0"\n', 1, "a", "NUL"),
    ('"\\0": 1\n', 1, "", "NUL"),
    ("a: !!python/name:os.system x\n", 1, "", "!!python/name:os.system"),
    ("a:\n  !!set {x}\n", 2, "", "!!set"),
    ("a: !own x\n", 1, "", "!own"),
    ("a: !!map x\n", 1, "", "!!map"),
    ("<<: 3\n", 1, "", "no mapping"),
    ("a: &x [*x]\n", 1, "", "before &x is complete"),
    ("a: *x\n", 1, "", "*x"),
    (LAUGHS, 6, "", "values"),
    (TOWER, 62, "", "deeper"),
    ("- " * 200 + "x", 1, "", "deeper"),
    ("a: 1\n---\nb: 2\n", 2, "", "another document"),
    ("a: 1\nb: c: d\n", 2, "", "valid YAML"),
    ("a: \x00\n", None, "", "valid YAML"),
]


@pytest.fixture(params=["C", "Python"])
def _each_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "C" and not yaml.__with_libyaml__:
        pytest.skip("PyYAML is installed without libyaml")
    loader = yaml.CSafeLoader if request.param == "C" else yaml.SafeLoader
    monkeypatch.setattr(yaml_files, "LOADER", loader)


@pytest.mark.usefixtures("_each_loader")
@pytest.mark.parametrize(("text", "line", "field", "message"), REFUSED)
def test_says_what_is_wrong_and_where(text: str, line: int | None, field: str, message: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse_yaml(text.encode(), "task.yaml")
    assert (caught.value.file, caught.value.line, caught.value.field) == ("task.yaml", line, field)
    assert message in caught.value.message
    assert str(caught.value).startswith("task.yaml")


@pytest.mark.usefixtures("_each_loader")
@pytest.mark.parametrize("data", [b'a: "\\ud800"', b"[" * 5000, b"a: \xed\xa0\x80"])
def test_refuses_surrogates_and_deep_flows(data: bytes) -> None:
    with pytest.raises(YamlError):
        parse_yaml(data, "f")


def test_names_the_line_of_text_that_is_not_utf8() -> None:
    with pytest.raises(YamlError, match="line 3.*UTF-8"):
        parse_yaml(b"a: 1\nb: 2\nc: \xff\n", "f")


def test_size_limits_are_exact() -> None:
    assert parse_yaml(b"a: 1" + b" " * (MAX_BYTES - 4), "f").value == {"a": 1}
    with pytest.raises(YamlError, match="larger"):
        parse_yaml(b"a: 1" + b" " * (MAX_BYTES - 3), "f")
    # The document itself is the first level, a scalar the last.
    deepest = MAX_DEPTH - 1
    assert parse_yaml(b"[" * deepest + b"]" * deepest, "f").value
    with pytest.raises(YamlError, match="deeper"):
        parse_yaml(b"[" * (deepest + 1) + b"]" * (deepest + 1), "f")


@pytest.mark.usefixtures("_each_loader")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing\n", None),
        ("\ufeffa: 1\n", {"a": 1}),
        ("a: yes\nb: ~\nc: 0o7\nd: 1e3\ne: 1.5\n", {"a": True, "b": None, "c": "0o7", "d": "1e3", "e": 1.5}),
        ("a: !!str 2026-01-31\nb: '2026-01-31'\n", {"a": "2026-01-31", "b": "2026-01-31"}),
        ("= : 1\n", {"=": 1}),
        ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
        (
            "x: &x {a: 1, b: 2}\ny:\n  <<: [*x, {c: 3, a: 9}]\n  b: 5\n",
            {"x": {"a": 1, "b": 2}, "y": {"c": 3, "a": 1, "b": 5}},
        ),
    ],
)
def test_reads_what_yaml_says(text: str, value: Any) -> None:
    assert parse_yaml(text.encode(), "f").value == value


def test_knows_the_line_of_every_field() -> None:
    document = parse_yaml(b"a: 1\nb:\n  - c: 2\n\n    d: 3\n", "f")
    assert [document.line(path) for path in ("a", "b", "b.0", "b.0.c", "b.0.d")] == [1, 2, 3, 3, 5]
    assert document.line("b.0.missing") == 3
    assert document.line("missing") is None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\x85")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab=<.-é", max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_takes_any_json_data_that_was_written_as_yaml(value: Any) -> None:
    read = parse_yaml(yaml.safe_dump(value, allow_unicode=True).encode(), "f").value
    assert read == value or (value == "" and read is None)


@given(st.text("ab:-[]{}&*!<>'\"#|%@ \n\t\\x0.e~?=,", max_size=60))
def test_any_text_is_read_as_json_data_or_refused(text: str) -> None:
    try:
        value = parse_yaml(text.encode(), "f").value
    except YamlError:
        return
    assert _is_json(value)


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, (bool, int, str))
