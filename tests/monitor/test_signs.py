"""Signs beside the state, the note in the log, and terminals as logs."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runherd.lognote import note_action
from runherd.monitor import resultpeek, scan, tick
from runherd.monitor.evidence import Evidence, Result
from runherd.monitor.signs import signs

FAILED = Result(items=40, correct=10, judged=40, nulls=0, placeholders=4, placeholder="[VLM error]")
COUNTED = {**scan.empty(), "progress": {"done": 40, "total": 40, "unit": "item", "at": 0}}
SAME = Result(items=40, correct=10, judged=40, nulls=0, top_answer=("A", 30))
COSINE = {"params": {"lr_scheduler_type": "cosine"}}


def look(**change: Any) -> Evidence:
    counters = change.pop("counters", {**scan.empty(), "rates": change.pop("rates", [])})
    return Evidence(now=0.0, process="alive", counters=counters, **change)


@pytest.mark.parametrize(
    ("signs_of", "spec", "accuracy", "said"),
    [
        (look(), {}, [], []),
        (look(result=SAME), {}, [], ["one answer, 'A', is 30 of 40 so far"]),
        (look(result=FAILED), {}, [], ["4 of 40 answers stand for a failed call, as '[VLM error]'"]),
        (look(result=replace(FAILED, placeholders=2)), {}, [], []),
        (look(result=replace(FAILED, items=400)), {}, [], []),
        (look(result=replace(FAILED, placeholders=0, skipped=3)), {}, [], ["3 of 40 items are skipped"]),
        (look(result=replace(FAILED, placeholders=0, items=38), counters=COUNTED), {}, [], ["the log has counted all"]),
        (look(result=replace(FAILED, placeholders=0, items=38), counters=COUNTED, result_age_s=5.0), {}, [], []),
        (look(result=replace(FAILED, placeholders=0), counters=COUNTED), {}, [], []),
        (look(), {}, [[60, 0.7], [80, 0.6], [90, 0.5]], ["the accuracy fell from 70.0% to 50.0%"]),
        (look(), {}, [[20, 0.9], [60, 0.6], [80, 0.6], [90, 0.59]], []),
        (look(losses=(0.5,) * 40), {}, [], ["the loss has stayed at 0.5 for 40 reports"]),
        (
            look(losses=(*(1.0 / i for i in range(1, 20)), 9.0)),
            {},
            [],
            ["the loss jumped to 9, 81 times its median"],
        ),
        (look(rates=[0.1] * 20, done=50, total=100), COSINE, [], ["the schedule is cosine"]),
        (look(rates=[0.1] * 20, done=10, total=100), COSINE, [], []),
        (look(rates=[0.0] * 20), {}, [], ["the learning rate is 0"]),
        (
            look(rates=[0.1 / i for i in range(1, 21)]),
            {"params": {"scheduler": "constant"}},
            [],
            ["the schedule is con"],
        ),
    ],
)
def test_signs(
    signs_of: Evidence, spec: dict[str, Any], accuracy: list[list[float]], said: list[str]
) -> None:
    """Each sign has its sentence, and is silent where it cannot be told."""
    found = list(signs(signs_of, spec, accuracy).values())
    assert len(found) == len(said)
    assert all(mine.startswith(part) for mine, part in zip(found, said, strict=True)), found


def test_note_in_the_log(tmp_path: Path) -> None:
    """An action is a line of its own, also after a line that was torn by a kill."""
    log = tmp_path / "lög 'x'.txt"
    log.write_bytes(b"step 3/9 lo")
    note_action(log, "restarted\nfrom checkpoint", now=0)
    note_action(log, "again", now=0)
    assert log.read_bytes() == (
        b"step 3/9 lo\n[runherd] 1970-01-01T00:00:00Z restarted from checkpoint\n"
        b"[runherd] 1970-01-01T00:00:00Z again\n"
    )


def test_tick(tmp_path: Path) -> None:
    """One call for a supervisor: the judgement of a run folder as plain data."""
    folder = tmp_path / "R001"
    (folder / "attempts" / "2").mkdir(parents=True)
    (folder / "attempts" / "2" / "log.txt").write_text("lr: 1e-3 step 3/9 loss 0.5\n")
    (folder / "spec.json").write_text('{"run_id": "R001", "data": {"expected": 9}}')
    got = tick(str(folder), alive=True)
    assert (got["run_id"], got["state"], got["done"], got["signs"]) == ("R001", "HEALTHY", 3, [])


def test_progress_of_training_tools(tmp_path: Path) -> None:
    """Steps come from the Trainer's state and Lightning's metrics; a torn last line is passed over."""
    run = tmp_path / "R001"
    place = run / "work" / "lightning_logs" / "version_0"
    place.mkdir(parents=True)
    metrics = place / "metrics.csv"
    metrics.write_text("epoch,step,loss\n0,10,0.5\n0,20,0.4\n0,3")
    assert (tick(str(run), alive=True)["done"], tick(str(run), alive=True)["unit"]) == (20, "steps")
    state = run / "checkpoint" / "checkpoint-50" / "trainer_state.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"global_step": 50, "max_steps": 200, "log_history": []}')
    os.utime(metrics, (1000, 1000))
    got = tick(str(run), alive=True)
    assert (got["done"], got["expected"]) == (50, 200)


@pytest.mark.parametrize("named", ["logs", "logs/**/metrics.csv", "{base}/elsewhere 'x' [[]lr=1]/logs"])
def test_progress_where_results_are_collected_from(tmp_path: Path, named: str) -> None:
    """`collect.path`, relative or absolute, folder or pattern: its files tell the steps; an older run's do not."""
    run, base = tmp_path / "R001", tmp_path / "elsewhere 'x' [lr=1]"
    (run / "attempts" / "1").mkdir(parents=True)
    (run / "attempts" / "1" / "command.json").write_text(json.dumps({"result_path": str(base / "result.json")}))
    data = {"collect": {"path": named.format(base=tmp_path)}}
    (run / "spec.json").write_text(json.dumps({"run_id": "R001", "data": data}))
    for name, step, age_s in (("version_0", 90, 5000), ("version_1", 20, 0)):
        path = base / "logs" / name / "metrics.csv"
        path.parent.mkdir(parents=True)
        path.write_text(f"step,loss\n{step},0.5\n")
        os.utime(path, (path.stat().st_mtime - age_s,) * 2)
    assert tick(str(run), alive=True)["done"] == 20
    (base / "logs" / "version_1" / "metrics.csv").unlink()
    assert tick(str(run), alive=True)["done"] is None


def test_placeholders_of_a_result(tmp_path: Path) -> None:
    """What programs write where a call failed is counted, whatever it is wrapped in; true answers with such words are not."""
    placeholders = ["Failed to obtain answer via API.", "[VLM error]", "N/A", "<none>", "Error: timeout", "content_filter"]
    answers = ["The error bars overlap, so no", "A", "B", "no", "Failure of the left pump", "None of the above"]
    items = [{"id": i, "response": text} for i, text in enumerate(placeholders * 2 + answers)]
    for suffix, text in ((".json", json.dumps({"per_item": items})), (".jsonl", "\n".join(map(json.dumps, items)))):
        path = tmp_path / f"x{suffix}"
        path.write_text(text)
        got = resultpeek.peek(str(path), {})
        assert got is not None and (got.items, got.placeholders) == (18, 12)
