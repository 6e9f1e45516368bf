"""The possible causes with their rank: roots before what they lead to, early before late."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace

from runherd.diagnose.catalogue import Signature
from runherd.diagnose.cause import Cause, of_signature
from runherd.diagnose.givingup import LAST_WORDS, VAGUE
from runherd.diagnose.lines import MILD
from runherd.diagnose.raising import CONSEQUENCE, PLAIN_BUGS, REPORTS, Ranked, below_of, of_traceback, place
from runherd.diagnose.scene import Scene
from runherd.diagnose.tracebacks import Raised

GRACE_LINES = 200  #: from the end; so much may a program still print that was told to end
NEAR_END = 60  #: lines; without a traceback only what stands so near to the end can be its cause
LAUNCHER = 2  #: the order of signatures that only say that something failed
LAST_RANK = 9
ABORTED, NATIVE = "aborted", "native-crash"  #: signatures of a bare abort, and of the words before one
SHELLS = ("shell-killed", "shell-terminated")  #: what a shell says of the whole command
#: Who watches over a program states facts, whatever the level of the line.
_SUPERVISOR = re.compile(
    r"\b(?:nanny|kubelet|slurmstepd|raylet|default-scheduler|YarnClusterScheduler|TaskSetManager|Evicted|NCCL WARN)\b"
)
#: Who starts its workers again: that one of them ended is no end of the run.
_RESTARTS = re.compile(r"\b(?:nanny|raylet)\b")
_SAYS_NOTHING = re.compile(r"(?i)^\W*$|\bexit(?:ed|s|ing)?(?:\W+\w+)?\W+(?:code|status)\b|\bstatus \d+\W*$|^\W*\d+\W*$")
_ERROR_LINE = re.compile(
    r"(?:^|[\s\[(|:])(?:ERROR|FATAL|CRITICAL|SEVERE|E\d{4}|F\d{4}|[Ff]atal|[Ee]rror)\b(?! ?(?:rate|s?[=:] ?0\b))(?P<text>.*)"
)


def rank_all(scene: Scene) -> list[Ranked]:
    """Return the possible causes; the least rank is the best."""
    out = [of_traceback(scene, scene.raised, n) for n in _uncaught(scene)]
    if not out and scene.raised and scene.exit.known and not scene.exit.clean:
        out += _last_word(scene)
    spoken = min((rank[2] for rank, _ in out), default=len(scene.lines))
    for i, s in _fatal(scene):
        late = CONSEQUENCE if s.id in SHELLS and i > spoken else 0  # a shell's word, after the program's own
        early = CONSEQUENCE if s.id == ABORTED and _mute_rank(scene) else 0
        out.append(((place(s) + late - early, 0, i), of_signature(s, (i,), 0.9)))
    if all(rank[0] >= CONSEQUENCE for rank, _ in out):  # what was found so far is only a consequence
        out += _near_the_end(scene, _near(scene, out))
    return out


def _mute_rank(scene: Scene) -> bool:
    """Whether the rank that failed first said nothing: it did not end for what the others tell of."""
    said = [s for i, s in scene.hits if i not in scene.inside]
    if scene.failing_rank is None or any(s.id == NATIVE or s.cls == "DISTRIBUTED" for s in said):
        return False
    return not any(r.label and scene.of_failing_rank(r) for r in scene.raised)


def _uncaught(scene: Scene) -> Iterator[int]:
    for n, raised in enumerate(scene.raised):
        followed = n + 1 < len(scene.raised) and scene.raised[n + 1].chained
        warned = (scene.exit.clean or (not scene.exit.known and _again(scene, n))) and _warned(scene, raised)
        if not followed and not warned and not scene.recovered(raised):
            yield n


def _again(scene: Scene, n: int) -> bool:
    """Whether the same was raised at the same place before."""
    return any((r.name, r.frame) == (scene.raised[n].name, scene.raised[n].frame) for r in scene.raised[:n])


def _warned(scene: Scene, raised: Raised) -> bool:
    """Whether it stands under a line of a mild level, and more than a closing bar follows: it was told, and work went on."""
    mild = raised.begin > 0 and MILD.search(scene.lines[raised.begin - 1].text) is not None
    return mild and sum(bool(line.text.strip()) for line in scene.lines[raised.end + 1 :]) > 1


def _fatal(scene: Scene) -> Iterator[tuple[int, Signature]]:
    """Yield what only a process that ends writes, or who ends it: a scheduler gives it some time to go on."""
    failed = scene.exit.known and not scene.exit.clean
    for i, signature in scene.hits:
        told = failed and signature.cls in ("STOPPED", "HARDWARE") and signature.order == 0 and i > len(scene.lines) - GRACE_LINES
        if signature.fatal and i not in scene.inside and (i > scene.last_progress or told):
            yield i, signature


def _last_word(scene: Scene) -> list[Ranked]:
    """A traceback that seems to be got over, but stands last before an end that was not well."""
    n = len(scene.raised) - 1
    if len(scene.lines) - scene.raised[n].end >= 5 * NEAR_END or scene.exit.signal is not None:
        return []
    rank, cause = of_traceback(scene, scene.raised, n)
    return [((max(rank[0], CONSEQUENCE + 1), 2, rank[2]), replace(cause, confidence=0.5))]


def _near(scene: Scene, found: Sequence[Ranked]) -> int:
    """Return from which line on a root cause may stand: before the consequences, however long their words."""
    first = min((rank[2] for rank, _ in found), default=len(scene.lines))
    return min(first, len(scene.lines)) - NEAR_END


def _near_the_end(scene: Scene, near: int) -> Iterator[Ranked]:
    """Yield what stands near the end without a traceback: signatures, lone exceptions, error lines."""
    begin = max(near, scene.last_progress + 1)
    if not scene.exit.by_itself:
        if scene.exit.signal == signal.SIGKILL:  # and memory was the last that it or its host spoke of
            said = [(i, s) for i, s in scene.hits if i >= max(begin, len(scene.lines) - LAST_WORDS) and s.cls == "OOM"]
            yield from (((2 * s.order + 1, 1, i), of_signature(s, (i,), 0.6)) for i, s in said)
        return
    told = {i for r in scene.raised for i in below_of(scene, r)} | scene.inside | {r.end for r in scene.remains}
    spoken = False
    for n, raised in enumerate(scene.remains):
        if raised.end >= begin:
            rank, cause = of_traceback(scene, scene.remains, n)
            spoken, most = True, 0.5 if raised.alone else 0.8
            vague = raised.name in VAGUE - PLAIN_BUGS and cause.signature.startswith("traceback:")
            yield ((rank[0] | 1) + vague, rank[1], rank[2]), replace(cause, confidence=min(cause.confidence, most))
    for i, signature in scene.hits:
        if i not in told and i >= begin and not signature.fatal:
            text = scene.lines[i].text
            if not scene.exit.known and (MILD.search(text) or _RESTARTS.search(text)):
                continue
            mild = MILD.search(text) is not None and not _SUPERVISOR.search(text)
            spoken = spoken or signature.order < LAUNCHER
            yield (2 * signature.order + 1 + mild, 1, i), of_signature(signature, (i,), 0.4 if mild else 0.6)
    if scene.exit.known and not scene.exit.clean and not spoken:
        yield from _error_lines(scene, begin, told)


def _error_lines(scene: Scene, begin: int, told: set[int]) -> Iterator[Ranked]:
    """Yield what error lines of a log say in general words, but for those `told`: the weakest evidence."""
    known = {i for i, _ in scene.hits}
    for i in range(max(0, begin), len(scene.lines)):
        found = _ERROR_LINE.search(scene.lines[i].text) if i not in told else None
        new = found is not None and i not in known
        family = scene.catalogue.of_exception(f"Error: {found['text'].strip(' :]')}") if found and new else None
        if family:
            yield (2 * family.order + 1, 2, i), of_signature(family, (i,), 0.4)
        elif found and i >= len(scene.lines) - LAST_WORDS and not _SAYS_NOTHING.search(found["text"]):
            yield (LAST_RANK, 2, i), _error_line(scene.lines[i].text, i)


def _error_line(text: str, i: int) -> Cause:
    said = text.strip()[:160]
    if REPORTS.search(text):
        return Cause("UNKNOWN", "error-line", f"its last error line tells only that it failed: {said}", 0.2, (i,))
    return Cause("CODE_BUG", "error-line", f"its last error line: {said}", 0.3, (i,), suggestion="Read that line.")
