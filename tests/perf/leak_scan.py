"""The gate of publication over a large manifest and much private material, and over texts made to be slow.

    python tests/perf/leak_scan.py [--manifest MB] [--private MB] [--seed N]

Prints for each case the time by the clock and of the processor, the peak of memory so far and how much was
found. The manifests are built like real ones (Tasks, results with a row for each Task); one is only prose.
"""

# ruff: noqa: T201, S311
# What is measured is printed; chance needs no secrecy here.

from __future__ import annotations

import argparse
import base64
import json
import random
import resource
import sys
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from hub.domain.leaks import PrivateMaterial, scan

MEGABYTE = 1_000_000
VOCABULARY = 20_000
ZIPF = list(accumulate(1 / (rank + 2) for rank in range(VOCABULARY)))
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"
PLANTED = "the voucher for late parcels is MAPLE 7731 LANTERN"


def nested(size: int) -> str:
    text = "the agent reads the policy " * 4
    while len(text) < size:
        text = base64.b64encode(text.encode()).decode()
    return text


def escaped(size: int) -> str:
    text = 'say "no"'
    while len(text) < size:
        text = json.dumps(text)
    return text[:size]


def bomb(size: int) -> str:
    import gzip  # noqa: PLC0415

    one = base64.b64encode(gzip.compress(b"\0 harmless" * 10_000_000)).decode()
    return " ".join([one] * max(1, size // len(one)))


SLOW_TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "line breaks": lambda size: "\n" * size,
    "lines of spaces": lambda size: (" " * 90 + "\n") * (size // 91),
    "at signs": lambda size: "a@" * (size // 2),
    "dotted names after at signs": lambda size: "@" + "a." * (size // 2),
    "slashes": lambda size: "/" * size,
    "homes": lambda size: "/home/" * (size // 6),
    "backslashes": lambda size: "\\" * size,
    "passwords": lambda size: "password=" * (size // 9),
    "names of secrets": lambda size: "token" * (size // 5),
    "addresses": lambda size: "https://a:" * (size // 10),
    "begins of keys": lambda size: "-----BEGIN PRIVATE KEY-----" * (size // 27),
    "marks of keys": lambda size: "sk-" * (size // 3),
    "AWS key IDs": lambda size: ("AKIA" + "ABCDEFGHIJKLMNOP") * (size // 20),
    "JWT heads": lambda size: "eyJhbGciOiJIUzI1NiJ9." * (size // 21),
    "percents": lambda size: "%25" * (size // 3),
    "percents of percents": lambda size: "%" + "25" * (size // 2),
    "entities": lambda size: "&amp;" * (size // 5),
    "hexadecimal": lambda size: "61" * (size // 2),
    "base64 of base64": nested,
    "zero-width characters": lambda size: "\u200b" * size,
    "escapes of everything": lambda size: "\\u0061" * (size // 6),
    "escaped many times": escaped,
    "a bomb": bomb,
    "random letters": lambda size: "".join(random.Random(1).choices("abcXYZ019/+=-_ \n\\%", k=size)),
}


def vocabulary(chance: random.Random) -> list[str]:
    return [
        "".join(
            chance.choice(CONSONANTS) + chance.choice(VOWELS)
            for _ in range(chance.choice((1, 2, 2, 3, 3, 4)))
        )
        for _ in range(VOCABULARY)
    ]


def prose(chance: random.Random, words: list[str], size: int) -> str:
    """Words by Zipf's law, in sentences."""
    drawn = chance.choices(words, cum_weights=ZIPF, k=max(1, size // 5))
    for at in range(12, len(drawn), 13):
        drawn[at] += "."
    return " ".join(drawn)[:size]


def manifest(chance: random.Random, words: list[str], size: int) -> bytes:
    def digest() -> str:
        return f"sha256:{chance.randbytes(32).hex()}"

    count = max(10, size // 20_000)
    tasks = [
        {
            "id": digest(),
            "name": f"support-{index}",
            "description": prose(chance, words, 300),
            "version": "1.0.0",
        }
        for index in range(count)
    ]
    results: list[dict[str, object]] = []
    while len(results) * count * 190 < size - count * 450:
        figures = {"attempts": 4, "agent_failures": 0, "infrastructure_errors": 0, "successes": 2, "valid": 4}
        rows = [
            {"task_id": task["id"], "score": chance.random(), "success_rate": 0.5, **figures}
            for task in tasks
        ]
        results.append({"id": f"res_{len(results)}", "configuration": digest(), "tasks": rows})
    about = {"description": prose(chance, words, 5000), "purpose": f"Refunds: {PLANTED}."}
    return json.dumps({"about": about, "tasks": tasks, "results": results}).encode()


def private_material(chance: random.Random, words: list[str], size: int) -> PrivateMaterial:
    half, files = size // 2, 50
    states = []
    for _ in range(files):
        values = [prose(chance, words, chance.choice((12, 30, 80))) for _ in range(half // files // 50)]
        states.append(json.dumps({f"field_{index}": value for index, value in enumerate(values)}))
    prompts = [prose(chance, words, half // files) for _ in range(files)]
    return PrivateMaterial({"hidden State": tuple(states), "Agent prompts": (*prompts, f"Say: {PLANTED}.")})


def measured(title: str, body: bytes, private: PrivateMaterial, names: tuple[str, ...] = ()) -> None:
    started, worked = time.perf_counter(), time.process_time()
    findings = scan(body, private, names)
    seconds, worked = time.perf_counter() - started, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = len(body) / MEGABYTE
    print(
        f"{title:34} {size:6.1f} MB {seconds:7.2f} s ({worked:.2f} s of CPU) {peak:6.0f} MB of memory"
        f" {len(findings):6} findings",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--manifest", type=float, default=5, help="MB of manifest")
    parser.add_argument("--private", type=float, default=20, help="MB of private material")
    parser.add_argument("--slow", type=float, default=1, help="MB of each text made to be slow")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    words, other = vocabulary(chance), vocabulary(chance)
    private = private_material(chance, words, int(options.private * MEGABYTE))
    size = int(options.manifest * MEGABYTE)
    names = tuple(f"support-{index}" for index in range(1000))
    measured("a manifest", manifest(chance, words, size), private, names)
    measured("a manifest of other words", manifest(chance, other, size), private, names)
    measured(
        "nothing but prose",
        json.dumps([prose(chance, words, size // 100) for _ in range(100)]).encode(),
        private,
    )
    for title, made in SLOW_TEXTS.items():
        measured(title, json.dumps({"about": made(int(options.slow * MEGABYTE))}).encode(), PrivateMaterial())


if __name__ == "__main__":
    main()
