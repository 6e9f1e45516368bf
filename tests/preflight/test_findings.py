"""Findings that say the same of several runs."""

from __future__ import annotations

from runherd.preflight.findings import Finding, merged


def test_alike_findings_are_one() -> None:
    """The same said of three runs is one finding that names them; a warning and a stop stay apart."""
    found = merged(
        [
            Finding("paths", "A: data does not exist", "A", hint="configs/project.yaml:3"),
            Finding("paths", "B: data does not exist", "B", hint="configs/project.yaml:3"),
            Finding("paths", "C: data does not exist", "C", stops=False, hint="configs/project.yaml:3"),
            Finding("gpu", "A asks for 2 GPU(s)", "A"),
            Finding("gpu", "B asks for 2 GPU(s)", "B"),
            Finding("disk", "the disk is full"),
            Finding("disk", "the disk is full"),
        ]
    )
    assert [(f.what, f.runs, f.stops) for f in found] == [
        ("A and B: data does not exist", ("A", "B"), True),
        ("C: data does not exist", ("C",), False),
        ("A and B: each asks for 2 GPU(s)", ("A", "B"), True),
        ("the disk is full", (), True),
    ]


def test_text_of_several_problems_is_taken_apart() -> None:
    """A row with two problems shares one of them with another row: that one is said once, for both."""
    both = "f:1: shared\n  do:      mend it\nf:2: its own"
    found = merged([Finding("command", both, "A"), Finding("command", "f:1: shared\n  do:      mend it", "B")])
    assert [f.what for f in found] == [
        "f:1: shared\n  do:      mend it\n  runs:    A and B",
        "f:2: its own\n  runs:    A",
    ]
