"""Why a run ended: a decision over its last lines and its exit, pure and explained.

The order of belief: what the operating system or the scheduler says; the first
cause (not its cascade) after the last progress; a traceback that ended the
process; the bare exit code. Whatever the program recovered from does not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from runherd.diagnose import exits
from runherd.diagnose.candidates import NEAR_END, rank_all
from runherd.diagnose.catalogue import Catalogue, Signature
from runherd.diagnose.cause import Cause, of_signature
from runherd.diagnose.givingup import FROM_OUTSIDE, LAST_WORDS, gave_up
from runherd.diagnose.lines import MILD, Line
from runherd.diagnose.peer import told_apart
from runherd.diagnose.raising import REPORT, Ranked
from runherd.diagnose.scene import Scene, as_failed, diverged, finite_since, look
from runherd.monitor.progress import RECOVERED, mark

NO_FAILURE = ("HEALTHY", "COMPLETE")
ASSUMED_CODE = 1  #: of a run whose log tells that it failed, and whose exit nobody saw
LAST_LINES = 5  #: shown where nothing says why
CLOSING_COUNTS = 2  #: that a program may still tell as it closes
REFUSALS = 5  #: of one kind, before a result that is no number
_CTRL_C = re.compile(r"(?i)keyboard ?interrupt|ctrl[-+ ]c|\bsigint\b")
_STOPS = re.compile(r"(?i)\b(?:terminat|stop|abort|exit|halt)")
_NO_NUMBER = re.compile(
    r"(?i)(?:acc|scor|f1|bleu|roug.|relevan|faithful|precision|recall|correct|reward|match|pass@|similar|mean|average|rate\b)"
    r"\w*[\"']?\s*[:=]\s*(?:nan|null|none)\b"
)


def decide(lines: Sequence[Line], exit_facts: Mapping[str, Any], catalogue: Catalogue) -> Cause:
    """Decide why a run with these last lines and this exit ended."""
    scene = look(lines, exit_facts, catalogue)
    cause = _decide(scene)
    if cause.cls in NO_FAILURE or scene.exit.known:
        return cause
    # a failure ended it, so its exit was not clean: with that known, lines of a milder level count too
    ended = _decide(as_failed(scene, ASSUMED_CODE))
    return cause if ended.cls == "UNKNOWN" else replace(ended, confidence=min(ended.confidence, cause.confidence))


def _decide(scene: Scene) -> Cause:
    by_system = _system(scene)
    if by_system:
        return by_system
    ranked = rank_all(scene)
    if scene.exit.clean:
        return told_apart(scene, _nothing_came(scene) or _stopped_in_order(scene) or _clean(ranked))
    best = min(ranked, key=lambda pair: pair[0]) if ranked else None
    if best is None or best[0][0] >= REPORT:
        by_loss = _diverged(scene)
        if by_loss:
            return by_loss
        in_vain = gave_up(scene)
        if in_vain:
            return told_apart(scene, in_vain)
    if best:
        return told_apart(scene, best[1])
    if scene.exit.signal is not None:
        return _signalled(scene)
    return _unknown(scene)


def _system(scene: Scene) -> Cause | None:
    """What is certain from outside of the program."""
    by_id = scene.catalogue.by_id
    if scene.exit.oom_kill and "host-oom" in by_id:
        return of_signature(by_id["host-oom"], (), 0.98)
    if scene.exit.timed_out:
        text = "reached the time limit that is configured for it"
        return Cause("STOPPED", "time-limit", text, 0.98, suggestion="Raise execution.wall_time.", restart="yes")
    return None


def _diverged(scene: Scene) -> Cause | None:
    """The losses that were reported last, where nothing better is known and nobody stopped it."""
    signature = scene.catalogue.by_id.get("loss-not-finite")
    at = diverged(scene) if scene.exit.by_itself and signature else None
    return of_signature(signature, (at,), 0.7) if signature and at is not None else None


def _nothing_came(scene: Scene) -> Cause | None:
    """A refusal that was told again and again right before a result that is no number, though the code is 0."""
    last = [i for i, line in enumerate(scene.lines) if line.text.strip()][-LAST_LINES:]
    if not any(_NO_NUMBER.search(scene.lines[i].text) for i in last):
        return None
    near = [(i, s) for i, s in scene.hits if i >= last[0] - NEAR_END and s.cls in FROM_OUTSIDE]
    told = [(i, s) for i, s in near if s is near[-1][1] and not MILD.search(scene.lines[i].text)]
    if len(told) < REFUSALS or any(RECOVERED.search(line.text) for line in scene.lines[told[-1][0] + 1 :]):
        return None
    cause = of_signature(told[-1][1], (told[0][0], last[-1]), 0.5)
    return replace(cause, summary=f"ended with exit code 0 and without a result: {cause.summary}")


def _stopped_in_order(scene: Scene) -> Cause | None:
    """What a program says near its end that it stops for, though its code is 0: losses that are no numbers, a Ctrl-C."""
    for i, signature in reversed(scene.hits):
        if i < len(scene.lines) - LAST_WORDS:
            break
        told = signature.cls == "DIVERGED" and _STOPS.search(scene.lines[i].text) is not None
        if (told and not finite_since(scene, i)) or (signature.cls == "STOPPED" and _left_off(scene, i, signature)):
            return of_signature(signature, (i,), 0.6)
    return _diverged(scene)


def _left_off(scene: Scene, at: int, signature: Signature) -> bool:
    """Whether it was told to stop and did: nothing was done after that line, or, after a Ctrl-C, its count is not full."""
    if signature.order > 1 or at >= scene.last_progress:
        return signature.order <= 1
    counts = [found for line in scene.lines[at:] if (found := mark(line.text)) and found.total]
    closing = len(counts) <= CLOSING_COUNTS and all(c.done < (c.total or 0) for c in counts)
    return _CTRL_C.search(scene.lines[at].text) is not None and closing


def _clean(ranked: list[Ranked]) -> Cause:
    raised = [pair for pair in ranked if pair[1].raised is not None and not pair[1].raised.alone]
    if raised:
        cause = min(raised, key=lambda pair: pair[0])[1]
        text = f"ended with exit code 0, but its last words are: {cause.summary}"
        return replace(cause, summary=text, confidence=0.5)
    return Cause("COMPLETE", "clean-exit", "ended with exit code 0", 0.95, restart="no")


def _signalled(scene: Scene) -> Cause:
    number = scene.exit.signal or 0
    if number in (9, 15) and scene.exit.sent_by:
        text = f"{exits.signal_name(number)} was sent by {scene.exit.sent_by}"
        return Cause("STOPPED", f"signal-from-{scene.exit.sent_by}", text, 0.95, restart="yes")
    end = exits.of_signal(number)
    return Cause(end.cls, end.signature, end.text, 0.8, suggestion=end.advice, restart=end.restart)


def _unknown(scene: Scene) -> Cause:
    last = tuple([i for i, line in enumerate(scene.lines) if line.text.strip()][-LAST_LINES:])
    if not scene.exit.known:
        text = "nothing in its last lines tells of a failure"
        return Cause("HEALTHY", "no-failure-seen", text, 0.6, last, restart="no")
    if scene.exit.code == exits.TIMEOUT_CODE:
        text = f'{scene.exit}, as the command "timeout" does at its limit'
        return Cause("STOPPED", "timeout-command", text, 0.6, last, suggestion="Give it more time.")
    never_ran = exits.NEVER_RAN.get(scene.exit.code or 0)
    if never_ran:
        text = f"{scene.exit}: {never_ran.text}"
        return Cause(never_ran.cls, never_ran.signature, text, 0.6, last, suggestion=never_ran.advice, restart="no")
    advice = "Read the last lines; add a signature for them if they say why."
    text = f"{scene.exit}; its last lines do not say why"
    return Cause("UNKNOWN", "unknown", text, 0.2, last, suggestion=advice, restart="maybe")
