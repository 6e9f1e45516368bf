"""Preflight says in one line each what a tracker says that nobody will act on."""

from __future__ import annotations

from pathlib import Path

import pytest

from runherd import tracker
from runherd.preflight.tracker_rows import check

FULL = "| Run ID | Milestone | Priority | Status |\n|---|---|---|---|\n"


def said(path: Path, text: str) -> list[str]:
    path.write_text(text)
    found = list(check(tracker.read(path), "t.md"))
    assert all(not f.stops and "\n" not in str(f) for f in found)
    return [f.what for f in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (FULL + "| A | M0 | MUST | TODO |\n| B | M1 | NICE | DONE |\n", []),
        (
            FULL + "| A | M0 | MUST | maybe |\n| B | M0 | MUST | TODO |\n| C | M0 | MUST | |\n",
            ["t.md:3: status not understood, so that nothing is launched and nothing is done: A (line 3: 'maybe') and C (line 5: '')"],
        ),
        (
            "| Run ID | Milestone | Purpose | Priority |\n|---|---|---|---|\n| R1 | M0 | a | MUST |\n| R2 | M0 | b | MUST |\n",
            ["t.md:3: the table has no Status column, so that its rows are never launched and never done: R1 (line 3) and R2 (line 4)"],
        ),
        (
            "| Run ID | Priority | Status |\n|---|---|---|\n| A | MUST | TODO |\n| B | MUST | TODO |\n",
            ["t.md:3: there is no Milestone: these rows form one stage, `runs`, with one gate"],
        ),
        (
            FULL + "| A | M0 | MUST | TODO |\n| B | | MUST | TODO |\n",
            ["t.md:4: no Milestone for B (line 4): these rows form one stage, `runs`, with one gate"],
        ),
        (FULL + "| A | M0 | MUST | DONE |\n| A | M0 | MUST | DONE |\n", ["t.md:4: A stands in 2 rows (lines 3, 4)"]),
        (
            FULL + "| A | M0 | Hmm | TODO |\n",
            ["t.md:3: priority not understood, so that the gate waits as for MUST: A (line 3: 'Hmm')"],
        ),
    ],
    ids=["nothing", "status", "no status column", "no milestone", "one without", "twice", "priority"],
)
def test_one_line_each(tmp_path: Path, text: str, wanted: list[str]) -> None:
    """One warning, in one line with line numbers, for each kind of thing; none for a plain tracker."""
    assert said(tmp_path / "t.md", text) == wanted


def test_many_rows_are_counted(tmp_path: Path) -> None:
    """A hundred rows of one kind are one line, which is cut and counted."""
    [only] = said(tmp_path / "t.md", FULL + "".join(f"| R{i} | M0 | MUST | ? |\n" for i in range(100)))
    assert only.endswith("R7 (line 10: '?') and 92 more")
