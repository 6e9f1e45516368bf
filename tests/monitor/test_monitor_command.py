"""`runherd monitor` on runs that are not ours, from the outside."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runherd.monitor.command import main
from runherd.monitor.process import look, writer_of

SCRIPT = Path(__file__).parents[2] / "scripts" / "monitor.py"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A result of 85 items, 47 of them right, and a log, under awkward names."""
    folder = tmp_path / "expériments 'x'"
    folder.mkdir()
    result, log = folder / "X.json", folder / "Y.log"
    result.write_text(
        json.dumps({"per_item": [{"id": i, "response": "ABCD"[i % 4], "correct": i < 47} for i in range(85)]})
    )
    log.write_text("step 85/140\n")
    return result, log


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def test_healthy_line(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The one line, to the letter, for a live run that is not ours."""
    result, log = files
    with log.open("ab") as out:
        process = subprocess.Popen(["sleep", "60"], stdout=out)
    try:
        code = main([str(result), "--log", str(log), "--expected", "140", "--pid", str(process.pid)])
    finally:
        process.kill()
        process.wait()
    out = capsys.readouterr().out
    assert code == 0
    assert out.rpartition("Log: ")[0] == "[Monitor] HEALTHY | 85/140 (60.7%) | Acc: 55.3% | Nulls: 0 | "
    assert out.count("\n") == 1


def test_dead_pid(
    files: tuple[Path, Path], sleeper: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """A process that is gone with items missing is dead, and the reasons follow."""
    sleeper.kill()
    sleeper.wait()
    result, log = files
    assert main([str(result), "--log", str(log), "--expected", "140", "--pid", str(sleeper.pid)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("[Monitor] DEAD | 85/140 (60.7%)") and "why:" in out and "action:  resume" in out


def test_complete(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """All items there: complete, with the reminder to validate."""
    result, log = files
    assert main([str(result), "--log", str(log), "--expected", "85"]) == 0
    assert capsys.readouterr().out.startswith("[Monitor] COMPLETE | 85/85 | Accuracy: 55.3%\nValidate before")


def test_json(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON form has the state and the numbers."""
    result, log = files
    main([str(result), "--log", str(log), "--expected", "140", "--json"])
    got = json.loads(capsys.readouterr().out)
    assert (got["state"], got["done"], got["expected"], got["nulls"]) == ("HEALTHY", 85, 140, 0)
    assert got["what_would_change_it"]


def test_act_takes_no_name_for_its_own(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """`--act FILE` looks at the file, and so does `--gpu FILE`: the options' own words are of another form."""
    for option in ("--act", "--gpu"):
        assert main([option, str(files[0])]) == 0
        assert capsys.readouterr().out.startswith("[Monitor] HEALTHY | 85 items")


def test_nothing_to_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    """No argument, or an unknown run, is the user's mistake: exit 2 and what to type."""
    assert main([]) == 2
    assert main(["R404"]) == 2
    assert "no such run" in capsys.readouterr().err


def test_a_wrong_name_is_not_healthy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files that are not there (a typing error): UNKNOWN, exit 5, never HEALTHY."""
    assert main([str(tmp_path / "X.json"), "--log", str(tmp_path / "nope.log"), "--expected", "9"]) == 5
    assert capsys.readouterr().out.startswith("[Monitor] UNKNOWN | nothing of it can be seen")


@pytest.mark.parametrize("kind", ["folder", "pipe", "missing", "locked"])
def test_a_log_that_cannot_be_read(
    tmp_path: Path, sleeper: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """A folder, a pipe without a writer, no file, no right to read: told as a sign, at once, without a traceback."""
    log = tmp_path / "Y 'ü'.log"
    if kind == "folder":
        log.mkdir()
    elif kind == "pipe":
        os.mkfifo(log)
    elif kind == "locked":
        log.write_text("step 1/9\n")
        log.chmod(0)
        if os.access(log, os.R_OK):
            pytest.skip("this user may read everything")
    assert main([str(tmp_path / "X.json"), "--log", str(log), "--pid", str(sleeper.pid)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("[Monitor] HEALTHY\n  sign:    the log ") and str(log) in out


def test_a_result_that_is_no_file(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """A pipe under the name of a result, or of a training tool's file, is not waited for."""
    for name in ("X.json", "X.jsonl", "metrics.csv", "trainer_state.json"):
        os.mkfifo(tmp_path / name)
        assert main([str(tmp_path / name), "--pid", str(sleeper.pid)]) == 0


def test_a_reader_that_leaves(files: tuple[Path, Path], sleeper: subprocess.Popen[bytes]) -> None:
    """`monitor --follow | head -1`: it ends, without a word on stderr."""
    words = f"{sys.executable} '{SCRIPT}' --log \"$0\" --pid {sleeper.pid} --follow --interval 0.05 | head -1"
    done = subprocess.run(["sh", "-c", words, str(files[1])], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("[Monitor] HEALTHY") and not done.stderr


def test_a_restart_without_act_is_a_mistake(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """`--restart` alone would do nothing: it is refused instead of being passed over."""
    assert main(["--log", str(files[1]), "--restart", "true"]) == 2
    assert "without --act nothing is done" in capsys.readouterr().err


def record(root: Path, *events: dict[str, object]) -> None:
    """A run of ours as its ledger tells it, without an attempt at work."""
    folder = root / "runs" / "R001"
    folder.mkdir(parents=True)
    (folder / "spec.json").write_text('{"run_id": "R001", "data": {}}')
    lines = [json.dumps({"v": 1, "t": "2026-01-02T03:04:05Z", "gen": 1, **e}) + "\n" for e in events]
    (folder / "events.jsonl").write_text("".join(lines))


REQUESTED = {"e": "requested", "reason": "first"}
LAUNCHED = {"e": "launched", "attempt": 1, "reason": "first"}
EXITED = {"e": "exited", "attempt": 1, "code": 1}
RESUME = {
    "e": "judged", "attempt": 1, "action": "resume", "reason": "api_quota", "delay_s": 120.0,
    "not_before": "2026-01-02T03:06:05Z",
}  # fmt: skip


@pytest.mark.parametrize(
    ("events", "code", "said"),
    [
        ((REQUESTED,), 3, "WAITING | no attempt has been started yet"),
        ((REQUESTED, {"e": "noted", "text": "waiting: 1 free GPU(s) of 2"}), 3, "WAITING | waiting: 1 free GPU(s)"),
        (
            (REQUESTED, LAUNCHED, EXITED, RESUME),
            3,
            "WAITING | attempt 1 ended: api_quota; it is resumed, not before 2026-01-02T03:06:05Z",
        ),
        ((REQUESTED, LAUNCHED, EXITED, {"e": "ended", "status": "blocked", "note": "why"}), 4, "BLOCKED | blocked: why"),
        ((REQUESTED, LAUNCHED, EXITED, {"e": "ended", "status": "done"}), 0, "COMPLETE"),
    ],
)
def test_what_the_record_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], events: tuple[dict[str, object], ...], code: int, said: str
) -> None:
    """Before the first attempt, between two, and at the end the ledger of a run of ours says how it is."""
    record(tmp_path, *events)
    assert main(["R001", "--root", str(tmp_path)]) == code
    assert capsys.readouterr().out.startswith(f"[Monitor] {said}")


def test_whole_script(files: tuple[Path, Path]) -> None:
    """The script is a command of its own and imports nothing heavy."""
    result, log = files
    command = [
        sys.executable,
        "-X",
        "importtime",
        str(SCRIPT),
        str(result),
        "--log",
        str(log),
        "--expected",
        "140",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=log.parent)
    assert done.returncode == 0 and done.stdout.startswith("[Monitor] HEALTHY")
    heavy = (
        "yaml",
        "pydantic",
        "pandas",
        "numpy",
        "jinja2",
        "runherd.diagnose.record",
        "runherd.collect",
        "tempfile",
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "runherd.monitor.classify" in loaded and not loaded & set(heavy)


def test_process_identity(sleeper: subprocess.Popen[bytes]) -> None:
    """A number with another start belongs to another process."""
    alive = look(sleeper.pid)
    assert alive.state == "alive" and alive.started_at
    assert look(sleeper.pid, start_ticks=1).state == "gone"


def test_writer_is_found(tmp_path: Path) -> None:
    """The process that holds a log open is found; a reader of it is not."""
    path = tmp_path / "log"
    with path.open("wb") as f:
        process = subprocess.Popen(["sleep", "60"], stdout=f)
    try:
        assert writer_of(str(path)).pid == process.pid
    finally:
        process.kill()
        process.wait()
    with path.open("rb") as f:
        process = subprocess.Popen(["sleep", "60"], stdin=f)
    try:
        assert writer_of(str(path)).pid is None
    finally:
        process.kill()
        process.wait()


def test_the_writer_of_before_is_asked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the process that wrote the log at the last look still does, no other process is looked into."""
    path = tmp_path / "log"
    with path.open("wb") as f:
        process = subprocess.Popen(["sleep", "60"], stdout=f)
    listed = []
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda p=".": listed.append(p) or real(p))
    try:
        assert writer_of(str(path), first=process.pid).pid == process.pid and "/proc" not in listed
        assert writer_of(str(path), first=1).pid == process.pid and "/proc" in listed
    finally:
        process.kill()
        process.wait()
    assert writer_of(str(path), first=process.pid).pid is None


def test_parsers_are_quick_to_name() -> None:
    """Adding both sub-commands loads neither the collectors nor the validation."""
    program = (
        "import sys, argparse; from runherd.cli.watch_commands import add_parsers;"
        "add_parsers(argparse.ArgumentParser().add_subparsers());"
        "print([m for m in sys.modules if m.startswith(('runherd.collect', 'runherd.validate.verdict'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_program_on_another_host_is_not_called_dead(tmp_path: Path) -> None:
    """What this machine's process table cannot show is unknown, and never dead for sure."""
    from runherd.monitor import own

    folder = tmp_path / "runs" / "R001"
    (folder / "attempts" / "1").mkdir(parents=True)
    program = {"host": "another-host", "boot_id": "x", "pid": 1, "start_ticks": 1, "sid": 1}
    (folder / "attempts" / "1" / "process.json").write_text(json.dumps({"program": program}))
    alive = own.target(str(folder)).alive
    assert alive is not None and alive.state == "unknown" and "another-host" in alive.why


@pytest.mark.parametrize(
    ("data", "url"),
    [
        ({"endpoint": {"url": "http://a"}}, "http://a"),
        ({"endpoint": {"url": "http://a"}, "monitor": {"endpoint": "http://b"}}, "http://b"),
        ({"monitor": {"endpoint": None}}, None),
    ],
)
def test_which_endpoint_is_probed(tmp_path: Path, data: dict[str, object], url: str | None) -> None:
    """`monitor.endpoint` where it is set, else the run's own `endpoint.url`."""
    from runherd.monitor import own

    (tmp_path / "spec.json").write_text(json.dumps({"run_id": "R001", "data": data}))
    assert own.target(str(tmp_path)).endpoint == url


@pytest.mark.parametrize(
    ("spec", "warn", "stop"),
    [
        ({}, 0.05, 0.20),
        ({"validate": {"null_warn": 0.1, "null_fail": 0.3}}, 0.1, 0.3),
        ({"monitor": {"null_rate_warn": 0, "null_rate_stop": 0.0}, "validate": {"null_fail": 0.3}}, 0.0, 0.0),
    ],
)
def test_bounds_of_nulls(spec: dict[str, object], warn: float, stop: float) -> None:
    """The monitor's own bounds go first, and a bound of 0 is one."""
    from runherd.monitor.observe import limits_of

    assert (limits_of(spec).null_warn, limits_of(spec).null_stop) == (warn, stop)


def test_a_run_is_found_where_the_project_puts_its_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`paths.runs` in project.yaml is honoured for a run that is named by its id."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "project.yaml").write_text("paths: {runs: my-runs}\n")
    attempt = tmp_path / "my-runs" / "R001" / "attempts" / "1"
    attempt.mkdir(parents=True)
    (attempt / "log.txt").write_text("step 1/4\n")
    (attempt / "exit.json").write_text('{"code": 0, "signal": null}')
    main(["R001", "--root", str(tmp_path)])
    assert "R001" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--pid", v) for v in ("0", "-5", "99999999999999999999")),
        *(("--expected", v) for v in ("-1", "0")),
        *(("--stale", v) for v in ("nan", "0", "-3", "inf")),
        *(("--interval", v) for v in ("0", "nan", "-1", "inf")),
        ("--pid-start", "-1"),
    ],
)
def test_numbers_that_mean_nothing(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], option: str, value: str) -> None:
    """Told with what is allowed, exit 2, before anything is looked at."""
    assert main(["--log", str(files[1]), f"{option}={value}"]) == 2
    said = capsys.readouterr()
    assert not said.out and said.err.startswith(option) and "allowed:" in said.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_behind_the_output(files: tuple[Path, Path]) -> None:
    """Output that cannot be written is a sentence and exit 2, not a traceback nor the exit of a healthy run."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, str(SCRIPT), "--log", str(files[1])]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.startswith("standard output: the output cannot be written")
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_any_command(files: tuple[Path, Path], unbuffered: str) -> None:
    """Another command's output that cannot be written, at once or at its end: a sentence and exit 2."""
    command = [sys.executable, "-m", "runherd.cli.main", "validate", str(files[0])]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False, env=env)
    assert done.returncode == 2 and done.stderr == "runherd: the output cannot be written: No space left on device\n"


