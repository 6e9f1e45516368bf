"""What the last lines of a log hold: exceptions, known signatures, and how far the work went on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from runherd.diagnose import remains, tracebacks
from runherd.diagnose.catalogue import Catalogue, Signature
from runherd.diagnose.exits import Exit
from runherd.diagnose.lines import OF_A_TEST, Line
from runherd.diagnose.tracebacks import Raised
from runherd.monitor.progress import RECOVERED, Mark, is_progress, mark, series_end

SHAPE_LINES = 300  #: before and after a complaint, in which lines are compared
SHAPES = 2  #: of one shape, that make a habit
SHAPE_LETTERS = 6  #: a brace, a rule of signs or an empty line is no habit
DETAIL_LINES = 4
_NUMBERS = re.compile(r"[\d.,:%/-]+")
NOT_FINITE = 3
NORMS_NOT_FINITE = 10  #: gradient norms without a loss; a loss scale finds its level in fewer
_NORM = re.compile(
    r"(?i)grad(?:ient)?[_ ]norm['\"]?\s*(?:[:=]|is\b)\s*['\"]?(?:nan|inf)"
)  # a Trainer shows such a loss as 0
_LOSS = re.compile(r"(?i)(?<![a-z])(?:\w*_)?loss['\"]?\s*[:=\s]\s*['\"]?(?P<value>-?(?:nan|inf)\b|-?\d)")
#: Lines that count, but not work: a command with its options, what is told as an error, a bar that is cut off.
_NO_WORK = re.compile(
    r"(?:^|\s)--[\w-]*(?:epoch|step|iter|batch|sample|update|frame)[\w-]*[ =]['\"]?\d|^\W*(?:\S+ ){0,2}(?:ERROR|FATAL|CRITICAL)\b"
    r"|\d%\|[^|]*$"
)
DONE_LINES = 30
_WORK = r"(?:training|evaluation|eval|run|job|experiment|all (?:tasks|jobs|steps|items)|pipeline|benchmark)"
_DONE = re.compile(
    rf"(?i)^(?!.*\b(?<!\b0 )(?<!\bno )(?:fail|error|abort|not )).*(?:\b{_WORK}\b.{{0,20}}\b(?:completed?|finished|done|succeeded)\b"
    r"|^\W*(?:all )?(?:done|finished|completed)\b\W*(?:in|after|!|\.|$)|\b(?:model|network|run) is (?:now )?(?:trained|ready)\b)"
)
TRACKERS = ("wandb:", "mlflow:")  #: what they complain of does not end a run, but what TRACKING tells
TRACKING = "tracking-service"
REPRINT_LINES = 120  #: after a complaint, in which a bar may be printed once more as it is closed
CLOSING_STEPS = 2  #: that a bar, as it closes after a failure, may tell for the first time
RISES = 2  #: counts below the last one, since a complaint, that show work
REPRINTS = 40  #: bars of as many ranks


@dataclass(frozen=True)
class Scene:
    """The evidence. Indices are positions in `lines`."""

    lines: Sequence[Line]
    exit: Exit
    catalogue: Catalogue
    raised: Sequence[Raised]  #: whole tracebacks, in order
    remains: Sequence[Raised]  #: exceptions without one
    hits: Sequence[tuple[int, Signature]]
    complaints: frozenset[int]  #: lines of hits, of tracebacks and of exceptions without one
    inside: frozenset[int]  #: lines of tracebacks, of those too that Python itself ignored
    last_progress: int
    failing_rank: str | None = None  #: that the launcher's report names

    def recovered(self, raised: Raised) -> bool:
        """Whether work went on after it: that of its own rank, where ranks are told apart."""
        if raised.end > self.last_progress:
            return False
        if not raised.label or not self.exit.known or self.exit.clean:
            return True
        later = range(raised.end + 1, self.last_progress + 1)
        return any(raised.label in self.lines[i].text[:40] and is_progress(self.lines[i].text) for i in later)

    def of_failing_rank(self, raised: Raised) -> bool:
        """Whether the launcher's report names its rank as the first to fail."""
        return self.failing_rank in "".join(c if c.isdigit() else " " for c in raised.label).split()


def look(lines: Sequence[Line], exit_facts: Mapping[str, Any], catalogue: Catalogue) -> Scene:
    """Gather the evidence from lines and exit."""
    ended = Exit.of(exit_facts)
    found = tracebacks.find(lines)
    inside = {i for r in found for i in range(r.begin, r.end + 1)}
    raised = [r for r in found if not r.ignored]
    find = catalogue.finder()
    hits = [
        (i, s)
        for i, line in enumerate(lines)
        if line.text and not OF_A_TEST.match(line.text)
        for s in find(line.text)
        if s.id == TRACKING or not line.text.startswith(TRACKERS)
    ]
    rest = [] if ended.clean else remains.find(lines, inside)
    complaints = inside | {i for i, _ in hits if not RECOVERED.search(lines[i].text)} | {r.end for r in rest}
    last = _last_progress(lines, complaints, ended.known and not ended.clean)
    if ended.clean or not ended.known:  # what went on counting was not ended by what stands before
        last = max(last, series_end([line.text for line in lines]), _said_done(lines), _went_on(lines, complaints))
    return Scene(
        lines, ended, catalogue, raised, rest, hits, frozenset(complaints), frozenset(inside), last, _failing_rank(lines)
    )  # fmt: skip


