"""Where published text repeats private text, from 12 characters or 3 words on.

Words are compared, without case and punctuation. Every run of words that stands in both is looked at, and
what it must tell depends on what it is in the private material: a whole value (an expected answer, a value
of the State) always counts; a part of a short value, or a whole line, sentence or quotation of a long text,
needs two words that mean something; any other part of a long text three, so that "the customer's order" is no
finding. Names that are public do not count as words of a run, parts of public texts neither.

Runs of up to six words are looked up in a tree of the published words; a longer one is made of those. So the
time grows with the length of both, and not with their product.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat
from operator import add, mul

from hub.domain.leaks.phrases import Phrases
from hub.domain.leaks.private_units import MOST_SHORT_WORDS, Unit, units
from hub.domain.leaks.types import PrivateMaterial
from hub.domain.leaks.words import BREAKS, Word, plain_words, weight, words_in

SMALLEST_CHARACTERS, SMALLEST_WORDS = 12, 3
DEEPEST_WORDS = 6
LONGEST_VALUE = 64
"""Words; a longer private value inside a public text is seen only where the text is not public."""
PART, SHORT, PIECE, VALUE = 1, 2, 4, 8
"""What a run is in the private material: some part, part of a short value, a whole piece, a whole value."""
BREAK, UNKNOWN = -1, 0


@dataclass(frozen=True, slots=True)
class Overlap:
    """Published text [start, end) that stands in private material; `sources` are names of its lists."""

    start: int
    end: int
    value: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sequence:
    """A private value as ids of published words, `UNKNOWN` for others and `BREAK` between its pieces."""

    ids: array[int]
    source: int
    is_value: bool


@dataclass(slots=True)
class _Run:
    first: int
    last: int
    sources: int


class PublicWords:
    """What is public whatever is published."""

    def __init__(self, names: Collection[str], texts: Collection[str]) -> None:
        self.known: set[str] = set()
        self.names: Phrases[str] = Phrases()
        self.texts: Phrases[str] = Phrases()
        self.whole_names: dict[tuple[str, ...], str] = {}
        for name in names:
            words = plain_words(name)
            self.known.update(words)
            if words:
                self.whole_names.setdefault(words, name)
            if len(words) > 1 or len(name) >= SMALLEST_CHARACTERS or (words and weight(words[0]) == 3):
                self.names.add(words)
        for text in texts:
            words = plain_words(text)
            self.known.update(words)
            self.texts.add(words)

    def weight(self, word: str) -> int:
        found = weight(word)
        return 1 if found == 2 and word in self.known else found


class Overlaps:
    """`texts` are all texts that `in_text` will be asked about."""

    def __init__(self, texts: Iterable[str], private: PrivateMaterial, public: PublicWords) -> None:
        self._public = public
        self._lists = tuple(private.lists)
        self._ids: dict[str, int] = {}
        self._next: dict[int, int] = {}
        self._flags: list[int] = [0]
        self._sources: list[int] = [0]
        self._long_values: Phrases[int] = Phrases()
        self._glued: dict[str, list[tuple[str, int]]] = {}
        self.names: dict[str, int] = {}
        """Public names that are private values too, with their sources."""
        published = {text: self._known_words(text) for text in texts}
        self._ids_and_breaks = {**self._ids, **dict.fromkeys(BREAKS, BREAK)}
        sequences = [self._sequence(unit) for unit in units(private)] if self._ids else []
        self._size = len(self._ids) + 1
        self._grow(published.values(), self._shared_pairs(published.values(), sequences))
        for sequence in sequences:
            self._mark(sequence)

    def source_names(self, sources: int) -> tuple[str, ...]:
        return tuple(name for index, name in enumerate(self._lists) if sources >> index & 1)

    # Building

    def _known_words(self, text: str) -> array[int]:
        ids = self._ids
        return array("i", [ids.setdefault(word, len(ids) + 1) for word in plain_words(text)])

    def _sequence(self, unit: Unit) -> _Sequence:
        """Ids of the unit's words; the values that have no place in the tree are noted on the way."""
        if unit.is_value and len(unit.tokens) <= 2 * LONGEST_VALUE:
            words = tuple(token for token in unit.tokens if token not in BREAKS)
            if (name := self._public.whole_names.get(words)) is not None:
                self.names[name] = self.names.get(name, 0) | 1 << unit.source
            elif words:
                self._note_glued(words, unit.source)
        ids = array("i", map(self._ids_and_breaks.get, unit.tokens, repeat(UNKNOWN)))
        return _Sequence(ids, unit.source, unit.is_value)

    def _note_glued(self, words: tuple[str, ...], source: int) -> None:
        glued = "".join(words)
        telling = any(map(weight, words)) and (len(words) > 1 or not glued.isalpha())
        if len(glued) >= SMALLEST_CHARACTERS and telling:
            self._glued.setdefault(glued[:SMALLEST_CHARACTERS], []).append((glued, source))

    def _pairs(self, words: Sequence[int]) -> Iterable[int]:
        return map(add, map(mul, words, repeat(self._size)), words[1:])

    def _shared_pairs(self, published: Iterable[array[int]], sequences: list[_Sequence]) -> set[int]:
        """Pairs of neighbouring words that stand in both."""
        pairs: set[int] = set()
        for words in published:
            pairs.update(self._pairs(words))
        shared: set[int] = set()
        for sequence in sequences:
            shared.update(pairs.intersection(self._pairs([word for word in sequence.ids if word != BREAK])))
        return shared

    def _grow(self, published: Iterable[array[int]], shared: set[int]) -> None:
        size, following = self._size, self._next
        lengths = [0, *map(len, self._ids)]
        for words in published:
            for first in range(len(words)):
                node, characters = 0, 0
                for depth, index in enumerate(range(first, len(words)), 1):
                    key = node * size + words[index]
                    node = following.get(key, 0)
                    if not node:
                        node = following[key] = len(self._flags)
                        self._flags.append(0)
                        self._sources.append(0)
                    characters += lengths[words[index]] + 1
                    if depth >= DEEPEST_WORDS and characters > SMALLEST_CHARACTERS:
                        break
                    if index + 1 == len(words) or words[index] * size + words[index + 1] not in shared:
                        break

    def _mark(self, unit: _Sequence) -> None:
        size, following, flags, sources = self._size, self._next, self._flags, self._sources
        words = [word for word in unit.ids if word != BREAK]
        is_short = unit.is_value and len(words) <= MOST_SHORT_WORDS
        basic = PART | SHORT if is_short else PART
        source = 1 << unit.source
        if unit.is_value and DEEPEST_WORDS <= len(words) <= LONGEST_VALUE and UNKNOWN not in words:
            self._long_values.add(tuple(words), source)
        breaks = _breaks(unit.ids)
        last = len(words)
        for first, word in enumerate(words):
            node = following.get(word, 0) if word else 0
            if not node:
                continue
            begins = first in breaks
            index = first + 1
            while node:
                found = basic
                if begins and index in breaks:
                    found |= PIECE if first or index < last or not unit.is_value else PIECE | VALUE
                flags[node] |= found
                sources[node] |= source
                if index == last or not words[index]:
                    break
                node = following.get(node * size + words[index], 0)
                index += 1

    # Asking

    def in_text(self, text: str) -> Iterator[Overlap]:
        """Overlaps of `text`, the longest ones, in order."""
        words = words_in(text)
        if not words:
            return
        ids = [self._ids.get(word.text, UNKNOWN) for word in words]
        cover = _Cover(text, words, self._public)
        runs = sorted(
            [*self._runs(ids, cover), *self._glued_runs(words, cover)], key=lambda run: (run.first, -run.last)
        )
        merged: list[_Run] = []
        for run in runs:
            if merged and run.first <= merged[-1].last:
                merged[-1].last = max(merged[-1].last, run.last)
                merged[-1].sources |= run.sources
            else:
                merged.append(run)
        for run in merged:
            value = " ".join(word.text for word in words[run.first : run.last + 1])
            yield Overlap(words[run.first].start, words[run.last].end, value, self.source_names(run.sources))

    def _runs(self, ids: Sequence[int], cover: _Cover) -> Iterator[_Run]:
        size, following, flags = self._size, self._next, self._flags
        for first in range(len(ids)):
            node, best, sources = 0, -1, 0
            for index in range(first, len(ids)):
                node = following.get(node * size + ids[index], 0)
                if not node:
                    break
                if flags[node] and cover.tells_enough(first, index, flags[node]):
                    best, sources = index, self._sources[node]
            if best >= 0:
                yield _Run(first, best, sources)
            for length, of_value in (
                self._long_values.at(ids, first) if ids[first] in self._long_values else ()
            ):
                if cover.tells_enough(first, first + length - 1, VALUE):
                    yield _Run(first, first + length - 1, of_value)

    def _glued_runs(self, words: Sequence[Word], cover: _Cover) -> Iterator[_Run]:
        """Whole private values whose words are written together, or inside a longer word."""
        if not self._glued:
            return
        text = "".join(word.text for word in words)
        owner: list[int] | None = None
        for start in range(len(text) - SMALLEST_CHARACTERS + 1):
            values = self._glued.get(text[start : start + SMALLEST_CHARACTERS])
            for value, source in values or ():
                if text.startswith(value, start):
                    owner = owner or [index for index, word in enumerate(words) for _ in word.text]
                    first, last = owner[start], owner[start + len(value) - 1]
                    if not cover.is_named(first, last):
                        yield _Run(first, last, 1 << source)


