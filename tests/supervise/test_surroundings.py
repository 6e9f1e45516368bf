"""What is known around a run when it is diagnosed, from records as runs leave them and a real git repository."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runherd import ledger
from runherd.diagnose.changes import changes
from runherd.files import Layout, write_json
from runherd.history import Attempt
from runherd.lifecycle.surroundings import around
from runherd.supervise.place import Place

LAUNCHED = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    root = tmp_path / "pro ject's 'π'"
    root.mkdir()
    return Layout(root)


def attempt(place: Place) -> Attempt:
    return Attempt(1, 1, ledger.Launched(1, 1, "first", {}, [], "local", t=LAUNCHED))


def run(layout: Layout, run_id: str, params: dict[str, Any], *, folder: Path | None = None, age_s: int = 0, **more: Any) -> Place:
    """A run that is DONE, as its records tell it; `more`: seed, git, env, metrics."""
    place = Place(layout, run_id)
    kept = folder or place.dir
    data = {"params": params, "seed": more.get("seed", 0), "row": {"Run ID": run_id}, "stage": "M0"}
    write_json(kept / "spec.json", {"data": data})
    env = {"RUNHERD_RUN_ID": run_id, **more.get("env", {})}
    write_json(layout.command(run_id, 1), {"steps": [{"env": env}], "git": more.get("git"), "host": "a"})
    ended = {"run_id": run_id, "status": "done", "attempt": 1, "ended_at": LAUNCHED, "metrics": more.get("metrics", {})}
    (kept / "result.json").write_text(json.dumps(ended))
    os.utime(kept / "result.json", (1_700_000_000 - age_s,) * 2)
    return place


def look(place: Place, params: dict[str, Any], **more: Any) -> dict[str, Any]:
    return around(place, attempt(place), {"params": params, "seed": more.pop("seed", 0), "stage": "M1", **more})


def test_the_nearest_good_run_is_compared(layout: Layout) -> None:
    """Of the runs that went well the one that differs least; of equals the newest; what a row says is no difference."""
    run(layout, "far", {"lr": 1, "size": 9, "data": "b"})
    run(layout, "old", {"lr": 1, "size": 3}, age_s=50)
    run(layout, "near", {"lr": 1, "size": 3})
    mine = run(layout, "mine", {})
    (mine.dir / "result.json").unlink()
    found = look(mine, {"lr": 2, "size": 3})
    assert (found["last_good"]["run_id"], found["last_good"]["ended_at"]) == ("near", LAUNCHED)
    assert changes(found["now"], found["last_good"]) == [{"what": "spec", "key": "params.lr", "old": 1, "new": 2}]


def test_an_earlier_generation_goes_before(layout: Layout) -> None:
    """The same run's own good end, archived by a rerun, is what it is compared with; the newest of them."""
    run(layout, "other", {"lr": 2})
    mine = run(layout, "mine", {"lr": 1}, folder=layout.archive_dir("mine", 9))
    run(layout, "mine", {"lr": 0}, folder=layout.archive_dir("mine", 10))
    run(layout, "mine2", {"lr": 3}, folder=layout.archive_dir("mine2", 11))
    found = look(mine, {"lr": 2})
    assert found["last_good"]["run_id"] == "mine" and found["last_good"]["spec"]["params"] == {"lr": 0}


def test_no_good_run(layout: Layout) -> None:
    """Records that are damaged, or of runs that did not end well, are none to compare with."""
    bad = run(layout, "bad", {"lr": 1})
    (bad.dir / "result.json").write_text('{"status": "do')
    worse = run(layout, "worse", {"lr": 1})
    (worse.dir / "result.json").write_text('{"status": "blocked", "run_id": "worse"}')
    mine = run(layout, "mine", {})
    assert "last_good" not in look(mine, {"lr": 1})


