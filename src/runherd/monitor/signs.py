"""Signs that do not make a state but that a reader should know: about the training and the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runherd.monitor.curves import leaves_baseline, off_schedule
from runherd.monitor.evidence import Evidence
from runherd.monitor.howfar import ITEMS
from runherd.words import listing

SAME_ANSWER = 0.6  #: as the bias bound of the validation
PLACEHOLDERS = 3  #: so many, and more than PLACEHOLDER_SHARE of the items
PLACEHOLDER_SHARE = 0.02
SETTLED_S = 30  #: a result younger than this may still be written
FALL = 0.10  #: of the accuracy below its best, over at least FALL_ITEMS items
FALL_ITEMS = 50
PLATEAU = 40  #: losses that differ by less than PLATEAU_SHARE
PLATEAU_SHARE = 0.002
SPIKE = 5.0  #: times the median
CONSTANT = ("constant", "none")
FALLING = ("cosine", "linear", "polynomial", "exponential", "inverse_sqrt", "cosine_with_restarts")


def signs(
    e: Evidence,
    spec: Mapping[str, Any],
    accuracy: Sequence[Sequence[float]],
    baseline: Sequence[tuple[int, float]] = (),
) -> dict[str, str]:
    """Return one sentence per sign, by its name.

    `accuracy` holds [items, accuracy] of earlier looks, `baseline` the (step,
    loss) of the baseline's curve.
    """
    monitor = spec.get("monitor") or {}
    declared = declared_schedule(monitor.get("lr") or {}, spec.get("params") or {})
    found = {
        "PROCESS": e.stranger,
        "LOG": f"the log {'; the log '.join(e.unread)}" if e.unread else None,
        "CHECKPOINT": f"the checkpoint {'; the checkpoint '.join(f'{p} is not there' for p in e.absent)}" if e.absent else None,
        "RESULT": f"{listing(e.broken)} {'is' if len(e.broken) == 1 else 'are'} not whole JSON yet" if e.broken else None,
        "COUNT": e.disagreement,
        "MORE": _more(e),
        "AGAIN": f"{e.result.again} of {e.result.items} items have an id that an earlier one has" if e.result and e.result.again else None,
        "SAME_ANSWER": _same_answer(e),
        "PLACEHOLDERS": _placeholders(e),
        "SKIPPED": _skipped(e),
        "ACCURACY_FALLS": _falling(accuracy),
        "PLATEAU": _plateau(e),
        "SPIKE": _spike(e),
        "LR_SCHEDULE": off_schedule(e.points, declared) if declared.get("schedule") else _schedule(e, spec),
        "WANDB": _wandb(e),
        "BASELINE_LEFT": leaves_baseline(e.points, baseline, monitor.get("baseline") or {}),
    }
    return {name: sentence for name, sentence in found.items() if sentence}


def _wandb(e: Evidence) -> str | None:
    if e.wandb is None:
        return None
    from runherd.monitor.wandb import sentence

    return sentence(e.wandb, e.process)


#: keys of `monitor.lr` -> names of the same under `params:`, for what is not declared
USUAL = {
    "peak": ("lr", "learning_rate"),
    "total": ("max_steps", "total_steps", "steps"),
    "warmup": ("warmup_steps", "warmup_ratio", "warmup"),
}


def declared_schedule(lr: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return `monitor.lr`, with what it leaves out taken from the usual names under `params:`."""
    out = dict(lr)
    for key, names in USUAL.items():
        if out.get(key) is None:
            out[key] = next((params[n] for n in names if isinstance(params.get(n), int | float)), None)
    return out


def _more(e: Evidence) -> str | None:
    if e.result is None or e.expected is None or e.result.items <= e.expected:
        return None
    return f"the result holds {e.result.items} items, {e.expected} are expected"


def _same_answer(e: Evidence) -> str | None:
    if e.result is None or e.result.top_answer is None:
        return None
    answer, n = e.result.top_answer
    valid = e.result.items - e.result.nulls
    if valid < 20 or n <= SAME_ANSWER * valid:
        return None
    return f"one answer, {answer!r}, is {n} of {valid} so far"


def _placeholders(e: Evidence) -> str | None:
    """Answers that a program writes where a call failed look like answers, and no null rate sees them."""
    r = e.result
    if r is None or r.placeholders < PLACEHOLDERS or r.placeholders <= PLACEHOLDER_SHARE * r.items:
        return None
    return f"{r.placeholders} of {r.items} answers stand for a failed call, as {r.placeholder!r}"


def _skipped(e: Evidence) -> str | None:
    r = e.result
    if r is None:
        return None
    if r.skipped:
        return f"{r.skipped} of {r.items} items {'is' if r.skipped == 1 else 'are'} skipped"
    count = e.counters.get("progress")
    if not count or count["unit"] not in ITEMS or not count["total"] or count["done"] < count["total"]:
        return None
    missing = count["total"] - r.items
    still = e.result_age_s is None or e.result_age_s > SETTLED_S
    return f"the log has counted all {count['total']}, the result holds {r.items}" if missing > 0 and still else None


def _falling(accuracy: Sequence[Sequence[float]]) -> str | None:
    late = [value for items, value in accuracy if items >= FALL_ITEMS]
    if len(late) < 3 or late[-1] > max(late) - FALL or late[-1] > late[-2]:
        return None
    return f"the accuracy fell from {max(late) * 100:.1f}% to {late[-1] * 100:.1f}%"


def _plateau(e: Evidence) -> str | None:
    recent = [x for x in e.losses[-PLATEAU:] if x is not None]
    if len(recent) < PLATEAU or max(recent) - min(recent) > PLATEAU_SHARE * abs(max(recent)):
        return None
    return f"the loss has stayed at {recent[-1]:.4g} for {len(recent)} reports"


def _spike(e: Evidence) -> str | None:
    recent = [x for x in e.losses if x is not None]
    if len(recent) < 10:
        return None
    middle = sorted(recent)[len(recent) // 2]
    if middle <= 0 or recent[-1] <= SPIKE * middle:
        return None
    return f"the loss jumped to {recent[-1]:.4g}, {recent[-1] / middle:.0f} times its median"


def _schedule(e: Evidence, spec: Mapping[str, Any]) -> str | None:
    """Compare what the learning rate does with what the configuration says."""
    rates = e.counters.get("rates") or []
    if len(rates) < 20:
        return None
    if max(rates[-20:]) == 0:
        return "the learning rate is 0"
    params = spec.get("params") or {}
    named = next((params[k] for k in ("lr_scheduler_type", "lr_scheduler", "scheduler") if k in params), None)
    share = e.share_done() or 0.0
    moves = max(rates) - min(rates) > 1e-3 * max(rates)
    if isinstance(named, str) and named.lower() in FALLING and not moves and share > 0.3:
        return f"the schedule is {named}, but the learning rate stays at {rates[-1]:.3g}"
    if isinstance(named, str) and named.lower() in CONSTANT and moves:
        return f"the schedule is {named}, but the learning rate went from {rates[0]:.3g} to {rates[-1]:.3g}"
    return None