def _breaks(sequence: array[int]) -> set[int]:
    """Positions among the words where a piece begins or ends."""
    found, count = {0}, 0
    for word in sequence:
        if word == BREAK:
            found.add(count)
        else:
            count += 1
    found.add(count)
    return found


class _Cover:
    """Words of one published text: which stand in public names and texts, and how much the others tell."""

    def __init__(self, text: str, words: Sequence[Word], public: PublicWords) -> None:
        weights = [public.weight(word.text) for word in words]
        groups = [0]
        for before, word in pairwise(words):
            spaced = any(map(str.isspace, text[before.end : word.start]))
            groups.append(groups[-1] + spaced)
        plain = [word.text for word in words]
        named = _covered(plain, public.names)
        said = [a or b for a, b in zip(named, _covered(plain, public.texts), strict=True)]
        self._named = named
        self._outside_names = _Sums(words, weights, groups, named)
        self._outside_texts = _Sums(words, weights, groups, said)

    def is_named(self, first: int, last: int) -> bool:
        return all(self._named[first : last + 1])

    def tells_enough(self, first: int, last: int, flags: int) -> bool:
        if flags & VALUE and self._outside_names.tell(first, last, least=1):
            return True
        if flags & (SHORT | PIECE) and self._outside_texts.tell(first, last, least=2):
            return True
        least = 2 if last - first + 1 >= DEEPEST_WORDS else 3
        return bool(flags & PART) and self._outside_texts.tell(first, last, least=least)


