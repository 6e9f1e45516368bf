"""What `--act` may do to a run that runherd did not launch: one pure decision over plain facts.

It stops only a process that is surely the one that was meant, only when verdict
and hysteresis say so, and only for a caller who has said what is to follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runherd import heal
from runherd.monitor.classify import Judgement

#: State -> cause of a stop, as the ledger and `heal` name it.
CAUSES = {
    "STALE": "stale", "API_QUOTA": "api_quota", "PROXY_DOWN": "proxy_down", "OOM": "oom", "CODE_BUG": "code_bug",
    "DIVERGED": "diverged", "HIGH_NULL_RATE": "high_null_rate", "CACHE_COLD": "cache_cold",
}  # fmt: skip
QUIET = ("STALE", "OOM")  #: stopped for their silence, in which they may well be at work
LEFT_ALONE = ("none", "finish", "warn", "look_again")
GONE = "gone, exit unknown"  #: of a process that is not ours nobody knows how it ended
KILLED = "killed (SIGKILL) by something outside"  #: as `heal` says it of runs whose exit is known
RESUMES = ("stop_and_resume", "wait_and_resume", "fallback_and_resume")


@dataclass(frozen=True)
class Asked:
    """What the caller allows: to stop, and by which command it is started again."""

    stop: bool = False
    restart: bool = False


@dataclass(frozen=True)
class Known:
    """What is known of the process that was named."""

    pid: int | None = None
    alive: bool = False
    start_known: bool = False  #: its start time was given, or seen at an earlier look, and is the same
    same_user: bool = False
    holds_log: bool = False  #: it, or a process below it, has the log open for writing
    runherds: bool = False  #: a process of a run that runherd launched
    ancestor: bool = False  #: this very command runs below it
    other_writer: int | None = None  #: another process that has the log open
    unfinished: bool = True  #: something says that there was more to do
    said_ended: str | None = None  #: the log's own word that it ended well or stopped by choice
    starter: str | None = None  #: who started it, where that still lives and may start it again


@dataclass(frozen=True)
class Nothing:
    """Nothing is to be done."""

    why: str = ""


@dataclass(frozen=True)
class Refuse:
    """Something should be done, but not by us."""

    why: str


@dataclass(frozen=True)
class Do:
    """Stop the process where it lives, then start it again after a while where that is allowed."""

    stop: bool
    resume: heal.Resume | None
    why: str  #: why it is not started again, where it is not
    final: bool = False  #: nor will it be, whatever the caller says later


def decide(
    judgement: Judgement, asked: Asked, known: Known, past: Sequence[heal.Past], bounds: heal.Bounds | None = None
) -> Nothing | Refuse | Do:
    """Decide about a run that is not ours; `past` are the restarts so far, oldest first; no `bounds`: as they ship."""
    action = judgement.action
    if action in LEFT_ALONE and action != "look_again":
        return Nothing()
    if action == "look_again":
        return Nothing("the next look decides: one look alone never acts")
    if action == "ask" and known.said_ended is None:
        return Refuse(f"{judgement.state}: nothing says what would help; a person must look")
    if not (asked.stop or asked.restart):
        return Refuse(
            "runherd did not launch this run and knows no command to restart it: say --restart COMMAND, or --act stop"
        )
    stop = known.alive
    if known.said_ended is not None and (stop or asked.restart or action == "ask"):
        why = "a run that has done its work is neither stopped nor started again"
        return Refuse(f"its log says that it ended by itself: {known.said_ended!r}; {why}")
    unsafe = _not_surely_it(known) if stop else _not_surely_gone(known, judgement)
    if unsafe is not None:
        return Refuse(unsafe)
    if known.starter is not None and not stop and asked.restart:
        return Refuse(started_by(known.starter))
    after = _after(judgement, stop, past, bounds or heal.Bounds())
    if isinstance(after, heal.End):
        return Do(True, None, after.why, True) if stop else Refuse(f"not started again: {after.why}")
    if not asked.restart:
        return Do(True, None, "no --restart COMMAND was given") if stop else Nothing("it has ended: nothing to stop")
    return Do(stop, after, "")


def started_by(starter: str) -> str:
    """Why nothing is started beside what started the run before and still lives."""
    return f"{starter}, which started it, is still alive and may start it again: a second one is not started beside it"


def _after(
    judgement: Judgement, stop: bool, past: Sequence[heal.Past], bounds: heal.Bounds
) -> heal.End | heal.Resume:
    """The same policy as for runs of ours."""
    if not stop and judgement.action not in (*RESUMES, "resume"):
        return heal.End("blocked", judgement.state, judgement.sentence)
    cause = CAUSES.get(judgement.state) if stop else None
    if stop and cause is None:
        return heal.End("blocked", judgement.state, judgement.sentence)
    exit_ = heal.Exit(None, None, None if stop else "gone", cause, False, False, None, False, judgement.sentence)
    failure = None
    if judgement.state != "DEAD" and not stop:
        helps = judgement.restart_can_help is not False
        failure = heal.Failure(judgement.state, judgement.signature or "", judgement.sentence, helps)
    after = heal.after_exit(exit_, failure, past, bounds, {})
    if stop or failure is not None:
        return after
    if isinstance(after, heal.Resume):
        return replace(after, reason=GONE)
    return replace(after, why=after.why.replace(KILLED, GONE))


def _not_surely_it(known: Known) -> str | None:
    """Why the living process may not be stopped; None when it is surely the one that was meant."""
    who = f"process {known.pid}"
    if known.pid is None:
        return "whose process it is is not known for sure: say --pid PID"
    if known.runherds:
        return f"{who} belongs to a run that runherd launched: runherd monitor ID --act"
    if known.ancestor:
        return f"{who} is the one that this command runs in"
    if not known.same_user:
        return f"{who} belongs to another user"
    if not known.start_known:
        return f"whether {who} is still the one that was meant is not known: say --pid-start TICKS, or look again"
    if not known.holds_log:
        return f"{who} does not have the log open, nor has a process below it: it may be another run's"
    return None


def _not_surely_gone(known: Known, judgement: Judgement) -> str | None:
    """Why nothing may be started beside what may still live; None when it is surely gone."""
    if known.pid is None:
        return "whether it is really gone cannot be told without its process: say --pid PID"
    if known.other_writer is not None:
        return f"process {known.other_writer} still has the log open: a second one is not started beside it"
    if judgement.state == "DEAD" and not known.unfinished:
        return "it is gone, and nothing tells whether it had finished: say --expected N, or name its result"
    if judgement.action in RESUMES or judgement.action == "stop_and_block":
        return f"process {known.pid} cannot be found"
    return None
