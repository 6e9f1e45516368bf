"""Why a run ended: a decision over its last lines and its exit, pure and explained.

The order of belief: what the operating system or the scheduler says; the first
cause (not its cascade) after the last progress; a traceback that ended the
process; the bare exit code. Whatever the program recovered from does not count.
"""

from __future__ import annotations

import signal as signals
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runherd.diagnose import tracebacks
from runherd.diagnose.catalogue import Catalogue, Signature
from runherd.diagnose.lines import Line
from runherd.diagnose.tracebacks import Frame, Raised
from runherd.monitor.progress import RECOVERED, is_progress, series_end

OWN_SIGNALS = frozenset({4, 6, 7, 8, 11})  #: that a process raises by its own fault
NEAR_END = 60  # lines; without a traceback only what stands so near to the end can be its cause
EVIDENCE_CHARS = 300
TIMEOUT_CODE = 124  #: of the command "timeout", which says nothing else


@dataclass(frozen=True)
class Exit:
    """How the process ended; all None when nobody knows."""

    code: int | None = None
    signal: int | None = None
    oom_kill: bool = False  #: the kernel or the cgroup killed it for memory
    sent_by: str | None = None  #: "runherd" or "scheduler", where one of them sent the signal
    timed_out: bool = False  #: the run's own time limit

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Exit:
        """Read exit facts; a negative code, or one above 128, is a signal."""
        code, signal = facts.get("code"), facts.get("signal")
        code = code if code is not None else facts.get("exit_code")
        if signal is None and isinstance(code, int):
            if code < 0:
                signal, code = -code, None
            elif 128 < code < 160:
                signal = code - 128
        if isinstance(signal, str):
            signal = getattr(signals, signal if signal.startswith("SIG") else f"SIG{signal}", None)
        number = int(signal) if signal is not None else None
        sent_by, timed_out = facts.get("sent_by"), bool(facts.get("timed_out"))
        return cls(code, number, bool(facts.get("oom_kill")), sent_by, timed_out)

    @property
    def known(self) -> bool:
        return self.code is not None or self.signal is not None

    @property
    def clean(self) -> bool:
        return self.code == 0 and self.signal is None

    def __str__(self) -> str:
        if self.signal is not None:
            return f"ended by {signal_name(self.signal)}"
        return "its exit is not known" if self.code is None else f"ended with exit code {self.code}"


def signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


@dataclass(frozen=True)
class Cause:
    """A decided cause, before it is dressed as a diagnosis."""

    cls: str
    signature: str
    summary: str
    confidence: float
    lines: tuple[int, ...] = ()  #: indices of the evidence
    raised: Raised | None = None
    frame: Frame | None = None
    suggestion: str = ""
    restart: str = "maybe"


@dataclass
class _Scene:
    lines: Sequence[Line]
    exit: Exit
    raised: list[Raised]
    last_progress: int
    hits: list[tuple[int, Signature]]
    failing_rank: str | None = None
    reasons: list[str] = field(default_factory=list)


def decide(lines: Sequence[Line], exit_facts: Mapping[str, Any], catalogue: Catalogue) -> Cause:
    """Decide why a run with these last lines and this exit ended."""
    ended = Exit.of(exit_facts)
    scene = _look(lines, ended, catalogue)
    by_system = _system(scene, catalogue)
    if by_system:
        return by_system
    candidates = _candidates(scene)
    if ended.clean:
        return _clean(scene, candidates)
    if candidates:
        return min(candidates, key=lambda c: c[0])[1]
    if ended.signal is not None:
        return _signalled(scene, catalogue)
    return _unknown(scene)


def _look(lines: Sequence[Line], ended: Exit, catalogue: Catalogue) -> _Scene:
    raised = tracebacks.find(lines)
    inside = {i for r in raised for i in range(r.begin, r.end + 1)}
    hits = [(i, s) for i, line in enumerate(lines) if line.text for s in catalogue.of_line(line.text)]
    complaints = inside | {i for i, _ in hits if not RECOVERED.search(lines[i].text)}
    last = next((i for i in range(len(lines) - 1, -1, -1) if i not in complaints and is_progress(lines[i].text)), -1)
    if ended.clean or not ended.known:  # what went on counting was not ended by what stands before
        last = max(last, series_end([line.text for line in lines]))
    return _Scene(lines, ended, raised, last, hits, _failing_rank(lines))


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


