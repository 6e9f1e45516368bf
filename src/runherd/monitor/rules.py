"""The rules of the decision: each sees one state in the signs of a look, or nothing. Pure.

In order of weight: the end first, then what stops a run, then what only warns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from runherd.monitor.evidence import Evidence
from runherd.monitor.howfar import plural
from runherd.words import span

BLOW_UP = 10.0  #: times the best of the recent losses
FALLING = 0.95  #: of the losses at a jump: losses that have come below are falling again, as in a second phase of training
AFTER_JUMP = 20  #: losses after a jump; among fewer, any fall counts
TREND = 2.0  #: standard deviations by which losses that only drift would seldom fall
NOT_FINITE = 3  #: losses in a row
GOT_OVER = 3  #: times the longest series of losses that are not finite which was got over before
MIN_ITEMS = 20  #: rates over fewer items say nothing
MIN_LOOKUPS = 20
SLOW = 3.0  #: times the usual time between two signs of progress
UNSEEN = 5  #: times `stuck_s`, for a run that has never shown any progress
REPEATS = 5  #: tracebacks without progress between them


@dataclass(frozen=True)
class Suspicion:
    """What one rule sees.

    `certain` needs no second look. `shown` is told at the first look, as it rests
    on a span of time and not on one sample, but is acted upon only at the second.
    """

    state: str
    sentence: str
    evidence: tuple[str, ...]
    certain: bool = False
    signature: str | None = None
    restart: bool | None = None
    confidence: float = 0.9
    action: str | None = None
    shown: bool = False


Rule = Callable[[Evidence], Suspicion | None]


def process_line(e: Evidence) -> str:
    return f"process {e.process}" + (f" ({e.process_why})" if e.process_why else "")


# -- the end ------------------------------------------------------------------------------------
def _complete(e: Evidence) -> Suspicion | None:
    all_there = e.result is not None and e.expected is not None and e.result.items >= e.expected
    if all_there and e.result is not None and e.result.whole and e.result.says_complete is not False:
        lines = (f"{e.result.items} of {e.expected} items are in the result", process_line(e))
        return Suspicion("COMPLETE", "all items are there; validate before declaring success", lines, True)
    if e.exit is not None and e.exit.get("code") == 0 and not e.exit.get("signal"):
        if e.result is not None and e.expected and e.result.items < e.expected:
            text = f"ended with exit code 0, but with {e.result.items} of {e.expected} items"
            return Suspicion("DEAD", text, (text,), True, "too-few-items", None, 0.9)
        diagnosed = e.diagnosis or {}
        if diagnosed.get("class") not in (None, "COMPLETE", "HEALTHY"):
            return None
        return Suspicion("COMPLETE", "ended with exit code 0", ("exit code 0",), True)
    return _counted_to_its_end(e)


def _counted_to_its_end(e: Evidence) -> Suspicion | None:
    """A run without a result, gone without a word of failure, of which log or caller say that its count was all."""
    if e.process != "gone" or e.exit is not None or e.awaited or e.ending is None or not e.ending.sure:
        return None
    if (e.diagnosis or {}).get("class") not in (None, "HEALTHY", "COMPLETE"):
        return None
    counted = f"all {e.total} {plural(e.total or 0, e.unit)} are counted" if e.total else f"its log says {e.ending.said!r}"
    text = f"{counted} and the process has ended; its exit is not known"
    return Suspicion("COMPLETE", text, (text, process_line(e)), e.surely_gone, confidence=0.7, shown=True)


def _whether_finished(e: Evidence, lines: tuple[str, ...], certain: bool) -> Suspicion | None:
    """A run that is not ours, gone without an exit or a failure, and nothing tells that there was more to do."""
    if e.own or e.exit is not None or (e.is_unfinished() and not (e.ending and e.ending.said)):
        return None
    at = f" at {e.done} of {e.total}" if e.done is not None and e.total else ""
    if e.ending and e.ending.said:
        but = f", but {e.ending.doubt}" if e.ending.doubt else ": whether that is all, its result tells"
        why = f"its log says {e.ending.said!r}{but}"
    else:
        doubt = f" ({e.ending.doubt})" if e.ending and e.ending.doubt else ""
        why = f"nothing tells whether it had finished{doubt}: say --expected N, or name its result"
    return Suspicion("UNKNOWN", f"the process is gone{at}, and {why}", lines, certain, "gone", None, 0.4, shown=True)


def _gone(e: Evidence) -> Suspicion | None:
    if e.process != "gone":
        return None
    d = e.diagnosis or {}
    known = d.get("class")
    certain = e.exit is not None or e.surely_gone
    lines = tuple(_gone_lines(e, d))
    if known in ("OOM", "CODE_BUG", "API_QUOTA", "PROXY_DOWN", "DIVERGED", "CACHE_COLD"):
        action = {"OOM": "resume", "DIVERGED": "block", "CACHE_COLD": "block"}.get(known)
        if known == "API_QUOTA" and d.get("restart_can_help") is False:
            action = "block"
        return Suspicion(
            known,
            str(d.get("summary")),
            lines,
            certain,
            d.get("signature"),
            d.get("restart_can_help"),
            float(d.get("confidence", 0.5)),
            action,
            True,
        )
    help_ = d.get("restart_can_help")
    told = known not in (None, "HEALTHY", "COMPLETE")
    by_person = known == "STOPPED" and help_ is not True  # a scheduler's limit or preemption wants another try
    action = "block" if told and (help_ is False or by_person) else None
    if certain and known == "UNKNOWN":
        text = str(d.get("summary", "it ended and nothing says why"))
        return Suspicion("UNKNOWN", text, lines, True, d.get("signature"), None, 0.3)
    if not told and (asked := _whether_finished(e, lines, certain)) is not None:
        return asked
    done = f" at {e.done} of {e.total}" if e.done is not None and e.total else ""
    why = d.get("summary") if told else None
    text = f"the process is gone{done}" + (f": {why}" if why else "")
    name = d.get("signature") if told else "gone"
    return Suspicion("DEAD", text, lines, certain, name, help_ if told else None, 0.9, action, True)


def _unheld(e: Evidence) -> Suspicion | None:
    """The log ends with a failure, and nobody of the run is seen to have it open: perhaps it has ended by it."""
    if e.last_failure is None:
        return None
    who = "and its process is not known" if e.process == "unknown" else "and the process that was named does not write it"
    text = f"its log ends with a failure, {who}: {e.last_failure.get('summary')}"
    lines = tuple(_gone_lines(e, e.last_failure))
    return Suspicion("UNKNOWN", text, lines, False, e.last_failure.get("signature"), None, 0.5, shown=True)


def _gone_lines(e: Evidence, d: dict[str, Any]) -> list[str]:
    lines = [process_line(e)]
    if e.exit is not None:
        code, signal = e.exit.get("code"), e.exit.get("signal")
        lines.append(f"signal {signal}" if signal else f"exit code {code}")
    for row in d.get("evidence") or ():
        place = f"{row['file']}:{row['line']}: " if row.get("line") else ""
        lines.append(place + str(row.get("text", "")))
    return lines


# -- alive, but -----------------------------------------------------------------------------------
def _diverged(e: Evidence) -> Suspicion | None:
    broken = not_finite(e.losses)
    if broken >= NOT_FINITE:
        text = "the last three losses are not finite" if broken == NOT_FINITE else f"the last {broken} losses are not finite"
        return Suspicion("DIVERGED", text, (text,), False, "loss-not-finite", False, shown=True)
    numbers = [x for x in e.losses if x is not None]
    if len(numbers) >= 12:
        best, last = min(numbers[:-3]), numbers[-3:]
        high = best > 0 and min(last) > BLOW_UP * best and min(last) > 2 * numbers[0]
        if high and not _falls_again(numbers, BLOW_UP * best):
            text = f"the loss went from {best:.4g} to {last[-1]:.4g}"
            lines = (text, "last losses: " + ", ".join(f"{x:.4g}" for x in numbers[-6:]))
            return Suspicion("DIVERGED", text, lines, False, "loss-blow-up", False)
    return None


def not_finite(losses: Sequence[float | None]) -> int:
    """Return how many losses at the end are not finite; 0 where a series a third as long was got over before.

    A program that goes on with numbers after some that were none (a sample without
    a label, a loss scale that finds its level) has not diverged by as many again.
    """
    series = [len(part) for part in "".join("x" if x is None else " " for x in losses).split(" ")]
    last, before = series[-1], max(series[:-1], default=0)
    return last if last > GOT_OVER * before else 0


def _falls_again(losses: list[float], bound: float) -> bool:
    """Whether the losses fall since they jumped above `bound`.

    They do when the middle of the last three lies well below that of the first
    three, or when later ones are lower than earlier ones by more than chance, as
    little as each may be (Mann and Kendall's test of a trend, one-sided).
    """
    jump = max((i for i, x in enumerate(losses) if x <= bound), default=-1) + 1
    since = losses[jump:]
    first, last = (sorted(part)[len(part) // 2] for part in (since[:3], since[-3:]))
    if len(since) < AFTER_JUMP:
        return since[-1] < since[0] and (len(since) < 6 or last < first)
    return last < FALLING * first or _trend(since) < -TREND


def _trend(values: Sequence[float]) -> float:
    """Return Mann and Kendall's score of a trend, in standard deviations; below 0 it falls."""
    n = len(values)
    s = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
    return float(s / (n * (n - 1) * (2 * n + 5) / 18) ** 0.5)


def _stuck(e: Evidence) -> bool:
    """No progress for long enough that errors may be its reason: longer than is usual for this run."""
    ages = [a for a in (e.progress_age_s, e.result_age_s) if a is not None]
    usual = min(SLOW * (e.pace_s or 0.0), e.limits.stale_s)
    return bool(ages) and min(ages) >= max(e.limits.stuck_s, usual)


def _fruitless(e: Evidence) -> bool:
    """As `_stuck`; a run that has shown no progress at all since it began, and may never show any, gets longer."""
    unseen = e.done is None and e.progress_age_s is None and e.result_age_s is None
    return _stuck(e) or (unseen and (e.age_s or 0.0) >= UNSEEN * e.limits.stuck_s)


def _mostly_served(e: Evidence) -> bool:
    """More calls have gone well since the last look than have failed: the client gets over what it meets."""
    answered = sum(e.fresh.get(k, 0) for k in ("limited", "forbidden", "server_errors"))
    return e.fresh.get("calls", 0) - answered > answered + e.fresh.get("refused", 0)


def _quota(e: Evidence) -> Suspicion | None:
    fresh = e.fresh.get("limited", 0)
    if fresh <= 0 or not _fruitless(e) or _mostly_served(e):
        return None
    text = (
        f"rate-limited calls go on rising ({e.counters.get('limited', 0)}, {fresh} new) and nothing is done"
    )
    lines = (text, f"no progress for {min_age(e):.0f} s")
    return Suspicion("API_QUOTA", text, lines, False, "rate-limit", True)


def min_age(e: Evidence) -> float:
    """Return the age of the newest sign of progress, in seconds; of the run itself if there is none."""
    return min((a for a in (e.progress_age_s, e.result_age_s) if a is not None), default=e.age_s or 0.0)


def _proxy(e: Evidence) -> Suspicion | None:
    names = ("refused", "forbidden", "server_errors")
    fresh = sum(e.fresh.get(k, 0) for k in names)
    probes = [ok for _, ok in e.endpoint[-2:]]
    dead = len(probes) == 2 and not any(probes)
    if not _fruitless(e) or not (fresh > 0 or dead) or _mostly_served(e):
        return None
    if probes and probes[-1] and not e.fresh.get("forbidden"):
        return None  # it answers by now
    said = ", ".join(f"{e.counters.get(k, 0)} {k.replace('_', ' ')}" for k in names if e.counters.get(k))
    text = f"the endpoint does not serve: {said or 'two probes failed'}; nothing is done"
    lines = (text, f"no progress for {min_age(e):.0f} s", f"probes: {probes}")
    return Suspicion("PROXY_DOWN", text, lines, False, "connection-refused", None)


def _memory(e: Evidence) -> Suspicion | None:
    for name in ("cuda-oom", "cuda-alloc-failed", "xla-oom", "ray-oom", "host-allocation", "host-oom"):
        hit = e.counters.get("hits", {}).get(name)
        if hit and hit["last"] > e.counters.get("progress_at", -1) and _stuck(e):
            text = f"out of memory, and no progress since: {hit['text'][:120]}"
            return Suspicion("OOM", text, (hit["text"],), False, name, None)
    return None


def _repeats(e: Evidence) -> Suspicion | None:
    after = [p for p in e.counters.get("tracebacks", []) if p > e.counters.get("progress_at", -1)]
    if len(after) < REPEATS or not _stuck(e):
        return None
    text = f"{len(after)} tracebacks since the last progress"
    return Suspicion("CODE_BUG", text, (text,), False, "repeating-traceback", False, 0.7, "stop_and_block")


def _stale(e: Evidence) -> Suspicion | None:
    ages = {"log": e.log_age_s, "result": e.result_age_s, "progress": e.progress_age_s}
    if e.wandb is not None:
        from runherd.monitor.wandb import step_age_s

        ages["W&B"] = step_age_s(e.wandb, e.now)
    known = {k: a for k, a in ages.items() if a is not None}
    if not known or min(known.values()) < e.limits.stale_s:
        return None
    if e.written_age_s is not None:
        if e.written_age_s < e.limits.stale_s:
            return None  # silent, but it writes checkpoints or the like
        known["files"] = e.written_age_s
    lines = tuple(f"{k} still for {a:.0f} s" for k, a in known.items())
    if e.process == "alive":
        text = f"alive, but nothing has moved for {span(min(known.values()))}"
        return Suspicion("STALE", text, (*lines, *([e.usage] if e.usage else ()), process_line(e)), False, "stale", True, shown=True)
    if e.process == "unknown":
        from runherd.monitor.wandb import is_heard_of

        heard = "W&B still hears of it" if is_heard_of(e.wandb) else "nobody knows whether it lives"
        text = f"nothing has moved for {span(min(known.values()))} and {heard}"
        return Suspicion("UNKNOWN", text, (*lines, process_line(e)), False, None, None, 0.4, shown=True)
    return None


def _only_wandb(e: Evidence) -> Suspicion | None:
    """Where nothing of the run can be seen from here, what W&B says is told; it never acts."""
    seen_here = e.process != "unknown" or e.log_age_s is not None or e.result_age_s is not None
    if e.wandb is None or seen_here:
        return None
    state = e.wandb["state"]
    if not e.wandb["known"]:
        text = f"nothing can be seen of it from here, and {e.wandb['why']}"
        return Suspicion("UNKNOWN", text, (text,), True, None, None, 0.2)
    if state == "finished":
        return Suspicion("COMPLETE", "W&B says that it has finished", ("W&B: finished",), True, confidence=0.7)
    if state in ("failed", "crashed", "killed", "preempted"):
        text = f"W&B says {state}, and nothing else can be seen of it from here"
        return Suspicion("DEAD", text, (text,), True, f"wandb-{state}", None, 0.6, "ask")
    return None


def _nothing(e: Evidence) -> Suspicion | None:
    """A run of which nothing is there to be seen is not healthy for it."""
    signs_ = (e.log_age_s, e.result_age_s, e.progress_age_s, e.result, e.wandb, e.done)
    if e.process != "unknown" or any(s is not None for s in signs_):
        return None
    text = "nothing of it can be seen: no log, no result, no process"
    return Suspicion("UNKNOWN", text, (text, process_line(e)), False, None, None, 0.3, shown=True)


def _cold(e: Evidence) -> Suspicion | None:
    if not e.limits.cache_declared or (e.age_s or 0) < e.limits.cache_after_s:
        return None
    hits, misses = e.counters.get("cache_hits", 0), e.counters.get("cache_misses", 0)
    rate = e.counters.get("cache_rate")
    if rate is None and hits + misses >= MIN_LOOKUPS:
        rate = hits / (hits + misses)
    if rate is None or rate >= e.limits.cache_min:
        return None
    text = f"the cache hits {rate * 100:.0f} % (at least {e.limits.cache_min * 100:.0f} % expected)"
    return Suspicion(
        "CACHE_COLD", text, (text, f"{hits} hits, {misses} misses"), False, "cache-cold", False, shown=True
    )


def _nulls(e: Evidence) -> Suspicion | None:
    r = e.result
    if r is None or r.items < MIN_ITEMS or r.nulls / r.items <= e.limits.null_warn:
        return None
    share = r.nulls / r.items
    reasons = ", ".join(f"{k}={v}" for k, v in r.null_reasons.items())
    text = f"{r.nulls} of {r.items} responses are null ({share * 100:.1f}%) [{reasons}]"
    action = "stop_and_block" if share > e.limits.null_stop else None
    return Suspicion("HIGH_NULL_RATE", text, (text,), False, "nulls", None, 0.95, action, True)


def _idle(e: Evidence) -> Suspicion | None:
    if len(e.gpu) < 3:
        return None
    recent = []
    for sample in reversed(e.gpu):
        if sample[1] >= e.limits.gpu_idle_below:
            break
        recent.append(sample)
    if len(recent) < 3 or recent[0][0] - recent[-1][0] < e.limits.gpu_idle_s:
        return None
    text = f"the GPU is idle for {(recent[0][0] - recent[-1][0]) / 60:.0f} min ({len(recent)} samples)"
    return Suspicion("GPU_IDLE", text, (text,), False, "gpu-idle", None, shown=True)


#: In order of weight: the end first, then what stops a run, then what only warns.
RULES: tuple[Rule, ...] = (
    *(_complete, _gone, _unheld, _only_wandb, _nothing, _diverged, _quota, _proxy, _memory, _repeats, _stale, _cold, _nulls, _idle),
)
