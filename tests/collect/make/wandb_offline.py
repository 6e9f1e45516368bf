"""Make `data/wandb_offline`: `.wandb` files of offline runs, and what `run.summary` said as each ended.

Run by hand, with wandb installed:
`python tests/collect/make/wandb_offline.py tests/collect/data/wandb_offline`.

- `full`: nested values, NaN and infinities, a summary of one's own beside the last values, steps with gaps
- `failed`: ended with exit code 3
- `killed`: the process is gone after step 30
- `long`: a text that goes over the blocks of the file
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

STEPS = 40


def log(name: str) -> None:
    """One run, in a process of its own; its summary goes to standard output as the last line."""
    import wandb

    run = wandb.init(project="tiny", name=name, config={"model": "tiny-b", "opt": {"name": "sgd", "lr": [0.1, 0.2]}})
    run.define_metric("eval/acc", summary="max")
    for step in range(STEPS):
        row: dict[str, Any] = {"train/loss": 2.0 / (step + 1), "nested": {"a": step, "b": {"c": step / 7}}}
        if step % 10 == 9:
            row["eval/acc"] = math.sin(step)
        if name == "full" and step in (5, 6, 7):
            row["odd"] = (math.nan, math.inf, -math.inf)[step - 5]
        if name == "long" and step % 4 == 3:
            row["text"] = f"{step} " * 400
        run.log(row, step=step * 3, commit=True)
        if name == "killed" and step == 30:
            time.sleep(20)  # the service writes what it has within seconds
            os.kill(os.getpid(), 9)
    if name == "full":
        run.summary["best"] = {"acc": 0.5}
        run.summary["note"] = "text"
    print(json.dumps(_plain(run.summary), default=str), flush=True)
    run.finish(exit_code=3 if name == "failed" else 0)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    names = value.keys() if hasattr(value, "keys") else None  # a summary cannot be iterated over
    return value if names is None else {name: _plain(value[name]) for name in names}


def main(target: Path) -> None:
    expected: dict[str, Any] = {"versions": {"wandb": version("wandb")}}
    shutil.copy(__file__, os.chdir(tempfile.mkdtemp()) or "log.py")  # the file tells the program's path
    environment = os.environ | {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"}
    environment |= {"WANDB_DISABLE_CODE": "true", "WANDB_DISABLE_GIT": "true", "WANDB_X_DISABLE_STATS": "true"}
    for name in ("full", "failed", "killed", "long"):
        place = Path(name)
        place.mkdir()
        done = subprocess.run(
            [sys.executable, "log.py", "run", name], env=environment | {"WANDB_DIR": str(place.absolute())},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = done.stdout.strip().splitlines()
        expected[name] = {"exit_code": done.returncode, "summary": json.loads(lines[-1]) if lines else None}
        (target / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(next(place.rglob("*.wandb")), target / name / "run-tiny.wandb")
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    __file__ = str(Path(__file__).absolute())
    if sys.argv[1] == "run":
        log(sys.argv[2])
    else:
        main(Path(sys.argv[1]).absolute())