def _system(scene: _Scene, catalogue: Catalogue) -> Cause | None:
    """What is certain from outside of the program."""
    if scene.exit.oom_kill and "host-oom" in catalogue.by_id:
        return _of_signature(catalogue.by_id["host-oom"], scene, (), 0.98)
    if scene.exit.timed_out:
        text = "reached the time limit that is configured for it"
        return Cause("DEAD", "time-limit", text, 0.98, suggestion="Raise execution.wall_time.", restart="yes")
    return None


def _candidates(scene: _Scene) -> list[tuple[tuple[int, int, int], Cause]]:
    """Return the possible causes with their rank: root causes before consequences, early before late."""
    out: list[tuple[tuple[int, int, int], Cause]] = []
    inside: set[int] = set()
    for n, raised in enumerate(scene.raised):
        inside.update(range(raised.begin, raised.end + 1))
        if raised.end > scene.last_progress and not _followed_by_link(scene, n):
            out.append(_of_traceback(scene, n))
    if not out and not scene.exit.clean and scene.raised and scene.exit.known:
        n = len(scene.raised) - 1
        if len(scene.lines) - scene.raised[n].end < 5 * NEAR_END and scene.exit.signal is None:
            rank, cause = _of_traceback(scene, n)
            out.append((rank, replace(cause, confidence=0.5)))
    near = len(scene.lines) - NEAR_END
    leads_only = all(rank[0] >= 2 for rank, _ in out)  # what was found so far is only a consequence
    by_itself = scene.exit.signal is None or scene.exit.signal in OWN_SIGNALS
    for i, signature in scene.hits:
        if i in inside or i <= scene.last_progress:
            continue
        if signature.fatal or (leads_only and i >= near and by_itself):
            confidence = 0.9 if signature.fatal else 0.6
            order = 2 * signature.order + (not signature.fatal)
            out.append(((order, 1, i), _of_signature(signature, scene, (i,), confidence)))
    return out


def _followed_by_link(scene: _Scene, n: int) -> bool:
    return n + 1 < len(scene.raised) and scene.raised[n + 1].chained


def _of_traceback(scene: _Scene, n: int) -> tuple[tuple[int, int, int], Cause]:
    """Judge a traceback by the first exception of its chain that a signature knows."""
    first = n
    while first > 0 and scene.raised[first].chained:
        first -= 1
    chain = scene.raised[first : n + 1]
    known = [(s, r) for r in chain for s in _signatures_in(scene, r)]
    known.sort(key=lambda pair: pair[0].order)
    origin = known[0][1] if known else chain[0]
    frame = _frame(origin, chain)
    elsewhere = int(scene.failing_rank is not None and origin.label != "" and not _is_rank(origin, scene))
    if known and not (known[0][0].order == 2 and len(chain) > 1 and chain[0] is not known[0][1]):
        signature = known[0][0]
        cause = _of_signature(signature, scene, (origin.end,), 0.95, origin, frame)
        return (2 * signature.order, elsewhere, origin.begin), cause
    where = f" at {frame.file}:{frame.line}" if frame else ""
    place = f"@{frame.file.rpartition('/')[2]}:{frame.line}" if frame else ""
    cause = Cause(
        "CODE_BUG",
        f"traceback:{origin.name}{place}",
        f"{origin.text[:200]}{where}",
        0.9 if scene.exit.known else 0.8,
        (origin.end,),
        origin,
        frame,
        f"Read {frame.file}:{frame.line} and mend it; a restart would fail again."
        if frame
        else "Mend the code.",
        "no",
    )
    # The parts of a group follow, and one of them is the cause; SystemExit is a choice, and not its reason.
    later = origin.name.endswith("ExceptionGroup") or origin.name == "SystemExit"
    return (4 if later else 0, elsewhere, origin.begin), cause


def _is_rank(raised: Raised, scene: _Scene) -> bool:
    return scene.failing_rank in "".join(c if c.isdigit() else " " for c in raised.label).split()


def _signatures_in(scene: _Scene, raised: Raised) -> list[Signature]:
    """Signatures that the exception's own lines show (frames and source lines do not count)."""
    end = raised.end + tracebacks.MESSAGE_LINES
    shown = [
        s for i, s in scene.hits if raised.end <= i <= end and (i == raised.end or _goes_on(scene, raised, i))
    ]
    return shown


def _goes_on(scene: _Scene, raised: Raised, i: int) -> bool:
    """Whether the message goes on in indented lines, or below a rule of signs, up to here."""
    between = (tracebacks.unlabelled(scene.lines[j].text) for j in range(raised.end + 1, i + 1))
    return all(text.startswith((" ", "\t")) or not text.strip("*-=~# ") for text in between)


