"""Lists and spans of time in words."""

from __future__ import annotations

import pytest

from runherd.words import ago, counted, duration, form, listing, span


@pytest.mark.parametrize(
    ("words", "said"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c"), (["a", "b", "c", "d"], "a, b, c and 1 more")],
)
def test_lists_are_cut_and_counted(words: list[str], said: str) -> None:
    """At most three are named here; what is left out is counted."""
    assert listing(words, 3) == said


def test_words_are_in_the_number_of_what_is_counted() -> None:
    """One run, two processes, a limit that is no whole number; large counts are not cut, and verbs agree."""
    assert (counted(1, "run"), counted(0, "run"), counted(2, "run")) == ("1 run", "0 runs", "2 runs")
    assert (counted(2, "process"), counted(1.0, "run"), counted(2.5, "run")) == ("2 processes", "1 run", "2.5 runs")
    assert counted(6_000_000, "token") == "6000000 tokens"
    assert (form(1, "is", "are"), form(0, "is", "are"), form(3, "is", "are")) == ("is", "are", "are")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0.0 s"), (9.94, "9.9 s"), (59, "59 s"), (60, "1 min 00 s"), (725, "12 min 05 s"), (3599.7, "1 h 00 min"),
        (27000, "7 h 30 min"), (172800, "2 d 0 h"), (187200, "2 d 4 h"),
    ],
)  # fmt: skip
def test_two_largest_units(seconds: float, shown: str) -> None:
    """A duration has its two largest units, without a 60 in the smaller one."""
    assert duration(seconds) == shown


def test_spans_and_ages() -> None:
    """Roughly, as people say them; a clock that was set back makes no negative age."""
    assert (span(119), span(1320), span(-3)) == ("119 s", "22 min", "0 s")
    assert (ago(30), ago(300), ago(9000), ago(-1)) == ("30s ago", "5m ago", "2.5h ago", "0s ago")
