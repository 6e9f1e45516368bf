"""The wrapper alone, as a supervisor starts it: what it writes down, and the limits that it sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

WRAPPER = Path(__file__).parents[2] / "src" / "runherd" / "supervise" / "wrapper.py"
GREEDY = "held = bytearray(700 << 20)"


def wrap(folder: Path, *programs: str, **command: Any) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Run Python programs as the steps of an attempt; exit.json, process.json and what they said."""
    folder.mkdir()
    steps = [
        {"name": f"s{i}", "argv": [sys.executable, "-c", program], "cwd": str(folder), "env": {}, "done_mark": None}
        for i, program in enumerate(programs)
    ]
    for step in steps[:-1]:
        step["done_mark"] = str(folder / f"{step['name']}.done")
    (folder / "command.json").write_text(json.dumps({"steps": steps, **command}))
    lock = os.open(folder / "program.lock", os.O_RDWR | os.O_CREAT)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(WRAPPER), str(folder)], env={**os.environ, "RUNHERD_LOCK_FDS": str(lock)},
        pass_fds=[lock], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
    )  # fmt: skip
    os.close(lock)
    ended, process = (json.loads((folder / f"{name}.json").read_text()) for name in ("exit", "process"))
    return ended, process, done.stdout


@pytest.mark.parametrize(
    ("program", "code", "signal"),
    [
        ("", 0, None),
        ("raise SystemExit(7)", 7, None),
        ("import os; os.kill(os.getpid(), 9)", None, "SIGKILL"),
        ("import os; os.kill(os.getpid(), 15)", None, "SIGTERM"),
    ],
)
def test_exit_is_written_down(tmp_path: Path, program: str, code: int | None, signal: str | None) -> None:
    """Code or signal, the times, and what was used."""
    ended, process, _ = wrap(tmp_path / "a 'π'", program)
    assert (ended["code"], ended["signal"]) == (code, signal)
    assert 0 < ended["seconds"] < 60 and ended["started"] <= ended["ended"] and ended["max_rss_kib"] > 1000
    assert process["program"]["sid"] == process["wrapper"]["sid"] and process["memory_limit"] == "none"


def test_steps_go_in_order_and_a_failed_one_ends_them(tmp_path: Path) -> None:
    """The second step fails: the first left its mark, the third never began."""
    folder = tmp_path / "a"
    ended, _, said = wrap(folder, "print(1)", "print(2); raise SystemExit(3)", "print(3)")
    assert said.split() == ["1", "2"] and (ended["code"], ended["step"]) == (3, "s1")
    assert (folder / "s0.done").exists() and not (folder / "s1.done").exists()


def test_program_that_cannot_be_started(tmp_path: Path) -> None:
    """No such program: code 127, and a line in the log that names it."""
    folder = tmp_path / "a"
    folder.mkdir()
    step = {"name": "run", "argv": ["no-such-program"], "cwd": str(folder), "env": {}, "done_mark": None}
    (folder / "command.json").write_text(json.dumps({"steps": [step]}))
    lock = os.open(folder / "program.lock", os.O_RDWR | os.O_CREAT)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(WRAPPER), str(folder)], env={**os.environ, "RUNHERD_LOCK_FDS": str(lock)},
        pass_fds=[lock], capture_output=True, text=True,
    )  # fmt: skip
    os.close(lock)
    assert json.loads((folder / "exit.json").read_text())["code"] == 127 and "no-such-program" in done.stdout


def test_address_space_limit(tmp_path: Path) -> None:
    """Where no cgroup is asked for, RLIMIT_AS holds: an allocation beyond it fails."""
    ended, process, said = wrap(tmp_path / "a", GREEDY, limits={"mem_mib": None, "address_space_mib": 500})
    assert ended["code"] == 1 and "MemoryError" in said and process["memory_limit"] == "RLIMIT_AS"
    assert wrap(tmp_path / "b", GREEDY, limits={"address_space_mib": 2000})[0]["code"] == 0