def test_what_to_validate(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The command to type names the result as a shell takes it; of a log alone there is nothing to validate."""
    result, log = files
    main([str(result), "--log", str(log), "--expected", "85"])
    assert f"runherd validate {shlex.quote(str(result))}\n" in capsys.readouterr().out
    log.write_text("step 9/9\n")
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    main(["--log", str(log), "--pid", str(gone.pid), "--expected", "9"])
    out = capsys.readouterr().out
    assert "COMPLETE" in out and "No result is named" in out and "runherd validate" not in out


@pytest.mark.parametrize(("text", "shown"), [("item 1", "1 item"), ("item 23", "23 items"), ("step 7", "7 steps")])
def test_one_and_many(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], text: str, shown: str) -> None:
    """A count without a total has its unit in the right number."""
    files[1].write_text(f"{text}\n")
    main(["--log", str(files[1])])
    assert capsys.readouterr().out.startswith(f"[Monitor] HEALTHY | {shown} |")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("X.json", '{"per_item": [{"id": 1, "resp', True),
        ("X.json", "epoch 3\n", True),
        ("X.jsonl", "epoch 3\n", True),
        ("X.jsonl", '{"id": 1, "resp', True),
        ("X.jsonl", '{"id": 1, "response": "A"}\n{"id": 2, "resp', False),
        ("X.json", '{"per_item": []}', False),
        ("X.json", '{"epochs": 4}', False),
    ],
)
def test_a_result_that_is_not_json_yet(
    tmp_path: Path, sleeper: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str], name: str, text: str, said: bool
) -> None:
    """A named result that is half-written or no JSON is told beside HEALTHY; one that holds whole items is not."""
    path = tmp_path / name
    path.write_text(text)
    assert main([str(path), "--pid", str(sleeper.pid)]) == 0
    assert (f"sign:    {path} is not whole JSON yet" in capsys.readouterr().out) == said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("hf 'ü'.log", "step 3/9\n", "3/9 (33.3%)"),
        ("train.OUT", "step 3/9\n", "3/9 (33.3%)"),
        ("hf.txt", '{"loss": 0.5, "step": 3}\n', "Log:"),
        ("nohup", "[INFO] step 3/9\n", "3/9 (33.3%)"),
        ("nohup", "[2026-11-29 10:00:00] step 3/9\n", "3/9 (33.3%)"),
        ("preds", '{"per_item": [{"id": 1, "response": "A"}]}', "1 item"),
        ("preds", '[{"id": 1, "response": "A"}]', "1 item"),
        ("preds", ' [\n {"id": 1, "response": "A"}]', "1 item"),
    ],
)
def test_a_file_that_is_named_without_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, said: str
) -> None:
    """`runherd monitor hf.log`: a log is read as one, and a result that is called like nothing as what it holds."""
    path = tmp_path / name
    path.write_text(text)
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert said in out and "not whole JSON" not in out and ("Log:" in out) == (not name.startswith("preds"))


def test_a_folder_is_no_second_run(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A folder beside a log (a checkpoint's, perhaps): told what it is not, and what to say instead."""
    assert main([str(files[1].parent), "--log", str(files[1])]) == 2
    said = capsys.readouterr()
    assert not said.out and "this is a folder, but not one of a run" in said.err and "--checkpoint" in said.err


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize(
    ("ids", "expected", "said"),
    [
        (range(12), 10, "the result holds 12 items, 10 are expected"),
        ([i % 5 for i in range(10)], 10, "5 of 10 items have an id that an earlier one has"),
        ([*range(3000), *range(3)], 3003, "3 of 3003 items have an id that an earlier one has"),
        (range(10), 10, None),
    ],
)
def test_a_result_with_too_many_items(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str, ids: list[int], expected: int, said: str | None
) -> None:
    """More items than expected, or items with one id, are complete, but not without a sign."""
    path = tmp_path / f"X{suffix}"
    items = [json.dumps({"id": i, "response": "ABCD"[n % 4], "correct": True}) for n, i in enumerate(ids)]
    path.write_text("\n".join(items) + "\n" if suffix == ".jsonl" else f"[{','.join(items)}]")
    for _ in range(2):
        assert main([str(path), "--expected", str(expected)]) == 0
        out = capsys.readouterr().out
        assert out.startswith("[Monitor] COMPLETE") and ("sign:" in out) == (said is not None) and (said or "") in out


def test_ids_of_lines_that_came_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines that repeat what an earlier look counted; the same id of another task is another item."""
    path = tmp_path / "X.jsonl"
    path.write_text('{"id": 1, "response": "A"}\n{"id": 1, "task_type": "b", "response": "B"}\n')
    main([str(path)])
    assert "sign:" not in capsys.readouterr().out
    with path.open("a") as f:
        f.write('{"id": 1, "response": "A"}\n')
    main([str(path)])
    assert "1 of 3 items have an id" in capsys.readouterr().out


def test_why_says_more_than_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """UNKNOWN asks a person, at the first look if the next one says the same; no line repeats the headline."""
    assert main(["--log", str(tmp_path / "nope.log")]) == 5
    head, *rest = capsys.readouterr().out.splitlines()
    assert "  action:  a person must look, if the next look says the same" in rest
    whys = [line.removeprefix("  why:     ") for line in rest if line.startswith("  why:")]
    assert whys == ["process unknown (no process id is known)"] and not any(why in head for why in whys)
