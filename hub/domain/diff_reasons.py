"""Why a part of a manifest comes, goes or changes, in words, from what the two manifests say themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hub.domain.manifest import Manifest, ManifestResult
from hub.domain.words import result_names

Reason = Callable[[str, Manifest, Manifest, Sequence[str]], str]
FIRST = "published for the first time"
TEXT_EDITED = "text edited"
DISCLOSURE = "disclosure chosen anew"
OTHER_RULES = "scored with other rules"
NEW_RESULT = "new result"
NEW_MANIFEST = "time of the new manifest"
ANOTHER_ORDER = "put in another order"
_TYPED = frozenset({"description", "applicability"})


def reason_for(section: str, key: str, old: Manifest | None, new: Manifest, fields: Sequence[str]) -> str:
    """`fields` are the dotted paths, within the thing, of what differs; '' alone is an order or a value."""
    if section == "results" and key:
        return _of_result(key, old, new, fields)
    return FIRST if old is None else _BY_SECTION[section](key, old, new, fields)


def _of_rules(key: str, old: Manifest, new: Manifest, fields: Sequence[str]) -> str:
    """Of Tasks too: what the publisher typed for them, their instructions, and the rest."""
    if old.release.content_hash != new.release.content_hash:
        return _of_release(key, old, new, fields)
    tops = [field.partition(".")[0] for field in fields]
    reasons = [
        DISCLOSURE if top == "instructions" else TEXT_EDITED if top in _TYPED else OTHER_RULES for top in tops
    ]
    return "; ".join(dict.fromkeys(reasons))


def _of_release(key: str, old: Manifest, new: Manifest, fields: Sequence[str]) -> str:
    if set(fields) == {"published_at"}:
        return NEW_MANIFEST
    if old.release.version == new.release.version:
        return "the release is described differently"
    return f"release {new.release.version} after {old.release.version}"


def _of_configuration(key: str, old: Manifest, new: Manifest, fields: Sequence[str]) -> str:
    before, after = ({each.id for each in manifest.configurations} for manifest in (old, new))
    if not key:
        return ANOTHER_ORDER
    if key in before and key in after:
        return "described by its latest results"
    return "of a new result" if key in after else "of results that are not there any more"


def _of_status_of_all(key: str, old: Manifest, new: Manifest, fields: Sequence[str]) -> str:
    return f"publication {'withdrawn' if new.status == 'withdrawn' else 'restored'}"


def _always(reason: str) -> Reason:
    return lambda key, old, new, fields: reason


_BY_SECTION: Mapping[str, Reason] = {
    "schema_version": _always("the schema of manifests has changed"),
    "publication": _always(TEXT_EDITED),
    "publisher": _always(TEXT_EDITED),
    "about": _always(TEXT_EDITED),
    "disclosure": _always(DISCLOSURE),
    "boundary": _always("the site describes the boundary differently"),
    "results": _always(ANOTHER_ORDER),
    "status": _of_status_of_all,
    "release": _of_release,
    "configurations": _of_configuration,
    "scoring": _of_rules,
    "default_view": _of_rules,
    "tracks": _of_rules,
    "categories": _of_rules,
    "tasks": _of_rules,
}


def _of_result(key: str, old: Manifest | None, new: Manifest, fields: Sequence[str]) -> str:
    before, after = ({r.id: r for r in manifest.results} if manifest else {} for manifest in (old, new))
    result, earlier = after.get(key), before.get(key)
    if result is None:
        return "not in this manifest: it is a result of another release"
    if earlier is None:
        return _of_new_result(result, new)
    reasons = []
    tops = {field.partition(".")[0] for field in fields}
    if result.status != earlier.status:
        reasons.append(_of_status(result))
    elif "status_reason" in tops:
        reasons.append(TEXT_EDITED)
    if "examples" in tops:
        reasons.append(DISCLOSURE)
    if tops - {"status", "status_reason", "examples"}:
        reasons.append(OTHER_RULES)
    return "; ".join(reasons)


def _of_new_result(result: ManifestResult, new: Manifest) -> str:
    corrected = next((each for each in new.results if each.id == result.supersedes), None)
    if corrected is None:
        return NEW_RESULT
    why = f": {corrected.status_reason}" if corrected.status_reason else ""
    return f"corrects {result_names(new)[corrected.id]}{why}"


def _of_status(result: ManifestResult) -> str:
    words = {"superseded": "result corrected", "withdrawn": "result withdrawn"}
    if result.status == "accepted":
        return "result accepted again"
    return f"{words[result.status]}: {result.status_reason}"
