"""`run_experiment`: a run without a tracker row is held to what the campaign may spend."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

from flowkit import CHECKOUT, Done
from live import Live


def run(project: Live, run_id: str) -> Done:
    """Launch a run by the script, as a person does, and wait for its end."""
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "scripts" / "run_experiment.py"), "--run-id", run_id], cwd=project.root,
        env=project.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=60,
    )  # fmt: skip
    return Done(done.returncode, done.stdout)


def test_a_spent_budget_stops_a_launch_without_a_row(live: Callable[..., Live]) -> None:
    """Two runs are allowed: a row's and one without a row count, a third is refused with 4, leaves no record, and what is done stays."""
    project = live({"row": {}}, budget={"runs": 2})
    project.launch("row")
    run(project, "solo 'π'").ok()
    refused = run(project, "third")
    assert refused.code == 4
    assert "third is not launched: budget: 2 of 2 runs have been launched: no further launch" in refused.text
    assert "raise `budget:` in configs/project.yaml" in refused.text
    assert project.count("third") == 0 and not (project.run_dir("third") / "events.jsonl").exists()
    again = run(project, "solo 'π'").ok()
    assert "is done already" in again.text
    project.settle({"row": {}}, budget={"runs": 3})
    run(project, "third").ok()
    assert json.loads((project.run_dir("third") / "cost.json").read_text())["status"] == "completed"
