"""Two texts line by line: applied to the old one, the difference gives the new one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.domain.line_diff import LARGEST, LONGEST_LINE, LineDiff, line_diff

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "d"]), max_size=30)


def shown(found: LineDiff) -> list[str]:
    marks = {"kept": " ", "removed": "-", "added": "+", "skipped": "…"}
    return [f"{marks[line.kind]}{line.text}" for line in found.lines]


def applied(old: list[str], found: LineDiff) -> list[str]:
    """The new lines, from the old ones and what the difference says."""
    gone = {line.old for line in found.lines if line.kind == "removed"}
    come = {line.new: line.text for line in found.lines if line.kind == "added"}
    rest = iter(text for number, text in enumerate(old, start=1) if number not in gone)
    length = len(old) - len(gone) + len(come)
    return [come[number] if number in come else next(rest) for number in range(1, length + 1)]


@given(LINES, LINES)
def test_the_difference_applied_to_the_old_text_gives_the_new_one(old: list[str], new: list[str]) -> None:
    found = line_diff("\n".join([*old, "end"]), "\n".join([*new, "end"]))
    assert applied([*old, "end"], found) == [*new, "end"]
    assert (found.lines == ()) is (old == new)
    assert found.added - found.removed == len(new) - len(old)
    for line in found.lines:
        if line.kind == "kept":
            assert line.old is not None
            assert line.new is not None
            assert ([*old, "end"][line.old - 1], [*new, "end"][line.new - 1]) == (line.text, line.text)


def test_a_changed_line_stands_among_its_neighbours() -> None:
    old = [str(number) for number in range(1, 21)]
    new = [*old[:9], "ten", *old[10:]]
    found = line_diff("\n".join(old), "\n".join(new))
    assert shown(found) == ["…", " 8", " 9", "-10", "+ten", " 11", " 12", "…"]
    assert (found.added, found.removed, found.left_out) == (1, 1, 0)


def test_neighbouring_changes_do_not_repeat_what_lies_between() -> None:
    old = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
    new = ["A", *old[1:4], "E", *old[5:11], "L"]
    found = line_diff("\n".join(old), "\n".join(new))
    assert shown(found) == [
        *("-a", "+A", " b", " c", " d", "-e", "+E", " f", " g", "…", " j", " k", "-l", "+L")
    ]


def test_long_texts_are_cut_and_the_rest_is_counted() -> None:
    found = line_diff("", "\n".join(str(number) for number in range(1000)), most=10)
    assert (len(found.lines), found.added, found.left_out) == (10, 1000, 990)
    (line,) = line_diff("", "x" * 10_000).lines
    assert len(line.text) == LONGEST_LINE


def test_texts_that_differ_too_much_are_shown_as_gone_and_come() -> None:
    old = [f"{number % 7} old" for number in range(LARGEST + 1)]
    new = [f"{number % 5} old" for number in range(LARGEST + 1)]
    found = line_diff("\n".join(old), "\n".join(new), most=10**6)
    assert (found.removed, found.added) == (LARGEST - 4, LARGEST - 4)
    alike = line_diff("\n".join(["x", *["same"] * 300, "y"]), "\n".join(["y", *["same"] * 301, "x"]))
    assert (alike.removed, alike.added) == (302, 303)