def _frame(origin: Raised, chain: Sequence[Raised]) -> Frame | None:
    if origin.frame and origin.frame.is_user:
        return origin.frame
    return next((r.frame for r in chain if r.frame and r.frame.is_user), origin.frame)


def _of_signature(
    signature: Signature,
    scene: _Scene,
    lines: tuple[int, ...],
    confidence: float,
    raised: Raised | None = None,
    frame: Frame | None = None,
) -> Cause:
    where = f" at {frame.file}:{frame.line}" if frame else ""
    said = f": {raised.text[:160]}" if raised else ""
    summary = f"{signature.cause}{where}{said}"
    return Cause(
        signature.cls,
        signature.id,
        summary,
        confidence,
        lines,
        raised,
        frame,
        signature.remedy,
        signature.restart,
    )


def _clean(scene: _Scene, candidates: list[tuple[tuple[int, int, int], Cause]]) -> Cause:
    tracebacks_only = [c for c in candidates if c[1].raised is not None]
    if tracebacks_only:
        cause = min(tracebacks_only, key=lambda c: c[0])[1]
        text = f"ended with exit code 0, but its last words are: {cause.summary}"
        return replace(cause, summary=text, confidence=0.5)
    return Cause("COMPLETE", "clean-exit", "ended with exit code 0", 0.95, restart="no")


_SIGNALS = {
    9: ("DEAD", "sigkill", "killed by SIGKILL; nothing in the log says by whom", "yes"),
    15: ("STOPPED", "sigterm", "stopped by SIGTERM", "maybe"),
    2: ("STOPPED", "sigint", "stopped by SIGINT (Ctrl-C)", "no"),
    1: ("DEAD", "sighup", "ended by SIGHUP: its terminal went away", "yes"),
    11: ("CODE_BUG", "sigsegv", "segmentation fault", "maybe"),
    7: ("ENVIRONMENT", "sigbus", "bus error (shared memory full, or a mapped file shrank)", "no"),
    6: ("CODE_BUG", "sigabrt", "aborted itself (SIGABRT)", "no"),
    4: ("ENVIRONMENT", "sigill", "illegal instruction: built for another processor", "no"),
    8: ("CODE_BUG", "sigfpe", "arithmetic fault (SIGFPE)", "no"),
    24: ("DEAD", "sigxcpu", "CPU time limit reached (SIGXCPU)", "no"),
    25: ("ENVIRONMENT", "sigxfsz", "file size limit reached (SIGXFSZ)", "no"),
    10: ("DEAD", "sigusr", "ended by SIGUSR1, as schedulers send before a limit", "yes"),
    12: ("DEAD", "sigusr", "ended by SIGUSR2, as schedulers send before a limit", "yes"),
}
_ADVICE = {
    "sigkill": "Look at the kernel log for the OOM killer, and at who else may have killed it.",
    "sigterm": "Find out who stopped it; set the row to TODO to go on from the checkpoint.",
    "sigint": "Set the row to TODO to go on from the checkpoint.",
    "sigsegv": "Run once with PYTHONFAULTHANDLER=1 to see where.",
    "sigbus": "Make /dev/shm larger or use fewer data-loader workers.",
}


def _signalled(scene: _Scene, catalogue: Catalogue) -> Cause:
    number = scene.exit.signal or 0
    if number in (9, 15) and scene.exit.sent_by:
        text = f"{signal_name(number)} was sent by {scene.exit.sent_by}"
        return Cause("DEAD", f"signal-from-{scene.exit.sent_by}", text, 0.95, restart="yes")
    fallback = ("DEAD", f"signal-{number}", f"ended by {signal_name(number)}", "maybe")
    cls, name, text, restart = _SIGNALS.get(number, fallback)
    return Cause(cls, name, text, 0.8, suggestion=_ADVICE.get(name, ""), restart=restart)


def _unknown(scene: _Scene) -> Cause:
    last = [i for i, line in enumerate(scene.lines) if line.text.strip()][-5:]
    if not scene.exit.known and (scene.last_progress >= 0 or not scene.hits):
        text = "nothing in its last lines tells of a failure"
        return Cause("HEALTHY", "no-failure-seen", text, 0.6, tuple(last), restart="no")
    if scene.exit.code == TIMEOUT_CODE:
        text = f'{scene.exit}, as the command "timeout" does at its limit'
        return Cause("DEAD", "timeout-command", text, 0.6, tuple(last), suggestion="Give it more time.")
    advice = "Read the last lines; add a signature for them if they say why."
    text = f"{scene.exit}; its last lines do not say why"
    return Cause("UNKNOWN", "unknown", text, 0.2, tuple(last), suggestion=advice, restart="maybe")
