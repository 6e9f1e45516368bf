"""The supervisor of one run: watches its program, heals it within bounds, sees it finalised.

One small process per run, leader of its own session, standard library only,
driven by events (pidfd and timers, no busy polling). It keeps no state that is
not in the ledger: every turn of its loop reads the evidence afresh and does
what `decision.decide` says, so that it can be killed at any point and another
goes on. What needs more than the standard library runs in short-lived steps.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from typing import Any

from runherd import clock, decision, lease, ledger, locks, processes
from runherd.cluster import own_job
from runherd.files import read_object
from runherd.history import Attempt
from runherd.lognote import note_action
from runherd.processes import Life
from runherd.supervise import facts, program
from runherd.supervise.idlewrapper import IdleWrapper
from runherd.supervise.looking import STALE_S, Looking
from runherd.supervise.place import Place
from runherd.supervise.shortstep import CRASHED, ShortStep
from runherd.supervise.waiting import Left, Waiting
from runherd.words import counted

STEP_PAUSES_S = (0.2, 0.5, 2, 10, 30, 60)  #: between tries of a step of ours that crashed, before it is given up
UNSETTLED_PAUSE_S = STEP_PAUSES_S[2]  #: a step that judges and crashes again after so long will always crash
RETRY_S = 5.0  #: before going on after a full disk; between the first looks for a free GPU
RETRY_MOST_S = 30.0  #: between two looks for a free GPU, when it takes long
MEMBERS_S = 2.0  #: between two looks at who belongs to an adopted program
LOOK_TIMEOUT_S = 120.0  #: for a look; a hung driver or file system must not hang us


class Supervisor:
    def __init__(self, place: Place, lock_fd: int) -> None:
        self.place = place
        self.lock_fd = lock_fd
        self.layout = place.layout
        me = processes.identify(os.getpid())
        assert me is not None
        self.me = me
        self.lease = lease.acquire(self.layout.leases(place.run_id), me)
        self.waiting = Waiting()
        self.waiting.beat, self.waiting.beat_s = self.beat, lease.BEAT_S
        self.announcing: ShortStep | None = None
        self.started_here: set[int] = set()
        self.said = ""  #: what we wait for, as the ledger was told
        self.retry_s = RETRY_S
        self._due: dict[int, float] = {}  #: attempt -> when its resume is due, by the monotonic clock
        self._children: list[subprocess.Popen[bytes]] = []

    # -- the loop ----------------------------------------------------------
    def run(self) -> None:
        """Do what the evidence says until there is nothing left to do."""
        while True:
            try:
                if self.turn(decision.decide(self.facts())):
                    return
            except OSError as e:  # a full disk, a folder made read-only: it may pass; the ledger tells where we are
                log_line(f"{type(e).__name__}: {e}; going on in {RETRY_S:g} s")
                self.waiting.pause(RETRY_S)

    def turn(self, due: decision.Decision) -> bool:
        """Carry one decision out; True when there is nothing left to do."""
        match due:
            case decision.Start(reason):
                self.start(reason)
            case decision.Watch(attempt):
                self.watch(attempt)
            case decision.Settle(attempt, lost):
                self.settle(attempt, lost)
            case decision.Wait(until_s):
                self.sleep(until_s - time.time())
            case decision.Withdraw():
                self.step("withdraw")
            case decision.Finish():
                if not self.place.history().final_cell_written:
                    self.step("finish")
                lease.release(self.layout.leases(self.place.run_id), self.lease)
                return True
            case decision.CannotTell(why):
                self.say(self.place.history().gen, why)
                return True
            case decision.Nothing():
                return True
        return False

    def facts(self) -> decision.Facts:
        h = self.place.history()
        last = h.last_attempt
        now_s = time.time()
        return decision.Facts(
            history=h,
            program=facts.program_life(self.place, last) if last else Life.GONE,
            exit_record=last is not None and self.layout.exit(self.place.run_id, last.number).exists(),
            cancel_asked=h.cancel is not None or self.cancel_asked(),
            now_s=now_s,
            not_before_s=self.not_before(last, now_s) if last else 0.0,
        )

    def not_before(self, last: Attempt, now_s: float) -> float:
        """When a judged resume is due; a clock that jumps neither brings it forward nor puts it off."""
        judged = last.judged
        if judged is None or not judged.not_before:
            return 0.0
        left = min(judged.delay_s, max(0.0, clock.epoch(judged.not_before) - now_s))
        due = self._due.setdefault(last.number, time.monotonic() + left)
        return now_s + due - time.monotonic()

    # -- starting ------------------------------------------------------------
    def start(self, reason: str) -> None:
        """Begin a new attempt: ledger first, then the program, which holds the run's lock."""
        h = self.place.history()
        number = len(h.attempts) + 1
        self.layout.attempt_dir(self.place.run_id, number).mkdir(parents=True, exist_ok=True)
        token = uuid.uuid4().hex
        self.layout.command(self.place.run_id, number).unlink(missing_ok=True)
        self.step("prepare", str(number), reason, token)
        command = facts.command(self.place, number)
        if not command:
            return  # `prepare` has ended the run, with the reason
        if command.get("wait"):
            self.wait_visibly(h.gen, str(command["wait"]))
            return
        gpu_locks = program.take_gpus(command)
        lock_fd = locks.try_lock(self.layout.program_lock(self.place.run_id))
        try:
            if gpu_locks is None or lock_fd is None:
                who = locks.held_by(self.layout.program_lock(self.place.run_id)) if lock_fd is None else ""
                busy = f"an earlier process{who} still holds the program lock"
                self.wait_visibly(h.gen, busy if lock_fd is None else "a GPU was taken meanwhile")
                return
            self.beat()  # last look: is the run still ours?
            launcher = {**self.me.to_json(), "fence": self.lease.fence}
            gpus, provider = command.get("gpus", []), command.get("provider", "local")
            self.place.record(ledger.Launched(h.gen, number, reason, launcher, gpus, provider))
            self._children.append(program.start_wrapper(self.place, number, token, lock_fd, gpu_locks))
        finally:
            for fd in [*([lock_fd] if lock_fd is not None else []), *(gpu_locks or [])]:
                os.close(fd)
        self.started_here.add(number)
        self.announce(h.gen, number)

    def wait_visibly(self, gen: int, why: str) -> None:
        """Wait a little, and say once in the ledger what for."""
        self.say(gen, f"waiting: {why}")
        self.sleep(self.retry_s)
        self.retry_s = min(self.retry_s * 1.2, RETRY_MOST_S)

    def say(self, gen: int, text: str) -> None:
        """Note something in the ledger, once in a row, also over several supervisors."""
        if text != self.said:
            events = ledger.read(self.layout.events(self.place.run_id))
            if not (events and isinstance(events[-1], ledger.Noted) and events[-1].text == text):
                self.place.record(ledger.Noted(gen, text))
            self.said = text

    def announce(self, gen: int, number: int) -> None:
        """Record who runs, as soon as the wrapper says so, and let the run be shown as RUNNING."""
        identity = program.wait_for_start(self.place, number, self._children[-1])
        if identity is not None:
            self.place.record(ledger.Started(gen, number, identity))
            self.announcing = ShortStep(self.place, "announce", lock_fd=self.lock_fd)

    # -- watching --------------------------------------------------------------
    def watch(self, number: int) -> None:
        """Wait for the program's end; look after it now and then; stop it where the rules say so."""
        h = self.place.history()
        if number not in self.started_here:
            self.place.record(ledger.Adopted(h.gen, number, self.me.to_json()))
            self.started_here.add(number)
        last = h.last_attempt
        assert last is not None
        plan = facts.command(self.place, number)
        if last.stopping is not None:  # decided, and then something ended whoever was to do it
            program.end(self.place, number, plan)
        if plan.get("foreign"):
            facts.remember(self.place, number)
        watched = facts.watched(self.place, last)
        if watched is None:
            self.sleep(0.2)  # it ended just now, or is about to say who it is
            return
        fd = processes.open_pidfd(watched)
        if fd is None:
            return
        try:
            self._watch_until_end(fd, last, plan)
        finally:
            os.close(fd)

    def _watch_until_end(self, fd: int, last: Attempt, plan: dict[str, Any]) -> None:
        """Return when the process behind `fd` has ended. A look runs beside us: nothing waits for it."""
        interval = float(plan.get("monitor_interval_s") or 30.0)
        limit = float(plan["wall_time_s"]) if plan.get("wall_time_s") else None
        stopped = last.stopping is not None
        look: ShortStep | None = None
        next_look = time.monotonic() + min(interval, 5.0)
        looking = Looking(interval, float(plan.get("monitor_stale_s") or STALE_S), bool(plan.get("gpus")))
        idle = IdleWrapper(self.place, last.number)
        try:
            while True:
                now = time.monotonic()
                idle.look(now, stopped)
                left_s = limit - facts.age_s(self.place, last) if limit is not None else None
                if not stopped:
                    stopped = self.must_stop(last, plan, left_s)
                if look is not None and (look.code() is not None or now > looking.began + LOOK_TIMEOUT_S or stopped):
                    answer = look.answer() if look.code() is not None else None
                    stopped = stopped or self.heed(last, answer, plan)
                    looking.again = isinstance(answer, dict) and bool(answer.get("again"))
                    look.close()
                    look = None
                if look is None and not stopped and now >= next_look:
                    next_look = now + interval
                    if looking.is_due(now, program.log_signature(self.place, last.number)):
                        look = ShortStep(self.place, "look", [str(last.number)], answers=True)
                until = looking.began + LOOK_TIMEOUT_S if look is not None else now + 1.0 if stopped else next_look
                timeout = min(until - now, left_s) if left_s is not None and not stopped else until - now
                timeout = min(timeout, MEMBERS_S) if plan.get("foreign") else timeout
                if fd in self.waiting.wait(max(0.02, timeout), fd, *([look.fd] if look is not None else [])):
                    return
                self.reap()
                if plan.get("foreign"):
                    facts.remember(self.place, last.number)
        finally:
            if look is not None:
                look.close()

    def must_stop(self, last: Attempt, plan: dict[str, Any], left_s: float | None) -> bool:
        """Stop the program where a person has asked for it or its time is over; True when it was stopped."""
        if self.cancel_asked():
            self.note_cancel(last.gen)
            self.stop(last, "cancel", "asked for by a person", plan)
        elif left_s is not None and left_s <= 0:
            self.stop(last, "wall_time", f"wall time limit of {plan['wall_time_s']:g} s reached", plan)
        else:
            return False
        return True

    def heed(self, last: Attempt, out: Any, plan: dict[str, Any]) -> bool:
        """Stop the program where the answer of an ended look says so; True when it was stopped."""
        if not isinstance(out, dict) or not out.get("stop"):
            return False
        self.stop(last, str(out["stop"]), str(out.get("why", "")), plan)
        return True

    def stop(self, last: Attempt, cause: str, detail: str, plan: dict[str, Any]) -> None:
        """End the program's tree, gently first; the wrapper lives on to write the exit down."""
        self.place.record(ledger.Stopping(last.gen, last.number, cause, detail))
        try:
            note_action(self.layout.log(self.place.run_id, last.number), f"stopping this attempt: {cause}: {detail}")
        except OSError as e:
            log_line(f"not noted in the log: {e}")
        program.end(self.place, last.number, plan)

    # -- ending ----------------------------------------------------------------
    def settle(self, number: int, lost: bool) -> None:
        """Record the exit, end what is left of the tree, and have the attempt judged."""
        h = self.place.history()
        last = h.last_attempt
        assert last is not None
        if last.exited is None:
            self.place.record(facts.exit_event(self.place, last, lost))
        plan = facts.command(self.place, number)
        if left := processes.tree(str(plan.get("token", ""))):
            self.say(h.gen, f"ended with its program: {counted(len(left), 'process')} that it had left in the background")
            program.end(self.place, number, plan)
        program.remove_groups(self.place, number)
        self.step("settle", str(number))

    # -- steps, waiting, signals --------------------------------------------------
    def step(self, name: str, *args: str) -> None:
        """Run one of our short-lived steps; a crash is tried again a few times, then given up."""
        self.join(self.announcing)
        self.announcing = None
        for pause_s in (*STEP_PAUSES_S, None):
            code = self.join(ShortStep(self.place, name, args, self.lock_fd))
            if code == 0:
                return
            if name == "settle" and code == CRASHED and pause_s == UNSETTLED_PAUSE_S:
                return self.step("unsettled", *args)
            if pause_s is not None:
                self.waiting.pause(pause_s)
        tries = len(STEP_PAUSES_S) + 1
        self.say(self.place.history().gen, f"the step `{name}` failed {tries} times: see supervisor.log")
        raise SystemExit(1)

    def join(self, step: ShortStep | None) -> int | None:
        """Wait for a step; told to go meanwhile, the step is ended too (all of them can be repeated)."""
        if step is None:
            return None
        try:
            while step.code() is None:
                self.waiting.wait(60, step.fd)
            return step.code()
        finally:
            step.close()

    def beat(self) -> None:
        """Tell other hosts that we are here. Raises `Fenced` when one of them has taken the run over."""
        try:
            self.lease = lease.renew(self.layout.leases(self.place.run_id), self.lease)
        except OSError as e:
            log_line(f"no heartbeat: {e}")

    def cancel_asked(self) -> bool:
        return self.layout.cancel_request(self.place.run_id).exists()

    def note_cancel(self, gen: int) -> None:
        asked = read_object(self.layout.cancel_request(self.place.run_id)) or {}
        by = str(asked.get("by", ""))
        self.place.record(ledger.CancelAsked(gen, by))

    def sleep(self, seconds: float) -> None:
        """Let time pass; a request to cancel (it comes with SIGUSR1) ends it early."""
        if not self.cancel_asked():
            self.waiting.pause(seconds)

    def reap(self) -> None:
        for child in self._children:
            child.poll()


def log_line(text: str) -> None:
    """A line in supervisor.log; a full disk takes none, and that must not end us."""
    try:
        os.write(2, f"{clock.now()} {text}\n".encode())
    except OSError:
        pass


def main() -> None:
    place = Place.from_arg(sys.argv[1])
    lock_fd = int(sys.argv[2])
    os.set_inheritable(lock_fd, False)
    locks.sign(lock_fd)
    try:
        Supervisor(place, lock_fd).run()
    except lease.Fenced as fenced:
        log_line(f"leaving: {fenced}")
    except Left as left:
        h = place.history()
        if h.active:
            number = h.last_attempt.number if h.last_attempt else 0
            place.record(ledger.SupervisorLeft(h.gen, number, str(left)))
            if number and own_job():
                # A scheduler takes its node back: what outlived the job would run beside the next one.
                program.end(place, number, facts.command(place, number))
