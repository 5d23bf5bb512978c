"""A configuration in words: what is set, what stays hidden, what differs."""

from __future__ import annotations

from typing import Any

from jobs.domain.configurations import HIDDEN, differences, instructions_diff, settings

CONTENT: dict[str, Any] = {
    "model": "sim/one",
    "routing": {"provider": None, "fallback_models": [], "temperature": 0.0, "max_tokens": 1234567},
    "harness": "sha256:" + "ab" * 32,
    "harness_kwargs": {"drafts": 2, "strict": True, "prompt": "/srv/loop/prompt.md", "api_key": "sk-abc"},
    "instructions": "Be brief.\nBe right.",
    "secret_names": ["OPENAI_API_KEY"],
    "auth_mode": "environment",
    "endpoint": "https://someone:secret@models.example:8443/v1?key=abc",
    "endpoint_key": None,
    "metadata": {"tier": "small", "home": "see ~/agents", "notes": "x" * 81, "C:\\agents": 1},
}


def words(content: dict[str, Any], harness: str = "loop 1.0.0") -> dict[str, str]:
    return {setting.label: setting.words for setting in settings(content, harness)}


def test_settings_are_words() -> None:
    found = words(CONTENT)
    assert found["Temperature"] == "0" and found["Max tokens"] == "1234567"
    assert found["Harness"] == "loop 1.0.0 (content abababababab)"
    assert found["Secrets, by name"] == "OPENAI_API_KEY"
    assert (found["Harness setting drafts"], found["Harness setting strict"]) == ("2", "yes")
    assert words({"model": "sim/one"}, "")["Harness"] == "the built-in loop"
    assert words({"model": "sim/one"}, "")["Temperature"] == "not set"


def test_no_path_no_secret_and_no_long_text_is_told() -> None:
    found = words(CONTENT)
    assert found["Endpoint"] == "models.example:8443"
    for label in ("Harness setting prompt", "Harness setting api_key", "Metadata home", "Metadata notes"):
        assert found[label] == HIDDEN, label
    text = " ".join((*found, *found.values()))
    for secret in ("/srv", "sk-abc", "secret@", "key=abc", "~/", "C:\\"):
        assert secret not in text, secret
    for address in ("file:///srv/model", "/srv/model", "C:\\model", "https://[bad"):
        assert words({**CONTENT, "endpoint": address})["Endpoint"] == HIDDEN, address


def test_differences_name_both_sides() -> None:
    routing = {**CONTENT["routing"], "temperature": 0.7}
    other = {**CONTENT, "routing": routing, "instructions": "Be brief."}
    assert differences(CONTENT, "loop 1.0.0", other, "loop 1.0.0") == (
        ("Temperature", "0", "0.7"),
        ("Instructions", "19 characters in 2 lines", "9 characters in 1 line"),
    )
    assert instructions_diff(CONTENT, other, 40) == ("@@ -1,2 +1 @@", " Be brief.", "-Be right.")
    assert instructions_diff(CONTENT, CONTENT, 40) == ()


def test_what_is_not_shown_still_counts_as_a_difference() -> None:
    hidden = ("Details", "differ in parts that are not shown", "see the content hashes")
    kwargs = {**CONTENT["harness_kwargs"], "api_key": "sk-def"}
    for other in (
        {**CONTENT, "harness_kwargs": kwargs},
        {**CONTENT, "endpoint": "https://models.example:8443/v2"},
        {**CONTENT, "credentials": {"x": "y"}},
    ):
        assert differences(CONTENT, "loop", other, "loop") == (hidden,)
    changed = {**CONTENT, "model": "sim/two", "credentials": {"x": "y"}}
    assert differences(CONTENT, "loop", changed, "loop") == (("Model", "sim/one", "sim/two"), hidden)
