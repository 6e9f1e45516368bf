"""`--act` on runs that are not ours: only what is surely meant, only after two looks, only with the caller's word."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from foreignprogram import PROGRAM, Foreign, is_of, words_of

from runherd import heal, processes
from runherd.monitor import stopstart
from runherd.monitor.act import Asked, Do, Known, Nothing, Refuse, decide
from runherd.monitor.classify import ACTIONS, Judgement

SURE = Known(pid=7, alive=True, start_known=True, same_user=True, holds_log=True)
GONE = Known(pid=7)
BOTH = Asked(True, True)


def judged(state: str, action: str | None = None, **more: Any) -> Judgement:
    return Judgement(state, "so it is", action=action or ACTIONS[state], **more)


# -- the decision -------------------------------------------------------------------------------
@pytest.mark.parametrize("state", ["HEALTHY", "COMPLETE", "HIGH_NULL_RATE", "GPU_IDLE"])
def test_what_only_warns_is_left_alone(state: str) -> None:
    """Healthy, complete and warned-of runs are not touched, whatever the caller allows."""
    assert isinstance(decide(judged(state), BOTH, SURE, []), Nothing)


def test_the_first_look_never_acts() -> None:
    """What waits for the next look is told, and not acted upon."""
    assert decide(judged("STALE", "look_again"), BOTH, SURE, []) == Nothing(
        "the next look decides: one look alone never acts"
    )


def test_a_stale_run_is_stopped_and_started_again() -> None:
    """With a restart command: both; with `stop` alone: the first; with neither: a sentence why not."""
    assert decide(judged("STALE"), BOTH, SURE, []) == Do(True, heal.Resume("stale", "STALE", "stale"), "")
    assert decide(judged("STALE"), Asked(stop=True), SURE, []) == Do(True, None, "no --restart COMMAND was given")
    refused = decide(judged("STALE"), Asked(), SURE, [])
    assert isinstance(refused, Refuse) and "--restart COMMAND, or --act stop" in refused.why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"runherds": True}, "belongs to a run that runherd launched"),
        ({"ancestor": True}, "the one that this command runs in"),
        ({"same_user": False}, "another user"),
        ({"start_known": False}, "--pid-start"),
        ({"holds_log": False}, "does not have the log open"),
        ({"pid": None}, "--pid PID"),
    ],
)
def test_a_process_that_is_not_surely_it_is_not_stopped(change: dict[str, Any], why: str) -> None:
    """Each doubt about the process alone is enough to refuse, with its own sentence."""
    refused = decide(judged("STALE"), BOTH, replace(SURE, **change), [])
    assert isinstance(refused, Refuse) and why in refused.why


def test_a_dead_run_is_started_again_only_if_it_is_surely_gone() -> None:
    """DEAD with its pid: started again after a pause; with a writer left, or no pid: refused."""
    dead = judged("DEAD", "resume", signature="gone")
    again = decide(dead, BOTH, GONE, [])
    assert isinstance(again, Do) and not again.stop and again.resume is not None and again.resume.cls == "DEAD"
    for known, why in ((replace(GONE, other_writer=9), "process 9 still has"), (Known(), "--pid PID")):
        refused = decide(dead, BOTH, known, [])
        assert isinstance(refused, Refuse) and why in refused.why
    refused = decide(dead, BOTH, replace(GONE, unfinished=False), [])
    assert isinstance(refused, Refuse) and "nothing tells whether it had finished" in refused.why
    assert decide(dead, Asked(stop=True), GONE, []) == Nothing("it has ended: nothing to stop")


def test_a_bug_is_not_started_again() -> None:
    """What a restart cannot help is stopped where it lives and never started again."""
    bug = judged("CODE_BUG", "block", signature="traceback:x", restart_can_help=False)
    assert isinstance(decide(bug, BOTH, GONE, []), Refuse)
    diverged = decide(judged("DIVERGED"), BOTH, SURE, [])
    assert isinstance(diverged, Do) and diverged.stop and diverged.resume is None and diverged.final


def test_the_same_twice_and_three_in_all_stop() -> None:
    """The bounds of healing hold here too."""
    twice = decide(judged("STALE"), BOTH, SURE, [heal.Past("STALE", "stale")])
    assert isinstance(twice, Do) and twice.resume is None and "the same failure 2 times in a row" in twice.why
    past = [heal.Past("STALE", "stale"), heal.Past("DEAD", "killed"), heal.Past("OOM", "cuda-oom")]
    many = decide(judged("STALE"), BOTH, SURE, past)
    assert isinstance(many, Do) and many.resume is None and "3 restarts already" in many.why


def test_quota_is_waited_for() -> None:
    """A rate limit is waited for before the restart, as long as for runs of ours."""
    got = decide(judged("API_QUOTA"), BOTH, SURE, [])
    assert isinstance(got, Do) and got.resume is not None and got.resume.delay_s == heal.Bounds().quota_wait_s


def test_unknown_asks_a_person() -> None:
    """UNKNOWN is never acted upon."""
    assert isinstance(decide(judged("UNKNOWN"), BOTH, SURE, []), Refuse)


# -- real programs --------------------------------------------------------------------------------
SCRIPT = Path(__file__).parents[2] / "scripts" / "monitor.py"


def test_healthy_is_left_alone(foreign: Foreign) -> None:
    """A healthy run: one line, exit 0, nothing done and nothing said, with every permission given."""
    process = foreign.start()
    code, out = foreign.look("--pid", str(process.pid), "--act", "--restart", foreign.restart)
    assert code == 0 and out.startswith("[Monitor] HEALTHY | 1/9 (11.1%)") and out.count("\n") == 1
    assert process.poll() is None


def test_a_stale_program_is_stopped_and_started_again(foreign: Foreign) -> None:
    """Stale at two looks: stopped, started by the caller's command, once; a line in its log tells of both."""
    process = foreign.start()
    words = ("--pid", str(process.pid), "--act", "--restart", foreign.restart)
    foreign.look(*words)
    code, out = foreign.look(*words, after_s=1300)
    assert (code, process.poll()) == (1, None) and "act:     the next look decides" in out
    code, out = foreign.look(*words, after_s=30)
    assert code == 3 and process.wait(20) == -signal.SIGTERM
    assert "stopped process" in out and "started again (stale) as process" in out
    foreign.until(lambda: foreign.count() == 2)
    log = foreign.log.read_text()
    assert f"stopping process {process.pid}: STALE" in log and "starting again (stale)" in log
    again = next(p for p in processes.pids() if p != process.pid and is_of(p, foreign.program))
    code, out = foreign.look(*words)  # the same words, with the old pid: the new process is looked at
    assert code == 0 and "HEALTHY" in out and is_of(again, foreign.program)
    assert foreign.count() == 2