def test_seeds_and_baseline(layout: Layout) -> None:
    """Runs that differ by seed only are siblings, the one named as baseline is the baseline; only finite numbers count."""
    run(layout, "s1", {"lr": 1}, seed=1, metrics={"acc": 0.5, "odd": math.nan, "huge": 10**400})
    run(layout, "other", {"lr": 2}, seed=1, metrics={"acc": 0.1})
    found = look(run(layout, "mine", {}), {"lr": 1}, seed=2, baseline="other")
    assert [r["metrics"] for r in found["siblings"]] == [{"acc": 0.5}] and found["baseline"]["metrics"] == {"acc": 0.1}


def test_a_cell_that_the_command_uses_is_compared(layout: Layout) -> None:
    """Runs that differ in a cell of their row that their command fills in are no seeds of one another, and it is told as changed."""
    for run_id, system, seed in (("a", "large", 1), ("b", "small", 1), ("c", "small", 2), ("d", "small", 2)):
        place = run(layout, run_id, {"lr": 1}, seed=seed, metrics={"acc": 0.5})
        spec = {"data": {**json.loads((place.dir / "spec.json").read_text())["data"], **using(run_id, system)}}
        (place.dir / "spec.json").write_text(json.dumps(spec))
    found = look(run(layout, "mine", {}), {"lr": 1}, seed=1, **using("mine", "small"))
    assert [r["run_id"] for r in found["siblings"]] in (["c"], ["d"]), "one for each other seed, and none for the same"
    assert changes(found["now"], found["last_good"]) == []
    found = look(Place(layout, "mine"), {"lr": 1}, seed=1, **using("mine", "tiny"))
    told = changes(found["now"], found["last_good"])
    assert {row["key"] for row in told} == {"row.System"} and told[0]["new"] == "tiny" and found["siblings"] == []


def using(run_id: str, system: str) -> dict[str, Any]:
    """A command that uses two cells of the row, of which one is the run's own name."""
    row = {"Run ID": run_id, "System": system, "Purpose": f"see {run_id}"}
    return {"row": row, "command": "train {{ row['System'] }} --name {{ row['Run ID'] }}"}


def test_environment_and_values_that_no_record_may_hold(layout: Layout) -> None:
    """The program's own variables are compared, ours are not; NaN in a configuration is told as a word."""
    run(layout, "good", {"floor": 1.0}, env={"HF_HOME": "/a"})
    mine = run(layout, "mine", {}, env={"HF_HOME": "/b"})
    found = look(mine, {"floor": math.nan})
    told = {row["key"]: row["new"] for row in changes(found["now"], found["last_good"])}
    assert told == {"params.floor": "nan", "env.HF_HOME": "/b"}
    json.dumps(told, allow_nan=False)


def test_changed_files_are_named(layout: Layout) -> None:
    """Between two commits the files that they change are told by name."""
    git(layout.root, "init", "-q")
    first = commit(layout.root, {"train.py": "a", "data.py": "a"})
    second = commit(layout.root, {"train.py": "b", "näu.py": "b", "report": "ours"})
    run(layout, "good", {}, git={"revision": first, "dirty": False})
    mine = run(layout, "mine", {}, git={"revision": second, "dirty": False})
    rows = {row["key"]: row for row in changes(*[look(mine, {})[k] for k in ("now", "last_good")])}
    assert rows["files"]["new"] == "näu.py and train.py" and rows["revision"]["old"] == first


def test_the_curve_of_this_attempt(layout: Layout) -> None:
    """Points of curve.jsonl that this attempt wrote; an older file is another one's."""
    mine = run(layout, "mine", {})
    curve = mine.dir / "curve.jsonl"
    curve.write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": NaN}\n{"step": 3, "lo')
    assert look(mine, {})["curve"] == [{"step": 1, "loss": 2.0}, {"step": 2}]
    os.utime(curve, (1_600_000_000,) * 2)
    assert look(mine, {})["curve"] == []


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def commit(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (root / name).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "x")
    return git(root, "rev-parse", "HEAD")
