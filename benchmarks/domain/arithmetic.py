"""Arithmetic as a page prints it, evaluated exactly as it stands there.

A formula holds decimal numbers, + − × /, ², √(…), min(…), max(…), C(n, k) and brackets. It is worked out
in fractions, so that neither the order of a sum nor its size changes a digit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?|min|max|C|[-+−×/²√(),])")
_ROOT = Context(prec=60, Emin=-(10**6), Emax=10**6)
_EXACT_INTEGERS = 2**53


def number(value: float) -> str:
    """A number of a formula with every digit; in brackets where it is negative."""
    whole = value == int(value) and abs(value) < _EXACT_INTEGERS
    text = str(int(value)) if whole else repr(float(value))
    return f"({text})" if value < 0 else text


def plain(value: float) -> str:
    """As `number`, without brackets: as the result of a formula."""
    return number(value).strip("()")


def printed(value: Fraction) -> str:
    """As `number`, rounded to a float; also where that is more than a float holds."""
    try:
        return number(float(value))
    except OverflowError:
        return f"{_decimal(value):.16e}"


def evaluate(text: str) -> Fraction:
    """Raises ValueError where `text` is no formula, ZeroDivisionError as usual."""
    parser = _Parser(text)
    value = parser.sum()
    if parser.next:
        raise ValueError(f"{text!r} does not end where a formula may")
    return value


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text.rstrip()
        self.position = 0
        self.next = ""
        self._advance()

    def _advance(self) -> str:
        """Takes the token that is next and reads the one after it; '' at the end."""
        taken = self.next
        if self.position == len(self.text):
            self.next = ""
            return taken
        found = _TOKEN.match(self.text, self.position)
        if not found:
            raise ValueError(f"{self.text!r} is no formula")
        self.position = found.end()
        self.next = found[1]
        return taken

    def _expect(self, token: str) -> None:
        if self._advance() != token:
            raise ValueError(f"{self.text!r} lacks {token!r}")

    def sum(self) -> Fraction:
        value = self._product()
        while self.next in ("+", "−"):
            value = value + self._product() if self._advance() == "+" else value - self._product()
        return value

    def _product(self) -> Fraction:
        value = self._factor()
        while self.next in ("×", "/"):
            value = value * self._factor() if self._advance() == "×" else value / self._factor()
        return value

    def _factor(self) -> Fraction:
        if self.next == "-":
            self._advance()
            return -self._factor()
        value = self._atom()
        if self.next == "²":
            self._advance()
            value *= value
        return value

    def _atom(self) -> Fraction:
        if self.next == "(":
            return self._brackets()[0]
        name = self._advance()
        if name[:1].isdecimal():
            return Fraction(name)
        if name not in _FUNCTIONS:
            raise ValueError(f"{self.text!r} lacks a number")
        return _FUNCTIONS[name](self._brackets())

    def _brackets(self) -> list[Fraction]:
        self._expect("(")
        values = [self.sum()]
        while self.next == ",":
            self._advance()
            values.append(self.sum())
        self._expect(")")
        return values


def _root(arguments: list[Fraction]) -> Fraction:
    return Fraction(_ROOT.sqrt(_decimal(arguments[0])))


def _choose(arguments: list[Fraction]) -> Fraction:
    return Fraction(math.comb(*(int(argument) for argument in arguments)))


def _decimal(value: Fraction) -> Decimal:
    return _ROOT.divide(Decimal(value.numerator), Decimal(value.denominator))


_FUNCTIONS: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "min": min,
    "max": max,
    "C": _choose,
    "√": _root,
}
