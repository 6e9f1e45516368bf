"""The one line that a look prints, and the exit code that goes with it."""

from __future__ import annotations

from collections.abc import Mapping

from runherd import exitcodes
from runherd.monitor.classify import Judgement
from runherd.monitor.evidence import Evidence
from runherd.monitor.howfar import plural
from runherd.words import ago

EXIT = {
    "HEALTHY": exitcodes.OK,
    "COMPLETE": exitcodes.OK,
    "GPU_IDLE": exitcodes.RUNNING,
    "HIGH_NULL_RATE": exitcodes.RUNNING,
    "BLOCKED": exitcodes.BLOCKED,
    "WAITING": exitcodes.RUNNING,
    "UNKNOWN": exitcodes.NEEDS_PERSON,
}


def exit_code(judgement: Judgement) -> int:
    """Healthy or done 0, at work with a warning 3, unknown 5, everything else 1."""
    return EXIT.get(judgement.state, exitcodes.FAILED)


def progress_text(e: Evidence) -> str | None:
    """Return "85/140 (60.7%)", "140/140" at the end, or what else is known."""
    if e.done is None:
        return None
    if not e.total:
        return f"{e.done} {plural(e.done, e.unit)}"
    if e.done >= e.total:
        return f"{e.done}/{e.total}"
    return f"{e.done}/{e.total} ({100 * e.done / e.total:.1f}%)"


def one_line(e: Evidence, judgement: Judgement, name: str | None = None) -> str:
    """Return the status line; `name` stands in it only where several runs are shown."""
    parts = [f"[Monitor] {judgement.state}" + (f" {name}" if name else "")]
    progress = progress_text(e)
    if progress:
        parts.append(progress)
    accuracy = e.result.accuracy if e.result else None
    complete = judgement.state == "COMPLETE"
    if accuracy is not None:
        parts.append(f"{'Accuracy' if complete else 'Acc'}: {accuracy * 100:.1f}%")
    elif e.losses:
        parts.append("Loss: nan" if e.losses[-1] is None else f"Loss: {e.losses[-1]:.4g}")
    if not complete or (e.result and e.result.nulls):
        if e.result:
            parts.append(f"Nulls: {e.result.nulls}" + _rate(e, judgement))
        if e.log_age_s is not None:
            parts.append(f"Log: {ago(e.log_age_s)}")
    who = _who(e, judgement.state)
    if who:
        parts.append(who)
    if e.wandb is not None:
        from runherd.monitor.wandb import shown

        parts.append(shown(e.wandb))
    if judgement.state not in ("HEALTHY", "COMPLETE") or judgement.sentence.startswith("suspected"):
        parts.append(judgement.sentence)
    return " | ".join(parts)


def _who(e: Evidence, state: str) -> str | None:
    """Who is at work, where nobody said: the process that was found, or that none is known."""
    if e.own or e.wandb is not None or state in ("COMPLETE", "BLOCKED", "WAITING", "UNKNOWN"):
        return None
    return "process unknown" if e.process == "unknown" else e.writer


def _rate(e: Evidence, judgement: Judgement) -> str:
    if judgement.state != "HIGH_NULL_RATE" or e.result is None:
        return ""
    return f" ({100 * e.result.nulls / e.result.items:.1f}%)"


def sign_lines(signs: Mapping[str, str]) -> list[str]:
    """Return a line per sign: what a reader should know, though it makes no state."""
    return [f"  sign:    {sentence}" for sentence in signs.values()]


#: What a reader is told of an action whose name says too little.
SAID = {"ask": "a person must look", "look_again": "none yet: the next look decides"}


def explained(judgement: Judgement) -> list[str]:
    """Return the lines that follow when a run is not healthy: why, what next, what would change it."""
    action = SAID.get(judgement.action, judgement.action.replace("_", " "))
    if judgement.state == "UNKNOWN" and judgement.action == "look_again":
        action = "a person must look, if the next look says the same"
    lines = [f"  why:     {line}" for line in judgement.evidence if line not in judgement.sentence]
    lines.append(f"  action:  {action}")
    lines.append(f"  changes: {judgement.what_would_change_it}")
    return lines
