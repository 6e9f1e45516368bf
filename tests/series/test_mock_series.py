"""A series E0 to E5 of the mock evaluator, from its own tracker, until a regression stops it."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flowkit import Done, Project

#: Run, stage, seed, skill. 140 items: 91 right at E0, 93 at its rerun, then 99, 90 and 83.
PHASES = [
    ("E0", "E0", 0, None), ("E0-rerun", "E0", 4, None), ("E1", "E1", 0, 0.65), ("E2", "E2", 0, 0.56),
    ("E3", "E3", 0, 0.5), ("E4", "E4", 0, 0.7), ("E5", "E5", 0, 0.75),
]  # fmt: skip
COLUMNS = ("Run ID", "Milestone", "Purpose", "Benchmark", "Mode", "Model", "Seed", "Priority", "Status", "Notes")
GATES = """
## Gates

| Gate | Asks | Verdict |
|------|------|---------|
| E0 | baseline, twice | TBD |
| E1 | memory of objects | TBD |
| E2 | fewer frames | |
| E3 | no timeline | |
| E4 | all of it | |
"""
CRITERIA = """\
# What we accept

```yaml
studies:
  d-mode: {metric: accuracy, baseline: [E0, E0-rerun], noise_floor_pp: 2.0, on_noise: continue}
stages:
  E0: [{kind: all_done}]
"""
DEADLINE_S = 300  #: for a machine that has much else to do; alone it takes a tenth
VARIANCE = Path("gates") / "baseline_variance_d-mode.json"


class Series(Project):
    """A study of one benchmark, mode and model; no run names a command."""

    def begin(self) -> Series:
        self.write("configs/project.yaml", {"patterns": {"*": OPERATION}})
        # The project takes the shipped mock for its evaluator, also for runs of the tracker.
        self.write("configs/_defaults/rtv.yaml", {"evaluator": {"mock": False}, "limit": 140})
        for run_id, _, _, skill in PHASES:
            if skill is not None:
                self.phase(run_id, skill, rf"skill {skill}\b")
        lines = [
            f"| {i} | {stage} | one change | rtv | D | gpt4o | {seed} | MUST | TODO | |" for i, stage, seed, _ in PHASES
        ]
        head = ["# The series", "", f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
        self.tracker.write_text("\n".join([*head, *lines, GATES]))
        entries = [
            f"  E{n}: [{{name: E{n} against E0, kind: baseline_verdict, study: d-mode, runs: [E{n}]}}]\n"
            for n in range(1, 6)
        ]
        (self.tracker.parent / "verdict-criteria.md").write_text(CRITERIA + "".join(entries) + "```\n")
        self.git("init", "-q")
        self.git("add", "Snakefile", "configs", "tracker")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "begin")
        return self

    def phase(self, run_id: str, skill: float, shows: str) -> None:
        """The run's own file: its one change, and what the log of a one-item run has to show of it."""
        plan = {"smoke": {"shows": [shows]}}
        self.write(f"configs/runs/{run_id}.yaml", {"baseline": "E0", "params": {"skill": skill}, "conformance": plan})

    def write(self, name: str, body: dict[str, Any]) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(body))  # JSON is YAML

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)

    def runherd(self, *words: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "runherd.cli.main", *words], cwd=self.root, env=self.environment(),
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return Done(done.returncode, done.stdout + done.stderr)

    def cell(self, run_id: str, column: str = "Status") -> str:
        line = next(line for line in self.tracker.read_text().splitlines() if line.startswith(f"| {run_id} |"))
        return line.split("|")[1 + COLUMNS.index(column)].strip()

    def saved(self) -> tuple[int, bytes]:
        path = self.root / VARIANCE
        return path.stat().st_mtime_ns, path.read_bytes()

    def verdict_cell(self, stage: str) -> str:
        found = re.search(rf"^\| {stage} \|[^|]*\|([^|]*)\|$", self.tracker.read_text(), re.M)
        assert found is not None
        return found[1].strip()


OPERATION = {"execution": {"grace_s": 5}, "monitor": {"interval_s": 1}}


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Series]:
    """A committed project of seven rows that are all to do."""
    made = Series.make(tmp_path_factory.mktemp("series"), [])
    assert isinstance(made, Series)
    made.begin()
    yield made
    made.close()


@pytest.fixture(scope="module")
def stopped(series: Series) -> Done:
    """One call for everything: all that the regression lets run."""
    return series.snakemake(timeout_s=DEADLINE_S)


def checks(series: Series, stage: str) -> dict[str, Any]:
    record = series.gate(stage)
    assert record is not None
    [check] = [c for c in record["checks"] if c["kind"] == "baseline_verdict"]
    return {**check, "verdict": record["verdict"]}


def test_the_noise_is_measured_once_from_both_baseline_runs(series: Series, stopped: Done) -> None:
    """Spread 1.4 pp from two runs that differ by seed only; the floor is the file's 2.0 pp, being larger."""
    record = json.loads(series.saved()[1])
    assert record["baseline"] == {"E0": 91 / 140, "E0-rerun": 93 / 140}
    assert record["variance_pp"] == pytest.approx(200 / 140) and record["noise_floor_pp"] == 2.0
    assert record["mean"] == pytest.approx(92 / 140)


