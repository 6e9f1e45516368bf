"""Findings that say the same of several runs."""

from __future__ import annotations

from runherd.errors import each_once
from runherd.preflight.findings import Finding, merged


def test_alike_findings_are_one() -> None:
    """The same said of three runs is one finding that names them; a warning and a stop stay apart."""
    found = merged(
        [
            Finding("paths", "A: data does not exist", "A", hint="configs/project.yaml:3"),
            Finding("paths", "B: data does not exist", "B", hint="configs/project.yaml:3"),
            Finding("paths", "C: data does not exist", "C", stops=False, hint="configs/project.yaml:3"),
            Finding("gpu", "A asks for 2 GPUs", "A"),
            Finding("gpu", "B asks for 2 GPUs", "B"),
            Finding("disk", "the disk is full"),
            Finding("disk", "the disk is full"),
        ]
    )
    assert [(f.what, f.runs, f.stops) for f in found] == [
        ("A and B: data does not exist", ("A", "B"), True),
        ("C: data does not exist", ("C",), False),
        ("A and B: each asks for 2 GPUs", ("A", "B"), True),
        ("the disk is full", (), True),
    ]


def test_texts_that_differ_by_the_run_only_are_one() -> None:
    """The same told of two rows with their ids and lines in it: once, for any run; of one row as it is."""
    told = "t.md:{n}: {r} has no command\n  do:      write it into configs/runs/{r}.yaml"
    two = [Finding("command", told.format(n=n, r=r), r) for n, r in ((5, "A1"), (6, "A2"))]
    general = "t.md: <run id> has no command\n  do:      write it into configs/runs/<run id>.yaml\n  runs:    A1 and A2"
    assert [f.what for f in merged(two)] == [general]
    assert each_once((f.run_id or "", f.what) for f in two) == [general]
    assert [f.what for f in merged(two[:1])] == [told.format(n=5, r="A1")]
    assert each_once([("A1", told.format(n=5, r="A1"))]) == [told.format(n=5, r="A1")]
    apart = [("A", "f:1: A needs B-A, which needs A"), ("B", "f:2: B needs A"), ("B-A", "f:3: B-A needs B")]
    assert len(each_once(apart)) == 3


def test_text_of_several_problems_is_taken_apart() -> None:
    """A row with two problems shares one of them with another row: that one is said once, for both."""
    both = "f:1: shared\n  do:      mend it\nf:2: its own"
    found = merged([Finding("command", both, "A"), Finding("command", "f:1: shared\n  do:      mend it", "B")])
    assert [f.what for f in found] == [
        "f:1: shared\n  do:      mend it\n  runs:    A and B",
        "f:2: its own\n  runs:    A",
    ]
