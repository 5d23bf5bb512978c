"""Works out a formula that a page prints, by Python itself and with nothing of the site."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
SIGNS = {"×": "*", "−": "-", "²": "**2", "√": "root"}


def root(value: Fraction) -> Fraction:
    with localcontext(prec=60):
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def choose(n: Fraction, k: Fraction) -> Fraction:
    return Fraction(comb(int(n), int(k)))


def work_out(formula: str) -> Fraction:
    """The numbers are taken as the decimals that stand there."""
    code = NUMBER.sub(lambda found: f"F('{found[0]}')", formula).replace("C(", "choose(")
    for sign, python in SIGNS.items():
        code = code.replace(sign, python)
    assert re.fullmatch(r"(?:F\('[^']*'\)|root|choose|min|max|[-+*/() ,2])*", code), code
    names = {"F": Fraction, "root": root, "choose": choose, "min": min, "max": max, "__builtins__": {}}
    return Fraction(eval(code, names))  # noqa: S307 - holds nothing but arithmetic, as just checked