def test_the_same_again_is_stopped_for_good(foreign: Foreign) -> None:
    """Stale a second time in a row: stopped with all that the restart started, not started again, nor later either."""
    process = foreign.start()
    long = f"601.{os.getpid()}"  # of nobody else
    restart = f"(setsid sleep {long} &); {foreign.restart}"  # something that leaves the tree
    words = ("--pid", str(process.pid), "--act", "--restart", restart)
    for after in (0, 1300, 30):
        foreign.look(*words, after_s=after)
    foreign.until(lambda: foreign.count() == 2)
    for after in (0, 1300, 30):
        code, out = foreign.look(*words, after_s=after)
    assert code == 4 and "the same failure 2 times in a row" in out, out
    assert not any(words_of(p)[:2] == [b"sleep", long.encode()] for p in processes.pids())
    code, out = foreign.look(*words, after_s=30)
    assert code == 4 and "this command stopped process" in out and "the same failure 2 times in a row" in out
    assert foreign.count() == 2
    assert not any(is_of(p, foreign.program) for p in processes.pids() if p != process.pid)


def test_a_killed_program_is_started_again(foreign: Foreign) -> None:
    """Gone: started again at the look after the pause, and never beside a living one."""
    process = foreign.start()
    words = ("--pid", str(process.pid), "--act", "--restart", foreign.restart)
    foreign.look(*words)
    process.kill()
    process.wait()
    code, out = foreign.look(*words)
    assert code == 3 and "to be started again in 1 s" in out and foreign.count() == 1
    code, out = foreign.look(*words, after_s=2)
    assert code == 3 and "started again (gone, exit unknown)" in out
    foreign.until(lambda: foreign.count() == 2)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("print('step 8/9'); print('step 9/9'); print('Training finished.')", 0, "[Monitor] COMPLETE | 9/9"),
        ("print('step 8/9'); print('step 9/9')", 5, "nothing says that this was all"),
        ("print('epoch 3 loss 0.5')", 5, "nothing tells whether it had finished"),
    ],
)
def test_a_finished_program_is_not_started_again(foreign: Foreign, words: str, code: int, said: str) -> None:
    """Gone after its last step: complete. Gone without a count to the end: a person is asked, nothing is started."""
    foreign.program.write_text(f"import sys\nopen(sys.argv[1], 'a').write('x')\nprint('step', flush=True)\n{words}\n")
    process = foreign.start()
    process.wait(20)
    argv = ("--pid", str(process.pid), "--act", "--restart", foreign.restart)
    foreign.look(*argv)
    got, out = foreign.look(*argv, after_s=30)
    assert got == code and said in out and foreign.count() == 1