HELD_TO = """import pathlib
for line in open("/proc/self/cgroup"):
    _, controllers, path = line.rstrip("\\n").split(":", 2)
    for mount in open("/proc/self/mounts"):
        _, folder, kind, options, *_ = mount.split()
        if kind == "cgroup2" and not controllers or kind == "cgroup" and "cpu" in controllers.split(",") and "cpu" in options.split(","):
            for name in ("cpu.max", "cpu.cfs_quota_us"):
                file = pathlib.Path(folder + path, name)
                if "runherd-" in path and file.exists():
                    print(file.read_text().split()[0])
"""


def test_cores_are_bounded_and_nothing_of_it_stays(tmp_path: Path) -> None:
    """With two cores asked for, the program lives in a cgroup with the quota of two, which is gone afterwards."""
    ended, process, said = wrap(tmp_path / "a", HELD_TO, limits={"cpus": 2})
    if process["cpu_limit"] == "none":
        pytest.skip("no cgroup with a cpu quota may be made here")
    assert (ended["code"], process["cpu_limit"], said.split()) == (0, "cgroup", ["200000"])
    assert process["groups"] and not any(Path(g).exists() for g in process["groups"])


def test_without_limits_no_cgroup_is_made(tmp_path: Path) -> None:
    """A run that asks for nothing is left where it is."""
    _, process, said = wrap(tmp_path / "a", HELD_TO)
    assert (process["groups"], process["cpu_limit"], process["memory_limit"], said) == ([], "none", "none", "")


@pytest.mark.parametrize(
    "text", ["${A_SET}", "x$A_SET/y", "${NOT_SET_HERE:-a b}", "${A_SET:-other}", "$$A_SET", "${A_SET}${A_SET}", "plain", "${}"]
)
def test_references_mean_the_same_here_as_in_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """`execution.env` is checked by the configuration and filled in by the wrapper: one pattern, one outcome."""
    from runherd.config.render import REFERENCE, CommandValues, _own_variables
    from runherd.config.spec import Spec
    from runherd.supervise import wrapper

    assert wrapper.REFERENCE.pattern == REFERENCE.pattern and wrapper.REFERENCE.flags == REFERENCE.flags
    monkeypatch.setenv("A_SET", "v alue")
    spec = Spec("R1", {"execution": {"env": {"GIVEN": text}}}, {}, "", {})
    wanted = _own_variables(spec, CommandValues(root="/", spec_file="", workdir=""))["GIVEN"]
    folder = tmp_path / "a"
    folder.mkdir()
    step = {
        "name": "s", "argv": [sys.executable, "-c", "import os; print(repr(os.environ['GIVEN']))"], "cwd": str(folder),
        "env": {}, "env_taken": {"GIVEN": text}, "done_mark": None,
    }  # fmt: skip
    (folder / "command.json").write_text(json.dumps({"steps": [step]}))
    lock = os.open(folder / "program.lock", os.O_RDWR | os.O_CREAT)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(WRAPPER), str(folder)], env={**os.environ, "RUNHERD_LOCK_FDS": str(lock)},
        pass_fds=(lock,), capture_output=True, text=True, check=False,
    )  # fmt: skip
    os.close(lock)
    assert repr(wanted) in done.stdout, done


@pytest.mark.parametrize(
    ("written", "file", "found"),
    [
        ("out/{{ run_id }}", "configs/project.yaml", "out/R1"), ("out/L2", "configs/runs/R1.yaml", "out/L2"),
        ("results", "configs/project.yaml", None), (None, "configs/_defaults/global.yaml", None),
    ],
)  # fmt: skip
def test_an_output_root_of_its_own(tmp_path: Path, written: str | None, file: str, found: str | None) -> None:
    """What lies under `output.root` is a sign of this run's life only where no other run writes there too."""
    from runherd.config.render import CommandValues
    from runherd.config.spec import Setting, Spec
    from runherd.lifecycle import prepare

    origins = {"output.root": [Setting("x", file, 1, written)]}
    spec = Spec("R1", {"output": {"root": written}}, origins, "", {})
    values = CommandValues(root=str(tmp_path), spec_file="s", workdir="w", resume=False)
    assert prepare.own_root(spec, values) == (found and str(tmp_path / found))
