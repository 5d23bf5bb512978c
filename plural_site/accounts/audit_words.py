"""Audit events as sentences. Pure functions on plain values.

An app adds the words of its own verbs with `add_words`; a verb without words is spelled out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from plural_site.formats import clean_text, count

WORDS = {
    "account.change": "renamed the account to “{name}”",
    "account.create": "created the account {slug}",
    "account.remove_member": "took {user} out of the account",
    "account.set_member": "made {user} {role} of the account",
    "api_key.create": "made the API key {prefix}…, which may {ability}",
    "api_key.revoke": "revoked the API key {prefix}…",
    "invitation.accept": "accepted an invitation as {role}",
    "invitation.create": "invited {email} as {role}",
    "invitation.revoke": "took back the invitation of {email} as {role}",
    "project.archive": "archived the project",
    "project.change": "changed the project’s name or notice",
    "project.create": "created the project {slug}",
    "project.delete": "deleted the project {slug} with {removed}",
    "project.remove_member": "took {user} out of the project",
    "project.set_member": "made {user} {role} of the project",
    "project.unarchive": "brought the project back from the archive",
    "user.change": "changed their name to “{name}”",
    "user.create": "created the person {email}",
    "user.end_sessions": "ended {sessions} of their sessions",
    "user.link_identity": "signed in by {issuer} for the first time",
    "user.make_password_link": "made a link for {user} to set a new password",
    "user.set_password": "set a new password",
    "user.use_sign_in_link": "signed in by a link",
}
INSTEAD = {"email": "anybody with the link", "name": "nothing"}


def add_words(words: Mapping[str, str]) -> None:
    """Adds sentences by verb, with the fields of the event's detail in braces."""
    WORDS.update(words)


def sentence(verb: str, detail: Mapping[str, Any], object_type: str, object_id: str) -> str:
    """What was done, as it follows the name of who did it. Safe to print, still to be escaped."""
    template = WORDS.get(verb)
    if template is None:
        kind = object_type.rpartition(".")[2]
        return clean_text(f"{verb.replace('.', ': ', 1).replace('_', ' ')} ({kind} {object_id})")
    values: defaultdict[str, str] = defaultdict(lambda: "something")
    values.update({name: _plain(value) or INSTEAD.get(name, "nothing") for name, value in detail.items()})
    publishing = ", with the right to publish" if detail.get("may_publish") is True else ""
    return clean_text(template.format_map(values) + publishing)


def verb_words(verb: str) -> str:
    """A verb in a list of them, e.g. "Project: set member"."""
    place, _, act = verb.partition(".")
    return f"{place} {act}".replace("_", " ").strip().capitalize()


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{_plain(number)} {name}" for name, number in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return count(value) if isinstance(value, int) else str(value)