def test_a_person_was_quicker(foreign: Foreign) -> None:
    """While the pause before a restart lasts somebody starts it by hand: no second one is started beside it."""
    process = foreign.start()
    words = ("--pid", str(process.pid), "--act", "--restart", foreign.restart)
    foreign.look(*words)
    process.kill()
    process.wait()
    foreign.look(*words)
    by_hand = foreign.start()
    foreign.until(lambda: foreign.count() == 2)
    code, out = foreign.look(*words, after_s=2)
    assert code == 5 and f"process {by_hand.pid} has the log open" in out and foreign.count() == 2


def test_commands_at_the_same_time_start_one(foreign: Foreign, tmp_path: Path) -> None:
    """Overlapping commands, as cron may start them: the dead run is started again once."""
    process = foreign.start()
    argv = [sys.executable, str(SCRIPT), "--log", str(foreign.log), "--expected", "9", "--pid", str(process.pid)]
    argv += ["--act", "--restart", foreign.restart]
    subprocess.run(argv, check=True, capture_output=True)
    process.kill()
    process.wait()
    subprocess.run(argv, check=False, capture_output=True)  # the pause of a second begins
    deadline = time.monotonic() + 20
    said: list[str] = []
    while foreign.count() == 1:  # the one that was started says so a little later than the command that started it
        assert time.monotonic() < deadline
        both = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(4)]
        said += [p.communicate(timeout=60)[0] for p in both]
    assert sum("started again (gone, exit unknown)" in text for text in said) == 1 and foreign.count() == 2, said


def test_without_a_word_it_refuses(foreign: Foreign) -> None:
    """Neither a restart command nor `stop`: the stale program lives on, and a person is asked."""
    process = foreign.start()
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", after_s=after)
    assert code == 5 and "nothing was done: runherd did not launch this run" in out and process.poll() is None


def test_stop_only(foreign: Foreign) -> None:
    """`--act stop`: stopped, with a line in the log, nothing started."""
    process = foreign.start()
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", "stop", after_s=after)
    assert code == 4 and process.wait(20) == -signal.SIGTERM and "not started again" in foreign.log.read_text()
    for after in (30, 60):
        code, out = foreign.look("--pid", str(process.pid), "--act", "stop", after_s=after)
        assert code == 4 and f"this command stopped process {process.pid} at 20" in out, out
        assert "STALE" in out and "no --restart COMMAND was given" in out
    assert "starting again" not in foreign.log.read_text()


