"""No sentence of ours says "2 run(s)": the words after a count come from `runherd.words`."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "runherd"
BOTH = re.compile(r"\} (?:[\w-]+ )?\w+\(e?s\)[ \"',:;.]")


def test_no_word_in_both_numbers() -> None:
    """A count with `row(s)` behind it stands nowhere."""
    lines = ((p, n, line) for p in sorted(PACKAGE.rglob("*.py")) for n, line in enumerate(p.read_text().splitlines(), 1))
    assert [f"{p.relative_to(PACKAGE)}:{n}: {line.strip()}" for p, n, line in lines if BOTH.search(line)] == []
