"""Traces of people and machines: e-mail addresses, paths of machines, user names in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from hub.domain.leaks.hits import Hit, positions

LOCAL_PART = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}\Z")
DOMAIN = re.compile(r"(?:[^\W_](?:[\w-]{0,62})\.){1,8}[^\W\d_][\w-]{1,23}")
VERSION = re.compile(r"v?\d+(?:\.\d+)+", re.ASCII)
NOBODY = re.compile(r"(?:no-?reply|do-?not-?reply|git|hg|svn)$", re.I)
"""Local parts behind which no person reads, and `git@host:` addresses."""
STAND_INS = frozenset({"user", "you", "your", "name", "username", "email", "e-mail", "mail", "me", "someone"})
PLACEHOLDER_DOMAINS = re.compile(r"(?:^|\.)example(?:\.(?:com|org|net))?$", re.I)
FILE_ENDINGS = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "json", "py", "md", "txt", "html"}
)
SPELLED = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}\s?[\[({<]\s?at\s?[\])}>]\s?[\w-]{1,63}"
    r"(?:\s?[\[({<]\s?dot\s?[\])}>]\s?|\.)[\w.-]{2,63}",
    re.I,
)
"""E.g. "jane [at] example [dot] org"."""

SEGMENT = r"[^\s/\\:*?\"'<>|,;()\[\]{}`]"
HOMES = "home|Users|scratch|gpfs|lustre|workspaces|Volumes|media|mnt|run/user"
UNIX_PATH = re.compile(
    rf"(?<![\w.~/}}-])(?:file://(?:localhost)?)?(?:/mnt/[a-z]|/export|/data|/net/{SEGMENT}{{1,64}})?"
    rf"/(?:(?P<home>{HOMES})/(?P<name>{SEGMENT}{{1,64}})"
    rf"|root(?![\w-])|(?:private/)?tmp(?=/{SEGMENT})|(?:private/)?var/(?:folders|tmp)(?=/{SEGMENT}))"
    rf"(?:/{SEGMENT}{{0,255}}){{0,40}}"
)
BACK = r"(?:\\{1,4}|/)"
IN_WINDOWS = r"[^\s\\/:*?\"<>|]"
WINDOWS_PATH = re.compile(
    rf"(?<![A-Za-z0-9])[A-Za-z]:{BACK}"
    rf"(?:(?P<home>Users|Documents and Settings){BACK}(?P<name>{IN_WINDOWS}{{1,64}})"
    rf"|[A-Za-z0-9_$][\w $.-]{{0,60}}(?=\\))(?:{BACK}{IN_WINDOWS}{{0,255}}){{0,40}}",
    re.I,
)
SHARE = r"[A-Za-z0-9_$][\w$ .-]{0,63}"
UNC_PATH = re.compile(
    rf"(?<![\w\\:])\\{{2}}(?:\?\\UNC\\)?[A-Za-z][\w.-]{{1,63}}\\{SHARE}(?:\\{IN_WINDOWS}{{0,255}}){{0,40}}"
)
ESCAPED_UNC = re.compile(
    rf"(?<![\w\\:])\\{{4}}[A-Za-z][\w.-]{{1,63}}\\\\{SHARE}(?:\\\\{IN_WINDOWS}{{0,255}}){{0,40}}"
)
FILE_HOST = re.compile(r"file://[A-Za-z][\w.-]{1,63}/[^\s\"'<>]{1,255}")
UNNAMED = re.compile(r"[<${}%*\[]|^\.{1,3}$|^…$")
"""Path segments that stand for a name: `<user>`, `$USER`, `{name}`, `...`."""
NAMED_HOMES = frozenset({"home", "users", "scratch", "media", "documents and settings"})
SHORTEST_NAME = 3
_ACCOUNTS = """
admin administrator agent all any app build builder ci coder default demo developer docker ec2-user
everyone guest home jenkins john jovyan linuxbrew me name nobody node nonroot public root runner sandbox
shared system test tester ubuntu user username users vagrant vscode workspace you yourname
"""
ANYBODY = frozenset(_ACCOUNTS.split())
"""Accounts that many machines have."""


def email_hits(text: str) -> Iterator[Hit]:
    """Addresses at domains reserved for examples count too: they are what recorded data holds.

    Only stand-ins for a name there ("you@example.org") and addresses that nobody reads ("noreply@…") do not.
    """
    for at in positions(text, "@"):
        local = LOCAL_PART.search(text, max(0, at - 64), at)
        domain = DOMAIN.match(text, at + 1, at + 255)
        if local is None or domain is None:
            continue
        start = local.start() + len(local[0]) - len(local[0].lstrip(".!#$%&'*+/=?^`{|}~-"))
        name, host = text[start:at], domain[0].rstrip("-_")
        if (
            not name
            or VERSION.match(host)
            or host.rsplit(".", 1)[-1].lower() in FILE_ENDINGS
            or NOBODY.match(name)
        ):
            continue
        if name.lower() in STAND_INS and PLACEHOLDER_DOMAINS.search(host):
            continue
        yield Hit("email", start, at + 1 + len(host), f"{name}@{host}")
    if "at" in text:
        yield from (Hit("email", *match.span(), match[0]) for match in SPELLED.finditer(text))


def path_hits(text: str) -> Iterator[Hit]:
    for pattern in (UNIX_PATH, WINDOWS_PATH) if "/" in text or "\\" in text else ():
        for match in pattern.finditer(text):
            if match["name"] is None or not UNNAMED.search(match["name"]):
                yield _trimmed(text, *match.span())
    if "\\\\" in text:
        for pattern in (UNC_PATH, ESCAPED_UNC):
            yield from (_trimmed(text, *match.span()) for match in pattern.finditer(text))
    if "file://" in text:
        yield from (_trimmed(text, *match.span()) for match in FILE_HOST.finditer(text))


def _trimmed(text: str, start: int, end: int) -> Hit:
    value = text[start:end].rstrip(".!?-–— ")
    return Hit("machine_path", start, start + len(value), value)


def user_names(text: str) -> Iterator[str]:
    """Names of people's accounts in the paths of `text`. Accounts that every machine has are left out."""
    if "/" not in text and "\\" not in text:
        return
    for pattern in (UNIX_PATH, WINDOWS_PATH):
        for match in pattern.finditer(text):
            name = (match["name"] or "").rstrip(".")
            if len(name) < SHORTEST_NAME or UNNAMED.search(name) or name.lower() in ANYBODY:
                continue
            if match["home"].lower() in NAMED_HOMES:
                yield name


def user_name_hits(text: str, names: Collection[str]) -> Iterator[Hit]:
    """`names` as whole words of `text`."""
    for name in names:
        for at in positions(text, name):
            before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
            if not (before.isalnum() or after.isalnum()):
                yield Hit("user_name", at, at + len(name), name)