def test_stopped_by_this_command_is_unfinished(foreign: Foreign) -> None:
    """A run without a count that was stopped first may be started again as soon as a command is named."""
    dying = "import signal; signal.signal(15, lambda *_: (print('Training stopped.', flush=True), sys.exit(1)))"
    foreign.program.write_text(PROGRAM.replace("print('step', n + 1, 'of 9'", f"{dying}\nprint('step'"))
    process = foreign.start()
    for after in (0, 1300, 30):
        foreign.look("--pid", str(process.pid), "--act", "stop", after_s=after)
    process.wait(20)
    for after in (30, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", "--restart", foreign.restart, after_s=after)
    assert code == 3 and "started again" in out
    foreign.until(lambda: foreign.count() == 2)


def test_the_word_in_a_log_without_append(foreign: Foreign) -> None:
    """A program that writes over its log's end as it dies does not take the line about the stop with it."""
    dying = "signal.signal(15, lambda *_: (print('saved and gone ' * 20, flush=True), sys.exit(1)))"
    foreign.program.write_text(PROGRAM.replace("import sys", "import signal, sys", 1).replace("print(", f"{dying}\nprint(", 1))
    with foreign.log.open("wb") as log:
        process = subprocess.Popen(foreign.argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    foreign.started.append(process)
    foreign.until(lambda: b"step" in foreign.log.read_bytes())
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", "stop", after_s=after)
    assert code == 4 and process.wait(20) == 1 and f"stopped process {process.pid}: STALE" in out
    said = [line for line in foreign.log.read_text().splitlines() if line.startswith("[runherd] ")]
    assert any(f"stopped process {process.pid}: STALE" in line for line in said), said


def test_a_process_that_does_not_end_is_told(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even gone by SIGKILL (as in an uninterruptible wait; here nothing is sent): no "stopped", nothing is started."""
    monkeypatch.setattr(stopstart, "GRACE_S", 0.1)
    monkeypatch.setattr(processes, "send", lambda *_: False)
    process = foreign.start()
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", "--restart", foreign.restart, after_s=after)
    assert code == 5 and "does not end, not even by SIGKILL" in out and foreign.count() == 1 and process.poll() is None


def test_a_program_that_does_not_hear_is_killed(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM is not heeded: SIGKILL after the grace, children too."""
    monkeypatch.setattr(stopstart, "GRACE_S", 0.2)
    child = "subprocess.Popen([sys.executable, *sys.argv, 'child'])"
    deaf = PROGRAM.replace("import sys", "import signal, subprocess, sys").replace(
        "print(", f"signal.signal(15, signal.SIG_IGN)\nif 'child' not in sys.argv: {child}\nprint(", 1
    )
    foreign.program.write_text(deaf)
    process = foreign.start()
    foreign.until(lambda: foreign.count() == 2)
    for after in (0, 1300, 30):
        code, _ = foreign.look("--pid", str(process.pid), "--act", "stop", after_s=after)
    assert code == 4 and process.wait(20) == -signal.SIGKILL
    assert not any(is_of(p, foreign.program) for p in processes.pids() if p != process.pid)


def test_a_bystander_is_never_touched(foreign: Foreign) -> None:
    """A pid whose process does not write the log (a `sleep`, a reused number): refused, it lives on."""
    process = foreign.start()
    bystander = subprocess.Popen(["sleep", "600"])
    foreign.started.append(bystander)
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(bystander.pid), "--act", "stop", after_s=after)
    assert code == 5 and "does not have the log open" in out
    assert bystander.poll() is None and process.poll() is None
    code, out = foreign.look("--pid", str(process.pid), "--pid-start", "1", "--act", "stop", after_s=30)
    assert "now belongs to another process" in out and process.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may start a process of another user")
def test_another_users_process_is_never_touched(foreign: Foreign) -> None:
    """A process of somebody else, though root could end it and it writes the log: refused, it lives on."""
    with foreign.log.open("wb") as log:
        theirs = subprocess.Popen(["sleep", "600"], stdout=log, user=65534)
    foreign.started.append(theirs)
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(theirs.pid), "--act", "stop", after_s=after)
    assert code == 5 and "belongs to another user" in out and theirs.poll() is None


def test_its_own_shell_is_never_touched(foreign: Foreign) -> None:
    """The process that runs the command is not ended by it, though it holds the log open."""
    foreign.start()
    with foreign.log.open("ab"):
        for after in (0, 1300, 30):
            code, out = foreign.look("--pid", str(os.getpid()), "--act", "stop", after_s=after)
    assert code == 5 and "the one that this command runs in" in out


def test_a_program_of_runherds_is_left_to_its_supervisor(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process with the token of a run of ours is not ended by its pid."""
    monkeypatch.setenv(processes.TOKEN_VARIABLE, "x")
    process = foreign.start()
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", "stop", after_s=after)
    assert code == 5 and "belongs to a run that runherd launched" in out and process.poll() is None


def test_two_quick_looks_are_one(foreign: Foreign) -> None:
    """Looking twice within seconds does not make a verdict of a suspicion."""
    process = foreign.start()
    words = ("--pid", str(process.pid), "--act", "stop")
    foreign.look(*words)
    foreign.look(*words, after_s=1300)
    code, out = foreign.look(*words, after_s=1)
    assert code == 1 and "the next look decides" in out and process.poll() is None


def test_json_tells_process_and_act(foreign: Foreign) -> None:
    """The JSON form names the process with its start, to be handed back, and what was done."""
    process = foreign.start()
    _, out = foreign.look("--json", "--act")
    got = json.loads(out)
    who = processes.identify(process.pid)
    assert who is not None
    assert (got["pid"], got["pid_start"], got["act"]) == (process.pid, who.start_ticks, "")