def test_the_saved_noise_is_only_read_afterwards(series: Series, stopped: Done) -> None:
    """It was written before E1 began; every later verdict names the file with the hash that it still has."""
    _, content = series.saved()
    assert json.loads(content)["written_at"] <= series.record("E1", "result")["started_at"]
    for stage in ("E1", "E2", "E3"):
        [evidence] = [e for e in checks(series, stage)["evidence"] if e["path"] == str(VARIANCE)]
        assert evidence["sha256"] == hashlib.sha256(content).hexdigest()


def test_a_gain_and_noise_go_on(series: Series, stopped: Done) -> None:
    """E1 gains 5 pp; E2 loses 1.4 pp, which is noise, and the policy says go on: both gates pass."""
    first, second = checks(series, "E1"), checks(series, "E2")
    assert first["verdict"] == second["verdict"] == "PASS"
    assert "+5.000 pp" in first["sentence"] and "a gain beyond the noise" in first["sentence"]
    assert "−1.429 pp" in second["sentence"] and "noise, not a signal" in second["sentence"]
    assert first["numbers"]["runs"]["E1"]["outcome"] == "gain"
    assert second["numbers"]["runs"]["E2"]["outcome"] == "noise"
    assert series.passed("E1") and series.passed("E2")


def test_a_regression_stops_the_series(series: Series, stopped: Done) -> None:
    """Snakemake ends with a failure at E3 and says why; E4 and E5 were never launched."""
    stopped.failed()
    assert "gate E3 NOT passed (FAIL)" in stopped.text and "the series stops" in stopped.text
    assert "[runherd] next: runherd gate E3" in stopped.text
    assert series.cell("E3") == "DONE"  # the run is done; what it shows is what stops the series
    assert not series.passed("E3")
    for run_id in ("E4", "E5"):
        assert series.cell(run_id) == "TODO" and not (series.run_dir(run_id) / "events.jsonl").exists()
        assert series.gate(run_id) is None


def test_the_regression_says_what_to_look_at(series: Series, stopped: Done) -> None:
    """`runherd gate E3` leaves with 4 and names the change, the tasks that lost most, and the size of the loss."""
    said = series.runherd("gate", "E3")
    assert said.code == 4
    assert "E3: FAIL" in said.text and "−6.429 pp" in said.text
    assert "a regression beyond the noise: the series stops" in said.text
    assert "params.skill" in said.text and "0.5" in said.text
    assert "tasks that lost most: EPM (-7.1 pp)" in said.text
    assert series.runherd("gate", "E2").ok().text.startswith("E2: PASS")


def test_the_order_was_kept(series: Series, stopped: Done) -> None:
    """Each phase was launched after the one before had ended and its gate had passed."""
    for before, after in (("E0", "E1"), ("E0-rerun", "E1"), ("E1", "E2"), ("E2", "E3")):
        gate = series.gate(before[:2])
        assert gate is not None
        assert series.record(before, "result")["ended_at"] <= series.record(after, "result")["started_at"]
        assert gate["judged_at"] <= series.record(after, "result")["started_at"]


def test_each_verdict_stands_in_the_trackers_gate_table(series: Series, stopped: Done) -> None:
    """One cell per judged gate is written; gates that were not judged keep theirs."""
    shown = {stage: series.verdict_cell(stage) for stage in ("E0", "E1", "E2", "E3", "E4")}
    assert shown["E0"] == "PASS (1 of 1 criteria met)"
    assert shown["E1"] == shown["E2"] == "PASS (2 of 2 criteria met)"
    assert shown["E3"] == "FAIL (1 of 2 criteria met)"
    assert shown["E4"] == ""


def test_a_second_start_stops_at_the_same_gate_and_launches_nothing(series: Series, stopped: Done) -> None:
    """The gate is asked again and says the same: no record is written over, no byte of the tracker changes."""
    before = records(series)
    assert {"gates/E3.json", str(VARIANCE), "runs/E3/result.json", "tracker/EXPERIMENT_TRACKER.md"} <= before.keys()
    series.snakemake(timeout_s=DEADLINE_S).failed()
    assert records(series) == before


def test_a_person_may_let_it_go_on_and_a_phase_must_realise_its_plan(series: Series, stopped: Done) -> None:
    """An override opens E3's gate and stays visible; E4 is launched only once its smoke run shows what is claimed."""
    series.runherd("gate", "E3", "--override", "E4 brings the timeline back").ok()
    assert series.verdict_cell("E3").startswith("FAIL (1 of 2 criteria met), overridden by ")
    series.phase("E4", 0.7, "observe called")
    said = series.snakemake("gate_E4", timeout_s=DEADLINE_S).failed()
    assert "E4: the smoke run's log does not show 'observe called'" in said.text
    assert not (series.run_dir("E4") / "events.jsonl").exists()
    series.phase("E4", 0.7, r"skill 0\.7")
    series.snakemake("gate_E4", timeout_s=DEADLINE_S).ok()
    assert checks(series, "E4")["numbers"]["runs"]["E4"]["outcome"] == "gain"
    assert series.passed("E3") and series.passed("E4") and series.cell("E5") == "TODO"
    record = series.gate("E3")
    assert record is not None and record["verdict"] == "FAIL"
    assert record["override"]["why"] == "E4 brings the timeline back"


def records(series: Series) -> dict[str, tuple[int, str]]:
    """Time and content of every file but those of dry-runs, which begin afresh in each call."""
    found = series.snapshot(".snakemake", ".runherd", "report")
    kept = {n: v for n, v in found.items() if v != "folder" and "/dryrun" not in n}
    return {name: ((series.root / name).stat().st_mtime_ns, value) for name, value in kept.items()}
