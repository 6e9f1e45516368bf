"""The supervisor of one run: watches its program, heals it within bounds, sees it finalised.

One small process per run, leader of its own session, standard library only,
driven by events (pidfd and timers, no busy polling). It keeps no state that is
not in the ledger: every turn of its loop reads the evidence afresh and does
what `evidence.decide` says, so that it can be killed at any point and another
goes on. What needs more than the standard library runs in short-lived steps.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from runherd import clock, evidence, ledger, locks, processes
from runherd.files import read_json
from runherd.history import Attempt
from runherd.processes import Identity, Life
from runherd.supervise import spawn
from runherd.supervise.place import Place

STEP_TRIES = 3  #: how often a step of ours may crash before the supervisor gives up
RETRY_S = 5.0  #: between two looks for a free GPU
START_TIMEOUT_S = 20.0  #: for the wrapper to say who it started


class Left(Exception):
    """The supervisor was told to go (the program stays)."""


class Supervisor:
    def __init__(self, place: Place, lock_fd: int) -> None:
        self.place = place
        self.lock_fd = lock_fd
        self.layout = place.layout
        self.me = processes.identify(os.getpid())
        self.announcing: subprocess.Popen[bytes] | None = None
        self.started_here: set[int] = set()
        self.waiting_for = ""
        self._wake, self._signals = _signal_pipe()
        self._children: list[subprocess.Popen[bytes]] = []

    # -- the loop ----------------------------------------------------------
    def run(self) -> None:
        """Do what the evidence says until there is nothing left to do."""
        while True:
            decision = evidence.decide(self.facts())
            match decision:
                case evidence.Start(reason):
                    self.start(reason)
                case evidence.Watch(attempt):
                    self.watch(attempt)
                case evidence.Settle(attempt, lost):
                    self.settle(attempt, lost)
                case evidence.Wait(until_s):
                    self.sleep_until(until_s)
                case evidence.Withdraw():
                    self.step("withdraw")
                case evidence.Finish():
                    if not self.place.history().final_cell_written:
                        self.step("finish")
                    return
                case evidence.CannotTell(why):
                    self.place.record(ledger.Noted(self.place.history().gen, why))
                    return
                case evidence.Nothing():
                    return

    def facts(self) -> evidence.Facts:
        h = self.place.history()
        last = h.last_attempt
        exit_record = last is not None and self.layout.exit(self.place.run_id, last.number).exists()
        judged = last.judged if last else None
        return evidence.Facts(
            history=h,
            program=self.program_life(last) if last else Life.GONE,
            exit_record=exit_record,
            cancel_asked=h.cancel is not None or self.layout.cancel_request(self.place.run_id).exists(),
            now_s=time.time(),
            not_before_s=clock.epoch(judged.not_before) if judged and judged.not_before else 0.0,
        )

    def program_life(self, last: Attempt) -> Life:
        """Whether the attempt's program lives: the lock that it holds, else its identity, else its token."""
        if locks.is_held(self.layout.program_lock(self.place.run_id)):
            return Life.ALIVE
        known = self.program_identity(last)
        if known is not None:
            return processes.life(known)
        launcher = Identity.from_json(last.launched.supervisor)
        if launcher is not None and launcher.host != processes.hostname():
            return Life.ELSEWHERE
        return Life.GONE

    def program_identity(self, last: Attempt) -> Identity | None:
        written = read_json(self.layout.process(self.place.run_id, last.number))
        found = Identity.from_json(written.get("program")) if isinstance(written, dict) else None
        return found or (Identity.from_json(last.started.program) if last.started else None)

    # -- starting ------------------------------------------------------------
    def start(self, reason: str) -> None:
        """Begin a new attempt: ledger first, then the program, which holds the run's lock."""
        h = self.place.history()
        number = len(h.attempts) + 1
        self.layout.attempt_dir(self.place.run_id, number).mkdir(parents=True, exist_ok=True)
        token = uuid.uuid4().hex
        self.layout.command(self.place.run_id, number).unlink(missing_ok=True)
        self.step("prepare", str(number), reason, token)
        command = read_json(self.layout.command(self.place.run_id, number))
        if not isinstance(command, dict):
            return  # `prepare` has ended the run, with the reason
        if command.get("wait"):
            self.wait_visibly(h.gen, str(command["wait"]))
            return
        gpu_locks = self.take_gpus(command)
        lock_fd = locks.try_lock(self.layout.program_lock(self.place.run_id))
        try:
            if gpu_locks is None or lock_fd is None:
                what = "a GPU was taken meanwhile" if lock_fd else "an earlier process still holds the program lock"
                self.wait_visibly(h.gen, what)
                return
            launcher = self.me.to_json() if self.me else {}
            gpus, provider = command.get("gpus", []), command.get("provider", "local")
            self.place.record(ledger.Launched(h.gen, number, reason, launcher, gpus, provider))
            self.spawn_wrapper(number, token, lock_fd, gpu_locks)
        finally:
            for fd in [*([lock_fd] if lock_fd is not None else []), *(gpu_locks or [])]:
                os.close(fd)
        self.started_here.add(number)
        self.verify(h.gen, number)

    def wait_visibly(self, gen: int, why: str) -> None:
        """Wait a little, and say once in the ledger what for."""
        if why != self.waiting_for:
            self.place.record(ledger.Noted(gen, f"waiting: {why}"))
            self.waiting_for = why
        self.sleep_until(time.time() + RETRY_S)

    def spawn_wrapper(self, number: int, token: str, lock_fd: int, gpu_locks: list[int]) -> None:
        env = spawn.program_environment(dict(os.environ))
        env[processes.TOKEN_VARIABLE] = token
        env["RUNHERD_LOCK_FD"] = str(lock_fd)
        wrapper = str(Path(__file__).with_name("wrapper.py"))
        log_path = self.layout.log(self.place.run_id, number)
        with log_path.open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", wrapper, str(self.layout.attempt_dir(self.place.run_id, number))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True,
                pass_fds=[lock_fd, *gpu_locks],
            )  # fmt: skip
        self._children.append(child)

    def verify(self, gen: int, number: int) -> None:
        """Wait for the wrapper to say who runs, record it, and announce the run as RUNNING."""
        process_file = self.layout.process(self.place.run_id, number)
        exit_file = self.layout.exit(self.place.run_id, number)
        deadline = time.monotonic() + START_TIMEOUT_S
        pause = 0.005
        while time.monotonic() < deadline and not process_file.exists() and not exit_file.exists():
            if self._children and self._children[-1].poll() is not None and not exit_file.exists():
                break
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)
        written = read_json(process_file)
        if isinstance(written, dict):
            self.place.record(ledger.Started(gen, number, written.get("program") or {}))
            self.announcing = subprocess.Popen(
                spawn.step_argv("runherd.lifecycle.step", ["announce", self.place.to_arg()]), stdin=subprocess.DEVNULL
            )

    def take_gpus(self, command: dict[str, Any]) -> list[int] | None:
        """Lock the devices that `prepare` chose; None when one of them was taken meanwhile."""
        fds: list[int] = []
        for path in command.get("gpu_locks", []):
            fd = locks.try_lock(Path(path))
            if fd is None:
                for taken in fds:
                    os.close(taken)
                return None
            fds.append(fd)
        return fds

    # -- watching --------------------------------------------------------------
    def watch(self, number: int) -> None:
        """Wait for the program's end; look after it now and then; stop it where the rules say so."""
        h = self.place.history()
        if number not in self.started_here:
            self.place.record(ledger.Adopted(h.gen, number, self.me.to_json() if self.me else {}))
            self.started_here.add(number)
        last = h.last_attempt
        assert last is not None
        watched = self.watched_process(last)
        if watched is None:
            self.sleep_until(time.time() + 0.2)  # it ended just now, or is about to say who it is
            return
        fd = processes.open_pidfd(watched)
        if fd is None:
            return
        plan = read_json(self.layout.command(self.place.run_id, number)) or {}
        interval = float(plan.get("monitor_interval_s", 30.0))
        limit = plan.get("wall_time_s")
        started_s = clock.epoch(last.launched.t)
        try:
            self._watch_until_end(fd, last, interval, started_s + float(limit) if limit else None, plan)
        finally:
            os.close(fd)

    def watched_process(self, last: Attempt) -> Identity | None:
        """The wrapper while it lives (its end means that exit.json is there), else the program."""
        written = read_json(self.layout.process(self.place.run_id, last.number))
        if isinstance(written, dict):
            for role in ("wrapper", "program"):
                who = Identity.from_json(written.get(role))
                if who is not None and processes.life(who) is Life.ALIVE:
                    return who
        for member in processes.tree(self.token(last.number)):
            return member
        return None

    def token(self, number: int) -> str:
        command = read_json(self.layout.command(self.place.run_id, number))
        return str(command.get("token", "")) if isinstance(command, dict) else ""

    def _watch_until_end(
        self, fd: int, last: Attempt, interval: float, deadline_s: float | None, plan: dict[str, Any]
    ) -> None:
        stopped = last.stopping is not None
        next_look = time.time() + min(interval, 5.0)
        while True:
            if self.cancel_asked() and not stopped:
                self.note_cancel(last.gen)
                self.stop(last, "cancel", "asked for by a person", plan)
                stopped = True
            now = time.time()
            if deadline_s is not None and now >= deadline_s and not stopped:
                self.stop(last, "wall_time", f"wall time limit of {plan.get('wall_time_s')} s reached", plan)
                stopped = True
            if now >= next_look and not stopped:
                stopped = self.look(last, plan)
                next_look = time.time() + interval
            until = min(next_look, deadline_s) if deadline_s and not stopped else next_look
            if self.wait_for(fd, max(0.05, until - time.time())):
                return

    def look(self, last: Attempt, plan: dict[str, Any]) -> bool:
        """Let a short-lived step judge the run; stop it where the judgement says so."""
        out = self.step_output("look", str(last.number))
        if not isinstance(out, dict) or not out.get("stop"):
            return False
        self.stop(last, str(out["stop"]), str(out.get("why", "")), plan)
        return True

    def stop(self, last: Attempt, cause: str, detail: str, plan: dict[str, Any]) -> None:
        """End the program's tree, gently first; the wrapper lives on to write the exit down."""
        self.place.record(ledger.Stopping(last.gen, last.number, cause, detail))
        self.append_to_log(last.number, f"[runherd] stopping this attempt: {cause}: {detail}")
        self.end_program(last.number, float(plan.get("grace_s", 30.0)))

    def end_program(self, number: int, grace_s: float) -> None:
        written = read_json(self.layout.process(self.place.run_id, number))
        written = written if isinstance(written, dict) else {}
        wrapper = Identity.from_json(written.get("wrapper"))
        roots = [wrapper.pid] if wrapper and processes.life(wrapper) is Life.ALIVE else []
        program = Identity.from_json(written.get("program"))
        if program and processes.life(program) is Life.ALIVE:
            processes.send(program, signal.SIGTERM)
            roots.append(program.pid)
        spare = [wrapper.pid] if wrapper else []
        processes.end_tree(self.token(number), roots, spare, grace_s)
        if program and not processes.wait_gone(program, grace_s):  # adopted: it carries no token of ours
            processes.send(program, signal.SIGKILL)

    def append_to_log(self, number: int, line: str) -> None:
        with self.layout.log(self.place.run_id, number).open("a") as log:
            log.write(f"{line}\n")

    # -- ending ----------------------------------------------------------------
    def settle(self, number: int, lost: bool) -> None:
        """Record the exit, end what is left of the tree, and have the attempt judged."""
        self.join_announcer()
        h = self.place.history()
        last = h.last_attempt
        assert last is not None
        if last.exited is None:
            self.place.record(self.exit_event(last, lost))
        plan = read_json(self.layout.command(self.place.run_id, number)) or {}
        if processes.tree(self.token(number)):
            self.end_program(number, float(plan.get("grace_s", 30.0)))
        self.step("settle", str(number))

    def exit_event(self, last: Attempt, lost: bool) -> ledger.Exited:
        written = read_json(self.layout.exit(self.place.run_id, last.number))
        if isinstance(written, dict) and not lost:
            rss = written.get("max_rss_kib")
            return ledger.Exited(
                last.gen, last.number, written.get("code"), written.get("signal"),
                clock.iso(written["started"]), clock.iso(written["ended"]), written.get("cpu_seconds"),
                round(rss / 1024, 1) if rss else None,
            )  # fmt: skip
        program = self.program_identity(last)
        if program is None:
            why = "never_started"
        elif program.boot_id != processes.boot_id():
            why = "reboot"
        else:
            why = "killed_with_wrapper" if not self.adopted_foreign(last.number) else "adopted"
        return ledger.Exited(
            last.gen, last.number, started_at=last.launched.t, ended_at=self.last_sign(last), lost=why
        )

    def adopted_foreign(self, number: int) -> bool:
        command = read_json(self.layout.command(self.place.run_id, number))
        return isinstance(command, dict) and bool(command.get("foreign"))

    def last_sign(self, last: Attempt) -> str:
        """The best known end of an attempt whose exit is lost: the last write to its log."""
        try:
            seen = self.layout.log(self.place.run_id, last.number).stat().st_mtime
        except OSError:
            seen = 0.0
        if last.launched.supervisor and self.adopted_foreign(last.number):
            seen = time.time()
        return clock.iso(max(seen, clock.epoch(last.launched.t)))

    def join_announcer(self) -> None:
        if self.announcing is not None:
            try:
                self.announcing.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.announcing.kill()
            self.announcing = None

    # -- steps, waiting, signals --------------------------------------------------
    def step(self, name: str, *args: str) -> bool:
        """Run one of our short-lived steps; a crash is tried again a few times, then given up."""
        self.join_announcer()
        for attempt in range(STEP_TRIES):
            done = subprocess.run(
                spawn.step_argv("runherd.lifecycle.step", [name, self.place.to_arg(), *args]), stdin=subprocess.DEVNULL
            )
            if done.returncode == 0:
                return True
            self.check_signals()
            time.sleep(0.2 * 2**attempt)
        gen = self.place.history().gen
        self.place.record(ledger.Noted(gen, f"the step `{name}` failed {STEP_TRIES} times: see supervisor.log"))
        raise SystemExit(1)

    def step_output(self, name: str, *args: str) -> Any:
        """Run a step whose answer is one JSON object on its standard output; None when it fails."""
        argv = spawn.step_argv("runherd.lifecycle.step", [name, self.place.to_arg(), *args])
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=120)
            return json.loads(done.stdout)
        except (subprocess.TimeoutExpired, ValueError):
            return None

    def cancel_asked(self) -> bool:
        return self.layout.cancel_request(self.place.run_id).exists()

    def note_cancel(self, gen: int) -> None:
        asked = read_json(self.layout.cancel_request(self.place.run_id))
        by = str(asked.get("by", "")) if isinstance(asked, dict) else ""
        self.place.record(ledger.CancelAsked(gen, by))

    def sleep_until(self, until_s: float) -> None:
        while (left := until_s - time.time()) > 0:
            self.wait_for(None, left)
            if self.cancel_asked():
                return

    def wait_for(self, fd: int | None, timeout_s: float) -> bool:
        """Wait for the process behind `fd`, a signal or the time-out; True when the process ended."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        if fd is not None:
            poll.register(fd, select.POLLIN)
        ready = {f for f, _ in poll.poll(min(timeout_s, 3600.0) * 1000)}
        self.check_signals()
        for child in self._children:
            child.poll()  # reap
        return fd is not None and fd in ready

    def check_signals(self) -> None:
        """SIGTERM, SIGHUP, SIGINT: leave at once, the program stays. SIGUSR1: look again."""
        try:
            received = self._wake.recv(64)
        except BlockingIOError:
            return
        for number in received:
            if number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                raise Left(signal.Signals(number).name)


def _signal_pipe() -> tuple[socket.socket, socket.socket]:
    wake, signals = socket.socketpair()
    wake.setblocking(False)
    signals.setblocking(False)
    signal.set_wakeup_fd(signals.fileno(), warn_on_full_buffer=False)
    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
        signal.signal(s, lambda *_: None)
    return wake, signals


def main() -> None:
    place = Place.from_arg(sys.argv[1])
    lock_fd = int(sys.argv[2])
    os.set_inheritable(lock_fd, False)
    locks.sign(lock_fd)
    supervisor = Supervisor(place, lock_fd)
    try:
        supervisor.run()
    except Left as left:
        h = place.history()
        if h.active:
            number = h.last_attempt.number if h.last_attempt else 0
            place.record(ledger.SupervisorLeft(h.gen, number, str(left)))
