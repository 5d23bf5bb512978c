"""What everybody gets at the addresses of people, accounts and settings, as test_matrix expects it.

Posts carry no data, so that forms come back as they are (200) and acts redirect (302).
"""

from __future__ import annotations

from collections.abc import Mapping

OK, DONE, FORBIDDEN, ABSENT, NO_METHOD, GONE = 200, 302, 403, 404, 405, 410
Outcomes = Mapping[str, int]

STRANGERS = {"anonymous": DONE, "dee": ABSENT, "oli": ABSENT}
SIGNED_IN = {"anonymous": DONE} | dict.fromkeys(("dee", "oli", "cy", "ben", "max", "ann"), OK)
ANYBODY = SIGNED_IN | {"anonymous": OK}


def for_managers(status: int) -> Outcomes:
    return {**STRANGERS, "cy": FORBIDDEN, "ben": FORBIDDEN, "max": status, "ann": status}


def for_owner(status: int) -> Outcomes:
    """Of the project's account."""
    return {**for_managers(status), "max": FORBIDDEN}


def for_members(status: int) -> Outcomes:
    return {**STRANGERS, **dict.fromkeys(("cy", "ben", "max", "ann"), status)}


def in_account(member: int, owner: int) -> Outcomes:
    """ann owns the organization {account}, and ben is a member of it."""
    return {**STRANGERS, "cy": ABSENT, "max": ABSENT, "ben": member, "ann": owner}


def everybody(status: int) -> Outcomes:
    return dict.fromkeys(ANYBODY, status)


def signed_in(status: int) -> Outcomes:
    return {**everybody(status), "anonymous": DONE}


def only(name: str) -> Outcomes:
    return {**signed_in(ABSENT), name: OK}


NO_POST = signed_in(NO_METHOD)
ONLY_POST = signed_in(NO_METHOD)
PROJECT, ACCOUNT = "projects/<slug:project>", "accounts/<slug:account>"
THIS_PROJECT, THIS_ACCOUNT = "/projects/{project}", "/accounts/{account}"