class _Sums:
    """Running sums over the words that are not covered, so that a run of any length is judged at once."""

    def __init__(
        self, words: Sequence[Word], weights: Sequence[int], groups: Sequence[int], covered: Sequence[bool]
    ) -> None:
        free = [not hides for hides in covered]
        self._next_free = _next_true(free)
        self._characters = _running((len(word.text) + 1) * one for word, one in zip(words, free, strict=True))
        firsts, seen = [], -1
        for group, one in zip(groups, free, strict=True):
            firsts.append(int(one and group != seen))
            seen = group if one else seen
        self._firsts = _running(firsts)
        told = [weight * one for weight, one in zip(weights, free, strict=True)]
        self._told = _running(told)
        self._telling = _running(int(weight > 0) for weight in told)
        self._codes = _running(int(weight > 2) for weight in told)

    def tell(self, first: int, last: int, *, least: int) -> bool:
        """Whether the run is long enough and tells `least`, where over 1 by more than one plain word."""
        end = last + 1
        characters = self._characters[end] - self._characters[first] - 1
        if characters < SMALLEST_CHARACTERS and self._spaced_words(first, end) < SMALLEST_WORDS:
            return False
        told = self._told[end] - self._told[first]
        several = self._telling[end] - self._telling[first] > 1 or self._codes[end] > self._codes[first]
        return told >= least and (several or least == 1)

    def _spaced_words(self, first: int, end: int) -> int:
        """Words as white space parts them; the first may have begun before the run."""
        begun = self._next_free[first]
        if begun >= end:
            return 0
        counted = self._firsts[end] - self._firsts[first]
        return counted + (self._firsts[begun + 1] == self._firsts[begun])


def _running(values: Iterable[int]) -> list[int]:
    return list(accumulate(values, initial=0))


def _next_true(values: Sequence[bool]) -> list[int]:
    """For each position the first one from there on that is true, the length where there is none."""
    found, last = [], len(values)
    for index in range(len(values) - 1, -1, -1):
        last = index if values[index] else last
        found.append(last)
    return found[::-1]


def _covered(words: Sequence[str], phrases: Phrases[str]) -> list[bool]:
    covered = [False] * len(words)
    for index, word in enumerate(words):
        for length, _ in phrases.at(words, index) if word in phrases else ():
            covered[index : index + length] = [True] * length
    return covered
