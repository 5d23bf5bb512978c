"""Texts as words, so that two of them can be compared whatever their case, spacing and punctuation."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
TOKEN = re.compile(
    r"[^\W_]+(?:['\u2019][^\W_]+)*|[\n\r\"`<>=|(){}\[\]\u2018\u201c\u201d]|[.;:!?](?=\s|\Z)|(?<!\w)'|'(?!\w)"
)
"""A word, or what ends one piece of a text and begins another: line, sentence, quotation, field."""


BREAKS = "\n\r\"`<>=|(){}[]\u2018\u201c\u201d.;:!?'"


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int


def folded(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return text.casefold()


def words_in(text: str) -> list[Word]:
    """Words of `text` with the code points that they stand at."""
    return [Word(folded(match[0]), *match.span()) for match in WORD.finditer(text)]


def plain_words(text: str) -> tuple[str, ...]:
    return tuple(folded(word) for word in WORD.findall(text))


_FUNCTION = """
a about above after again against all also always am an and any are as at be because been before being below
between both but by can cannot could did do does doing done down during each either else ever every few for
from further get gets got had has have having he her here hers him his how however i if in into is it its
it's itself just let like may me might more most must my neither never no nor not now of off on once one
only or other our ours out over own per same shall she should since so some such than that the their theirs
them then there these they this those through to too under until up upon us very via was we were what when
where whether which while who whom whose why will with within without would yes yet you your yours don't
doesn't isn't aren't won't can't i'm you're we're they're that's there's
"""
_COMMON = """
able accept access account accounts across action actions add added address agent agents allow allowed
amount answer answers any apply asked asks ask attempt attempts available back based begin benchmark best
better book both call called calls case cases category change changed changes check checks choose chosen
clear close closed code come comes common complete completed contain contains content correct correctly cost
count create created current customer customers data date dates day days default describe described
description details different direct document documents each end ends english enough ensure entry
environment error errors evaluation even example examples exact exactly expected explain fact fail failed
fails failure false field fields file files final find finds first follow following follows form format
found four full general given gives give go goes good group hand handle handled handles help high hold holds
hour hours human id ids include included includes information input instruction instructions invalid issue
issues item items job jobs keep keeps kept key keys kind know known language large last later latest least
left length less level limit limits line list listed lists local long look low made main make makes many
mark match matches maximum mean means measure measured measures message messages method minimum minute
minutes missing mode model models month months name named names need needed needs new next note nothing null
number numbers object old open option options order orders original output page pages paid part parts pass
passed people person place plan please point policies policy possible present price private problem process
product products project prompt provide provided provides public question questions reach read reads reason
reasons receive received record records refund refunds reject rejected release report request requested
requests require required requires response result results return returned returns review right rule rules
run runs same say says score scored scores second seconds section see seen select send sent server service
set sets shipping short show shown shows simple single size small solution start starts state states status
step steps stop submit support supported sure system systems table take taken takes task tasks team tell
test tested tests text thing things third three ticket tickets time times title today token tool tools top
total track true try turn turns two type types unit update updated use used user users uses using valid
value values verifier verify version want way ways week weeks well whole word words work works write written
wrong year years zero
"""
FUNCTION_WORDS = frozenset(_FUNCTION.split())
COMMON_WORDS = frozenset(_COMMON.split())


@lru_cache(maxsize=50_000)
def weight(word: str) -> int:
    """How much `word` tells: 0 for words of grammar, 1 for common ones, 2 for others, 3 for codes and numbers
    of four digits or more."""
    word = word.removesuffix("'s")
    if word in FUNCTION_WORDS or len(word) == 1:
        return 0
    digits = sum(map(str.isdigit, word))
    if digits:
        return 3 if digits >= 4 or (digits < len(word) and len(word) >= 5) else 1
    return 1 if word in COMMON_WORDS else 2
