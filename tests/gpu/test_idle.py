"""An idle GPU in the monitor: warned of after five minutes, never for one sample. The driver is the compiled fake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flowkit import SOURCES

from .conftest import Driver

#: Looks at a run at the given times; before each the driver's utilisation is set. Time is a fake clock.
LOOKS = """
import json, sys
from dataclasses import replace
from pathlib import Path
from runherd.monitor import own
from runherd.monitor.line import one_line
from runherd.monitor.look import look
folder, state = sys.argv[1:3]
for at, busy in json.loads(sys.argv[3]):
    Path(state).write_text(f"gpu uuid=GPU-00aa index=0 util={busy} total=85899345920 used=0\\n")
    evidence, judgement, _ = look(own.target(folder, alive=True), f"{folder}/monitor.json", now=1e9 + at)
    print(json.dumps([judgement.state, judgement.action, len(evidence.gpu), one_line(evidence, judgement)]))
"""


def looked(driver: Driver, folder: Path, utilisation: list[tuple[float, int]], **monitor: Any) -> list[list[Any]]:
    run = folder / "rüns 'x'" / "R001"
    attempt = run / "attempts" / "1"
    attempt.mkdir(parents=True)
    (run / "spec.json").write_text(json.dumps({"run_id": "R001", "data": {"monitor": monitor}}))
    (attempt / "command.json").write_text('{"gpus": ["GPU-00aa"]}')
    (attempt / "log.txt").write_text("step 3/9 loss 0.5\n")
    argv = [sys.executable, "-c", LOOKS, str(run), str(driver.state), json.dumps(utilisation)]
    env = {**os.environ, **driver.env, "PYTHONPATH": str(SOURCES)}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_idle_for_more_than_five_minutes(driver: Driver, tmp_path: Path) -> None:
    """Samples every 30 s, all idle: healthy until five minutes are over, then a warning in the line; it is not stopped."""
    rows = looked(driver, tmp_path, [(30 * i, 0) for i in range(13)])
    assert [state for state, *_ in rows] == ["HEALTHY"] * 10 + ["GPU_IDLE"] * 3
    assert {action for _, action, *_ in rows} == {"none", "look_again", "warn"}
    assert rows[-1][3].startswith("[Monitor] GPU_IDLE | 3/9 (33.3%) | Loss: 0.5 | ")
    assert rows[-1][3].endswith("the GPU is idle for 6 min (13 samples)")


def test_one_busy_sample_begins_anew(driver: Driver, tmp_path: Path) -> None:
    """Between idle samples one that is busy: the five minutes begin again."""
    rows = looked(driver, tmp_path, [(30 * i, 80 if i == 6 else 0) for i in range(13)])
    assert {state for state, *_ in rows} == {"HEALTHY"}


def test_one_idle_sample_is_never_a_warning(driver: Driver, tmp_path: Path) -> None:
    """A single idle sample, or two far apart, with long pauses between the looks: no warning."""
    busy_then = [(0.0, 90), (1000.0, 0)]
    assert {state for state, *_ in looked(driver, tmp_path / "a", busy_then)} == {"HEALTHY"}
    assert {state for state, *_ in looked(driver, tmp_path / "b", [(0.0, 0), (4000.0, 0)])} == {"HEALTHY"}


def test_bounds_are_the_configured_ones(driver: Driver, tmp_path: Path) -> None:
    """`gpu_idle_s` and `gpu_idle_util`: 20 % counts as idle where the bound is 30."""
    looks = [(30.0 * i, 20) for i in range(5)]
    assert looked(driver, tmp_path / "a", looks, gpu_idle_s=60, gpu_idle_util=30)[-1][0] == "GPU_IDLE"
    assert looked(driver, tmp_path / "b", looks, gpu_idle_s=60)[-1][0] == "HEALTHY"


#: As LOOKS, by the command, at a run that is not ours.
COMMAND = """
import json, sys, time
from pathlib import Path
from runherd.monitor.command import main
state, pid, log, gpu, busy = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].split(), json.loads(sys.argv[5])
real, steady = time.time, time.clock_gettime
for i, (util, on) in enumerate(busy):
    procs = f"procs={pid}:1048576" if on else "procs=1:1048576"
    devices = [f"gpu uuid=GPU-00aa index=0 util={util} total=85899345920 used=0 {procs}"]
    devices.append("gpu uuid=GPU-11bb util=99 total=85899345920 used=0 procs=1:1048576")
    Path(state).write_text("\\n".join(devices) + "\\n")
    time.time, time.clock_gettime = lambda i=i: real() + 30 * i, lambda which, i=i: steady(which) + 30 * i
    main(["--log", log, "--pid", pid, "--json", *gpu])
"""


@pytest.mark.parametrize(
    ("gpu", "on", "idle"),
    [(["--gpu"], True, True), (["--gpu"], False, False), (["--gpu", "0"], False, True), ([], True, False)],
)
def test_a_run_that_is_not_ours(driver: Driver, tmp_path: Path, gpu: list[str], on: bool, idle: bool) -> None:
    """`--gpu`: the device that its process is on, or the named one; somebody else's busy device does not count."""
    log = tmp_path / "lög 'x'.txt"
    log.write_text("step 3/9 loss 0.5\n")
    looks = json.dumps([(0, on)] * 13)
    process = subprocess.Popen(["sleep", "60"])
    try:
        argv = [sys.executable, "-c", COMMAND, str(driver.state), str(process.pid), str(log), " ".join(gpu), looks]
        env = {**os.environ, **driver.env, "PYTHONPATH": str(SOURCES), "XDG_CACHE_HOME": str(tmp_path)}
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)
    finally:
        process.kill()
        process.wait()
    assert done.returncode == 0, done.stderr
    states = [json.loads(line)["state"] for line in done.stdout.splitlines()]
    assert len(states) == 13 and (states[-1] == "GPU_IDLE") == idle and states[0] == "HEALTHY"