def as_failed(scene: Scene, code: int) -> Scene:
    """The same lines of a run whose exit nobody saw, as if it had ended with this code, which is not 0."""
    ended = replace(scene.exit, code=code)
    return replace(scene, exit=ended, last_progress=_last_progress(scene.lines, scene.complaints, failed=True))


def _last_progress(lines: Sequence[Line], complaints: Set[int], failed: bool) -> int:
    """Return where the last sign of work stands; a bar that is only printed again is none."""
    reprints = 0
    for i in range(len(lines) - 1, -1, -1):
        if i in complaints or not is_progress(lines[i].text) or _NO_WORK.search(lines[i].text):
            continue
        if reprints >= REPRINTS or not _reprinted(lines, i, complaints, failed):
            return i
        reprints += 1
    return -1


def _said_done(lines: Sequence[Line]) -> int:
    """Return where a program says near its end that it did its work, or -1."""
    for i in range(len(lines) - 1, max(-1, len(lines) - 1 - DONE_LINES), -1):
        if _DONE.search(lines[i].text):
            return i
    return -1


def _went_on(lines: Sequence[Line], complaints: set[int]) -> int:
    """Return where lines of the same shapes as before the last complaint stand again, or -1."""
    near = [i for i in complaints if i >= len(lines) - SHAPE_LINES]
    if not near:
        return -1
    last = max(near)
    before = range(max(0, last - SHAPE_LINES), last)
    shapes = Counter(_shape(lines[i].text) for i in before if not _said_below(i, complaints))
    again = [i for i in range(last + 1, len(lines)) if shapes[_shape(lines[i].text)] >= SHAPES]
    again = [i for i in again if _shape(lines[i].text)]
    return again[-1] if len(again) >= SHAPES else -1


def _said_below(at: int, complaints: set[int]) -> bool:
    """Whether a line stands right under a complaint, whose further words it may be."""
    return any(i in complaints for i in range(at - DETAIL_LINES, at))


def _shape(text: str) -> str:
    """Return a line without its numbers; empty where it holds too few letters to tell it from others."""
    shape = _NUMBERS.sub("#", text[:120]).strip()
    return shape if sum(c.isalpha() for c in shape) >= SHAPE_LETTERS else ""


def _reprinted(lines: Sequence[Line], at: int, complaints: Set[int], failed: bool) -> bool:
    """Whether this line counts no further than one before the last complaint did.

    Where nothing before can be compared, one lone bar is taken as printed again if the run has failed.
    """
    now = None if RECOVERED.search(lines[at].text) else mark(lines[at].text)
    if now is None or (now.total is None and now.unit != "bar"):
        return False
    complaint = next((i for i in range(at - 1, max(-1, at - REPRINT_LINES), -1) if i in complaints), None)
    if complaint is None:
        return False
    if now.done == 0:
        return True
    since = [m.done for i in range(complaint + 1, at) if (m := mark(lines[i].text)) and _alike(m, now)]
    if len({n for n in since if n < now.done}) >= RISES:
        return False  # it counts on, if only in another epoch
    for i in range(complaint - 1, max(-1, complaint - 2 * REPRINT_LINES), -1):
        before = mark(lines[i].text)
        if before is None or not _alike(before, now):
            continue
        if i in complaints:  # a bar may stand before the words on one line
            if now.unit == "bar" and now.done <= before.done:
                return True
        else:
            lone = CLOSING_STEPS if failed and not since else 0
            return now.done <= before.done + lone
    return failed and now.unit == "bar" and not since


def _alike(one: Mark, other: Mark) -> bool:
    return (one.unit, one.total) == (other.unit, other.total)


def diverged(scene: Scene) -> int | None:
    """Return the line of the last loss, where the last three that were reported are not finite."""
    seen, norms = [], []
    for i in range(len(scene.lines) - 1, max(-1, len(scene.lines) - 1 - SHAPE_LINES), -1):
        found = _LOSS.search(scene.lines[i].text)
        if found:
            zero = found["value"].strip("-'\"") == "0" and _NORM.search(scene.lines[i].text)
            if found["value"].lower().lstrip("-") not in ("nan", "inf") and not zero:
                return None
            seen.append(i)
            if len(seen) == NOT_FINITE:
                return seen[0]
        elif _NORM.search(scene.lines[i].text):
            norms.append(i)
            if len(norms) == NORMS_NOT_FINITE:
                return norms[0]
    return None


def finite_since(scene: Scene, at: int) -> bool:
    """Whether a loss that is a number was reported after a line."""
    found = (_LOSS.search(line.text) for line in scene.lines[at + 1 :])
    return any(f["value"].lower().lstrip("-") not in ("nan", "inf") for f in found if f)


def _failing_rank(lines: Sequence[Line]) -> str | None:
    """Return the rank that torchrun's report names as the first to fail."""
    for i, line in enumerate(lines):
        if "Root Cause (first observed failure)" in line.text:
            for later in lines[i : i + 8]:
                if "rank" in later.text and ":" in later.text:
                    digits = later.text.partition(":")[2].split("(")[0].strip()
                    if digits.isdigit():
                        return digits
    return None
