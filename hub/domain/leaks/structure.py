"""Strings of a manifest that its schema fixes, so that they can disclose nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from hub.domain.leaks.places import Place
from hub.domain.manifest import (
    COST_LOWER_BOUND,
    COST_UNIT,
    LATENCY_UNIT,
    MANIFEST_SCHEMA,
    PRIVATE_EVALUATION_MATERIAL,
    PUBLIC_ROUTING_FIELDS,
)

_FIELDS = """
about account_id aggregation agent_failure agent_failures applicability attempt attempts benchmark_id
boundary calls categories category completion_rate complete_coverage configuration configuration_hash
configurations content_hash cost coverage coverage_required default_view description disclosure eligible
environment evaluated_from evaluated_to evaluation_ids examples fallback_models findings forked_from group
harness harness_timeout harness_version harnesses high id ineligible_reasons infrastructure_error
infrastructure_errors instructions instructions_digest kind label latency license limitations low
max_cost_usd max_retries max_seconds max_tokens max_turns measured method metric min_tasks_for_interval
model models_used name network outcome outcomes path private_evaluation_material provenance provider
public_routing_fields publication published_at publisher purpose release release_content_hash
reproducibility requirements results runtime_provider sample_size schema_version score score_range scoring
settings slug standard_error status status_reason stop_reason submitted_by success success_rate
success_threshold successes supersedes task_hashes task_id task_weights tasks tasks_covered tasks_total
taxonomy temperature title tools traces track track_rules_hash tracks unavailable_reason uncertainty unit
valid value verifier_findings verifiers version weight
"""
KEYS = frozenset(_FIELDS.split())
_IDENTITIES = """
account_id benchmark_id configuration configuration_hash content_hash evaluated_from evaluated_to
evaluation_ids id instructions_digest published_at release_content_hash supersedes task_hashes task_id
tasks track_rules_hash
"""
IDENTITIES = frozenset(_IDENTITIES.split())
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
IDENTITY = re.compile(
    r"sha256:[0-9a-f]{64}|[a-z]{2,6}_[0-9A-Za-z]{1,40}|[0-9a-f-]{32,36}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)"
)
WORDS_OF_KEY: Mapping[str, Collection[str]] = {
    "schema_version": {MANIFEST_SCHEMA},
    "status": {"published", "withdrawn", "accepted", "superseded"},
    "aggregation": {"weighted_mean"},
    "agent_failure": {"zero", "exclude"},
    "infrastructure_error": {"exclude"},
    "harness_timeout": {"infrastructure_error", "agent_failure"},
    "provenance": {"plural_executed", "independently_reproduced", "self_reported", "legacy"},
    "unit": {COST_UNIT, COST_LOWER_BOUND, LATENCY_UNIT},
    "outcome": {"pending", "scored", "cancelled", "agent_failure", "infrastructure_error"},
    "tools": {"Environment actions only."},
    "public_routing_fields": set(PUBLIC_ROUTING_FIELDS),
    "private_evaluation_material": set(PRIVATE_EVALUATION_MATERIAL),
}
OUTCOMES = frozenset(WORDS_OF_KEY["outcome"])


def is_fixed(place: Place) -> bool:
    """Whether the string is the schema's own: a field's name, one of a field's fixed words, an identity."""
    if place.breaks:
        return False
    if place.in_key:
        return place.text in KEYS or (place.text in OUTCOMES and "outcomes" in place.path)
    if place.text in WORDS_OF_KEY.get(place.name, ()):
        return True
    return place.name in IDENTITIES and IDENTITY.fullmatch(place.text) is not None
