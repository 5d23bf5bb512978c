"""Facts from definitions: public parts only, whatever stands in them."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.assemble import assemble
from hub.domain.consistency import consistency
from hub.domain.extracts import agent_facts, instructions_digest, requirements, verifier
from hub.domain.facts import AgentFacts, ResultFacts, TaskFacts
from hub.domain.manifest import ManifestRequirements, ManifestVerifier
from tests.domain.hub.made import MADE, digest, facts, task
from tests.domain.hub.test_stored import free

AGENT = {
    "model": "maker/large",
    "instructions": "Answer 7.",
    "routing": {"provider": "maker", "fallback_models": ["maker/small"], "temperature": 0, "max_tokens": 512},
    "harness_kwargs": {"hint": "7"},
    "secret_names": ["KEY"],
    "endpoint": "http://127.0.0.1/v1",
}
ENVIRONMENT = {
    "runtime": {"provider": "docker", "network": "none"},
    "limits": {"max_turns": 8, "max_seconds": 45, "max_cost_usd": None},
    "apps": [{"actions": [{"name": "look"}, {"name": "answer"}]}, {"actions": [{"name": "look"}]}],
    "resources": [{"content": "7"}],
}


def test_an_agent_gives_model_routing_and_a_digest() -> None:
    found = agent_facts(digest("x"), AGENT, label="bot", harness="loop", harness_version="1.0")
    assert found == AgentFacts(
        content_hash=digest("x"),
        label="bot",
        model="maker/large",
        provider="maker",
        fallback_models=("maker/small",),
        harness="loop",
        harness_version="1.0",
        instructions_digest=instructions_digest("Answer 7."),
        temperature=0.0,
        max_tokens=512,
    )
    assert "Answer" not in str(found) and "hint" not in str(found) and "127" not in str(found)
    built_in = agent_facts(digest("x"), AGENT, label="bot", harness="", harness_version="1.0")
    assert (built_in.harness, built_in.harness_version) == (None, None)


def test_a_digest_of_instructions_is_that_of_their_text() -> None:
    assert instructions_digest("Answer 7.") == digest("Answer 7.")
    assert instructions_digest(" \n") is None


def test_an_environment_gives_what_running_needs() -> None:
    assert requirements("desk", ENVIRONMENT) == ManifestRequirements(
        environment="desk",
        runtime_provider="docker",
        network="none",
        tools=("look", "answer"),
        max_turns=8,
        max_seconds=45.0,
    )


def test_a_verifier_gives_name_kind_and_weight() -> None:
    assert verifier("check", {"kind": "agent", "weight": 2, "criteria": ["It says 7."]}) == ManifestVerifier(
        "check", "agent", 2.0
    )
    assert verifier("check", {}) == ManifestVerifier("check", "", 1.0)


odd = st.dictionaries(
    st.sampled_from(
        ["model", "routing", "instructions", "runtime", "limits", "apps", "kind", "weight", "provider"]
    ),
    free
    | st.just([{"actions": 3}, {"actions": [{"name": None}, 4]}, 5])
    | st.just({"fallback_models": ["a", 3, ""], "max_tokens": True, "temperature": 10**400})
    | st.just({"fallback_models": "a", "max_turns": 1.5, "max_seconds": float("inf")}),
)


@given(odd)
def test_values_of_the_wrong_kind_count_as_not_declared(content: dict[str, object]) -> None:
    agent = agent_facts(digest("x"), content, label="bot", harness=None)
    first = task("a")
    tasks = [
        TaskFacts(
            name="a",
            version="",
            content_hash=first.content_hash,
            requirements=requirements("desk", content),
            verifiers=(verifier("check", content),),
        ),
        task("b"),
    ]
    made = {**MADE, "results": [facts(agent=agent)], "release": replace(MADE["release"], tasks=tasks)}
    assert consistency(assemble(**made)) == []


def test_inputs_have_no_place_for_private_material() -> None:
    names = {field.name for cls in (AgentFacts, TaskFacts, ResultFacts) for field in fields(cls)}
    assert not names & {
        "content",
        "definition",
        "expected",
        "initial_state",
        "reset_options",
        "rubric",
        "criteria",
        "harness_config",
        "harness_kwargs",
        "prompt",
        "endpoint",
        "secrets",
        "resources",
    }
    assert "instructions" not in asdict(agent_facts(digest("x"), AGENT, label="bot", harness=None))
