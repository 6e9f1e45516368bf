"""NVML by the real binding: placement, waiting with a reason, utilisation, a driver that hangs or is not there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flowkit import SOURCES
from live import Live

from runherd import locks, processes

from .conftest import Driver

ZERO = "gpu uuid=GPU-00aa index=0 util=0 total=85899345920 used=0"
ONE = "gpu uuid=GPU-11bb util=80 total=85899345920 used=0"
STRANGER = "gpu uuid=GPU-11bb util=99 total=85899345920 used=41943040000 procs=4242:41943040000"
Make = Callable[..., Live]


def on_gpu(**more: Any) -> dict[str, Any]:
    return {"params": {"behaviour": "holds_gpu"}, "execution": {"gpus": 1}, **more}


def seen(project: Live, run_id: str) -> str | None:
    """CUDA_VISIBLE_DEVICES as the program saw it."""
    path = project.control / f"{run_id}.gpus"
    return path.read_text() if path.exists() else None


def nudge(project: Live, run_id: str) -> None:
    """Let a waiting supervisor look again at once."""
    who = locks.holder(project.run_dir(run_id) / "supervisor.lock")
    assert who is not None and processes.send(who, signal.SIGUSR1)


def status(project: Live, driver: Driver) -> str:
    argv = [sys.executable, "-m", "runherd.cli.main", "status"]
    env = {**project.environment(), **driver.env}
    return subprocess.run(argv, cwd=project.root, env=env, capture_output=True, text=True, timeout=60).stdout


def noted(project: Live, run_id: str) -> list[str]:
    return [e["text"] for e in project.kinds(run_id, "noted")]


def test_three_runs_on_two_devices_one_of_them_a_strangers(live: Make, driver: Driver) -> None:
    """One run is placed at once, two wait and say for what; each gets a device by UUID when it is free."""
    driver.devices(ZERO, STRANGER)
    idle = {"gpu_idle_s": 0.3}
    project = live({r: on_gpu(monitor=idle) for r in ("A", "B", "C")})
    launchers = {"A": project.launcher("A", **driver.env)}
    project.until(lambda: seen(project, "A"), "A is at work")
    assert seen(project, "A") == "GPU-00aa"
    for run_id in ("B", "C"):
        launchers[run_id] = project.launcher(run_id, **driver.env)
        project.until(lambda r=run_id: noted(project, r), f"{run_id} waits")
        waits = f"GPU 0: held by another run (pid {project.wrapper('A')}); GPU 1: in use by pid 4242, 40000 MiB used"
        assert waits in noted(project, run_id)[0]
    assert "waiting: 1 free GPU of 2 (GPU 0: held" in status(project, driver)

    driver.devices(ZERO, ONE)
    nudge(project, "B")
    project.until(lambda: seen(project, "B"), "B is at work")
    assert seen(project, "B") == "GPU-11bb" and seen(project, "C") is None
    samples = project.run_dir("B") / "attempts" / "1" / "samples.jsonl"
    project.until(samples.exists, "B is sampled")
    project.until(lambda: any(t.startswith("GPU_IDLE") for t in noted(project, "A")), "A's idle device is warned of")
    project.until(lambda: "GPU_IDLE" in project.notes("A"), "the tracker says so too")
    assert "GPU_IDLE" in status(project, driver) and not any("GPU_IDLE" in t for t in noted(project, "B"))

    project.ask("A", "go")
    launchers["A"].communicate(timeout=60)
    nudge(project, "C")
    project.until(lambda: seen(project, "C"), "C is at work")
    assert seen(project, "C") == "GPU-00aa"
    for run_id in ("B", "C"):
        project.ask(run_id, "go")
        launchers[run_id].communicate(timeout=60)
    assert {r: project.ended(r)[0] for r in launchers} == {"A": "done", "B": "done", "C": "done"}
    cost = project.record("B", "cost")
    assert cost["gpu_ids"] == ["GPU-11bb"] and cost["attempts"][0]["gpu_util_mean"] == 80
    assert cost["gpu_seconds"] == round(cost["attempts"][0]["wall_clock_seconds"], 1) > 0
    assert project.count("A") == project.count("B") == project.count("C") == 1 and "GPU_IDLE" not in project.notes("A")


def test_memory_that_is_not_free_is_waited_for(live: Make, driver: Driver) -> None:
    """A device whose memory is used by nobody that can be seen, or too much of it, is not taken."""
    driver.devices("gpu uuid=GPU-00aa total=85899345920 used=42949672960")
    execution = {"gpus": 1, "gpu_mem_mib": 60000}
    project = live({"big": on_gpu(execution=execution), "any": on_gpu()})
    for run_id in ("big", "any"):
        project.launcher(run_id, **driver.env)
        project.until(lambda r=run_id: noted(project, r), f"{run_id} waits")
    assert "GPU 0: 40960 MiB free, 60000 asked for" in noted(project, "big")[0]
    assert "40960 MiB used by processes that cannot be seen" in noted(project, "any")[0]


def test_hung_driver_hangs_nothing(live: Make, driver: Driver) -> None:
    """A driver that no longer answers once the run is at work: the end is seen and settled all the same."""
    driver.devices(ZERO)
    project = live({"A": on_gpu()})
    launcher = project.launcher("A", **driver.env)
    project.until(lambda: seen(project, "A"), "A is at work")
    driver.devices(ZERO, "delay 30")
    project.until(lambda: looking(project), "a look hangs in the driver")
    project.ask("A", "go")
    launcher.communicate(timeout=9)  # less than the driver's time-out, not to mention a hung look's
    assert project.ended("A") == ("done", "")


def test_hung_driver_is_waited_for(driver: Driver) -> None:
    """Choosing a device from a driver that does not answer: not yet, and why; and no device is listed."""
    driver.devices(ZERO, "delay 30")
    code = (
        "from runherd import gpu; gpu.DRIVER_TIMEOUT_S = 0.2;"
        "print(gpu.choose(1).wait_for, gpu.devices(), sep=chr(10))"
    )
    env = {**os.environ, **driver.env, "PYTHONPATH": str(SOURCES)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=20)
    assert done.stdout.splitlines() == ["the NVIDIA driver does not answer (within 0.2 s)", "[]"]


def looking(project: Live) -> bool:
    """Whether a look of this project is in a system call of the fake driver (it sleeps there)."""
    for pid in project.processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            mapped = "libnvidia-ml" in Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            continue
        if b"look" in words and mapped:
            return True
    return False


def test_no_driver_is_one_clear_sentence(live: Make, driver: Driver) -> None:
    """Without a driver preflight says so in one sentence; a GPU run launched all the same is BLOCKED with it."""
    project = live({"A": on_gpu(), "cpu": {"params": {"behaviour": "well"}}})
    argv = [sys.executable, "-m", "runherd.cli.main", "preflight", "--json"]
    done = subprocess.run(argv, cwd=project.root, env=project.environment(), capture_output=True, text=True)
    said = [f["what"] for f in json.loads(done.stdout)["findings"] if f["check"] == "gpu"]
    assert said == ["A asks for 1 GPU, but this machine has no NVIDIA driver or GPU"]
    project.launch("A", "cpu")
    assert project.ended("A") == ("blocked", "CONFIG") and "no NVIDIA driver" in project.notes("A")
    assert project.ended("cpu") == ("done", "")