ADDRESSES: dict[str, tuple[str, Outcomes, Outcomes]] = {
    "sign-in/oidc": ("/sign-in/oidc", everybody(ABSENT), everybody(NO_METHOD)),
    "sign-in/oidc/callback": ("/sign-in/oidc/callback", everybody(ABSENT), everybody(NO_METHOD)),
    "forgot-password": ("/forgot-password", ANYBODY, ANYBODY),
    "password/<str:uid>/<str:token>": ("/password/MQ/abc-def", everybody(GONE), everybody(GONE)),
    "invitations/<str:secret>": ("/invitations/abc", everybody(GONE), everybody(GONE)),
    "account": ("/account", SIGNED_IN, SIGNED_IN),
    "account/password": ("/account/password", SIGNED_IN, SIGNED_IN),
    "account/sessions": ("/account/sessions", SIGNED_IN, NO_POST),
    "account/sessions/end": ("/account/sessions/end", ONLY_POST, signed_in(DONE)),
    "account/keys": ("/account/keys", SIGNED_IN, SIGNED_IN),
    "account/keys/<int:pk>/revoke": (
        "/account/keys/{key}/revoke",
        only("ben"),
        {**only("ben"), "ben": DONE},
    ),
    "account/projects/new": ("/account/projects/new", signed_in(DONE), signed_in(DONE)),
    "accounts": ("/accounts", SIGNED_IN, NO_POST),
    "accounts/new": ("/accounts/new", SIGNED_IN, SIGNED_IN),
    ACCOUNT: (THIS_ACCOUNT, in_account(OK, OK), NO_POST),
    f"{ACCOUNT}/projects/new": (
        f"{THIS_ACCOUNT}/projects/new",
        in_account(FORBIDDEN, OK),
        in_account(FORBIDDEN, OK),
    ),
    f"{ACCOUNT}/settings": (f"{THIS_ACCOUNT}/settings", in_account(FORBIDDEN, OK), in_account(FORBIDDEN, OK)),
    f"{ACCOUNT}/members": (f"{THIS_ACCOUNT}/members", in_account(OK, OK), in_account(FORBIDDEN, OK)),
    f"{ACCOUNT}/members/<int:user>/role": (
        f"{THIS_ACCOUNT}/members/{{owner}}/role",
        ONLY_POST,
        in_account(FORBIDDEN, DONE),
    ),
    f"{ACCOUNT}/members/<int:user>/remove": (
        f"{THIS_ACCOUNT}/members/{{owner}}/remove",
        in_account(FORBIDDEN, OK),
        in_account(FORBIDDEN, DONE),
    ),
    f"{ACCOUNT}/members/<int:user>/link": (
        f"{THIS_ACCOUNT}/members/{{owner}}/link",
        ONLY_POST,
        in_account(FORBIDDEN, DONE),
    ),
    f"{ACCOUNT}/invitations/<int:pk>/revoke": (
        f"{THIS_ACCOUNT}/invitations/{{account_invitation}}/revoke",
        ONLY_POST,
        in_account(FORBIDDEN, DONE),
    ),
    f"{ACCOUNT}/keys": (f"{THIS_ACCOUNT}/keys", in_account(FORBIDDEN, OK), NO_POST),
    f"{ACCOUNT}/keys/<int:pk>/revoke": (
        f"{THIS_ACCOUNT}/keys/{{account_key}}/revoke",
        in_account(FORBIDDEN, OK),
        in_account(FORBIDDEN, DONE),
    ),
    f"{ACCOUNT}/audit": (f"{THIS_ACCOUNT}/audit", in_account(FORBIDDEN, OK), NO_POST),
    r"^accounts/(?P<account>[-a-z0-9]+)/audit\.(?P<kind>csv|json)$": (
        f"{THIS_ACCOUNT}/audit.csv",
        in_account(FORBIDDEN, OK),
        NO_POST,
    ),
    f"{PROJECT}/settings": (f"{THIS_PROJECT}/settings", for_managers(OK), for_managers(OK)),
    f"{PROJECT}/settings/archive": (f"{THIS_PROJECT}/settings/archive", ONLY_POST, for_managers(DONE)),
    f"{PROJECT}/settings/delete": (f"{THIS_PROJECT}/settings/delete", for_owner(OK), for_owner(OK)),
    f"{PROJECT}/settings/members": (f"{THIS_PROJECT}/settings/members", for_managers(OK), for_managers(OK)),
    f"{PROJECT}/settings/members/<int:user>/role": (
        f"{THIS_PROJECT}/settings/members/{{member}}/role",
        ONLY_POST,
        for_managers(DONE),
    ),
    f"{PROJECT}/settings/members/<int:user>/remove": (
        f"{THIS_PROJECT}/settings/members/{{member}}/remove",
        for_managers(OK),
        for_managers(DONE),
    ),
    f"{PROJECT}/settings/invitations/<int:pk>/revoke": (
        f"{THIS_PROJECT}/settings/invitations/{{invitation}}/revoke",
        ONLY_POST,
        for_managers(DONE),
    ),
    f"{PROJECT}/settings/keys": (f"{THIS_PROJECT}/settings/keys", for_managers(OK), NO_POST),
    f"{PROJECT}/settings/keys/<int:pk>/revoke": (
        f"{THIS_PROJECT}/settings/keys/{{key}}/revoke",
        for_managers(OK),
        for_managers(DONE),
    ),
    f"{PROJECT}/settings/audit": (f"{THIS_PROJECT}/settings/audit", for_managers(OK), NO_POST),
    r"^projects/(?P<project>[-a-z0-9]+)/settings/audit\.(?P<kind>csv|json)$": (
        f"{THIS_PROJECT}/settings/audit.json",
        for_managers(OK),
        NO_POST,
    ),
    f"{PROJECT}/leave": (f"{THIS_PROJECT}/leave", for_members(OK), for_members(DONE)),
}
