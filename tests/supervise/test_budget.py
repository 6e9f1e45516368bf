"""A budget in GPU-hours on a machine with two (invented) GPUs: the next launch is stopped, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from live import Live

NVML = '''
class NVMLError(Exception):
    pass


class Memory:
    total, used = 80 << 30, 1 << 20


class Rates:
    gpu = 50


nvmlInit = nvmlShutdown = lambda: None
nvmlDeviceGetCount = lambda: 2
nvmlDeviceGetHandleByIndex = lambda i: i
nvmlDeviceGetMemoryInfo = lambda h: Memory
nvmlDeviceGetUtilizationRates = lambda h: Rates
nvmlDeviceGetComputeRunningProcesses = lambda h: []
nvmlDeviceGetUUID = lambda h: f"GPU-invented-{h}"
nvmlDeviceGetName = lambda h: "NVIDIA H100 80GB HBM3"
'''
ON_TWO = {"execution": {"gpus": 2, "gpu_provider": "modal"}}
ON_ONE = {"execution": {"gpus": 1, "gpu_provider": "modal"}}
HOURS = 0.01  #: of GPU: 36 s


def test_gpu_hours_stop_the_next_launch_only(live: Callable[..., Live], tmp_path: Path) -> None:
    """A run with GPUs is at work when the budget is spent: it ends well; the next one stays TODO, and all places say why."""
    project = live(
        {"a": {"params": {"behaviour": "waits"}, **ON_TWO}, "b": {**ON_ONE}}, budget={"gpu_hours": HOURS},
    )  # fmt: skip
    (tmp_path / "pynvml.py").write_text(NVML)
    program = project.root / "behaviour.py"
    program.write_text(program.read_text().replace("def well(", WAITS + "\n\ndef well(", 1))
    env = {"PYTHONPATH": f"{tmp_path}:{project.environment()['PYTHONPATH']}", "RUNHERD_GPU_LOCKS": str(tmp_path / "locks")}
    at_work = project.launcher("a", **env)
    project.until(lambda: (project.control / "a.up").exists(), "a is at work")
    project.until(lambda: project.kinds("a", "started"), "a is recorded")
    _long_ago(project.root / "runs" / "a" / "events.jsonl")
    [(code, said)] = project.launch("b", **env).values()
    assert code == 4 and "of 0.01 GPU hours are spent" in said, said
    assert (project.count("b"), project.cell("b")) == (0, "TODO")
    assert "not launched: budget" in project.notes("b")
    assert project.cell("a") == "RUNNING"
    status = _runherd(project, env, "status", "--json")
    told = json.loads(status.stdout)
    assert "of 0.01 GPU hours are spent" in (told["budget"] or ""), told
    (project.control / "a.go").write_text("")
    out, _ = at_work.communicate(timeout=60)
    assert project.ended("a")[0] == "done", out
    bill = project.record("a", "cost")
    assert len(bill["gpu_ids"]) == 2 and bill["gpu_seconds"] > 0
    assert bill["attempts"][0]["usd_source"].startswith("https://modal.com")
    told = _runherd(project, env, "cost", "--json")
    assert {"runs_total", "gpu_hours_total", "stages"} <= json.loads(told.stdout).keys()


WAITS = '''
def waits(_: int) -> None:
    (CONTROL / f"{RUN}.up").write_text(os.environ["CUDA_VISIBLE_DEVICES"])
    n = 0
    while not (CONTROL / f"{RUN}.go").exists():
        n += 1
        say(f"step {n}/100000 loss {1 / n:.6f}")
        time.sleep(0.1)
    well(1)
'''


def _runherd(project: Live, env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runherd.cli.main", *words], cwd=project.root, env={**project.environment(), **env},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def _long_ago(ledger: Path) -> None:
    """Set the launch an hour back, so that the run has used up its budget by now."""
    import re
    from datetime import UTC, datetime, timedelta

    then = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    lines = ledger.read_text().splitlines()
    lines = [re.sub(r'"t": ?"[^"]*"', f'"t":"{then}"', x) if '"launched"' in x else x for x in lines]
    ledger.write_text("\n".join(lines) + "\n")
