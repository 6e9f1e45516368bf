"""The bundled example, its method's advantage taken away by a committed change of configuration."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from flowkit import CHECKOUT, SNAKEFILE, Project

pytest.importorskip("sklearn", reason="the example trains on scikit-learn's digits")

DEADLINE_S = 300  #: for a machine that has much else to do; alone it takes a tenth
METHOD, BASELINE = ("R006", "R007", "R008"), ("R003", "R004", "R005")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


class Example(Project):
    """The bundled tracker, layers and program in a repository of their own."""

    def begin(self) -> Example:
        self.root.mkdir(parents=True)
        (self.root / "Snakefile").write_text(SNAKEFILE.format(snakefile=str(CHECKOUT / "Snakefile")))
        for folder in ("tracker", "examples/digits", "configs/runs"):
            shutil.copytree(CHECKOUT / folder, self.root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        settings = (CHECKOUT / "configs" / "project.yaml").read_text()
        (self.root / "configs" / "project.yaml").write_text(f"{settings}\npython: {sys.executable}\n")
        (self.root / ".gitignore").write_text("/runs/\n/results/\n/gates/\n/report/\n.*/\n__pycache__/\n")
        self.git("init", "-q")
        self.commit("the bundled example")
        return self

    def switch(self, system: str) -> None:
        """All three runs of the method train this system instead, by their own files, seeds as before."""
        for seed, run_id in enumerate(METHOD):
            path = self.root / "configs" / "runs" / f"{run_id}.yaml"
            path.write_text(f"params:\n  system: {system}\nseed: {seed}\n")
        self.commit(f"the method is {system} now")

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", message)

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)

    def environment(self) -> dict[str, str]:
        return {**super().environment(), **ONE_THREAD}

    def claim(self) -> dict[str, Any]:
        """The judged claim of M2, whose criteria are the bundled ones as committed."""
        record = self.gate("M2")
        assert record is not None and record["criteria"]["committed"] and not record["criteria"]["dirty"]
        [claim] = [c for c in record["checks"] if c["kind"] == "claim_holds"]
        return {**claim, "gate": record["verdict"]}

    def metric(self, runs: tuple[str, ...]) -> list[float]:
        return [self.record(run_id, "result")["metrics"]["accuracy"] for run_id in runs]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    project = Example(tmp_path_factory.mktemp("example") / "the bundled ex'ample 例")
    yield project.begin()
    project.close()


def test_the_baseline_under_the_methods_name_is_no_method(example: Example) -> None:
    """With `system: baseline` in R006 to R008 the gate of M2 does not pass: the two sides are one."""
    example.switch("baseline")
    said = example.snakemake("gate_M2", timeout_s=DEADLINE_S).failed()
    assert example.passed("M0") and example.passed("M1") and not example.passed("M2")
    assert example.metric(METHOD) == example.metric(BASELINE)  # real trainings, the same to the last bit
    claim = example.claim()
    assert claim["gate"] == claim["verdict"] == "INCONCLUSIVE"
    assert claim["sentence"] == "both sides have the same configuration and code: nothing is tested"
    assert claim["sentence"] in said.text


def test_a_method_without_what_makes_it_better_misses_the_margin(example: Example) -> None:
    """Without augmentation it is another network, better than the baseline by a point, and two are asked for."""
    example.switch("no-augmentation")
    said = example.snakemake("gate_M2", "--config", "stale=rerun", timeout_s=DEADLINE_S).failed()
    claim = example.claim()
    assert not example.passed("M2") and f"gate M2 NOT passed ({claim['gate']})" in said.text
    # FAIL here; a processor that rounds differently may leave the interval a little wider.
    assert claim["verdict"] == claim["gate"] == ("FAIL" if claim["interval"]["high"] < 0.02 else "INCONCLUSIVE")
    gain = statistics.fmean(example.metric(METHOD)) - statistics.fmean(example.metric(BASELINE))
    assert 0 < gain < 0.02 and claim["numbers"]["gain"] == pytest.approx(gain)
    assert f"gain {gain:+.4g}" in claim["sentence"] and "over 899 shared items" in claim["sentence"]
    assert "margin 0.02" in claim["sentence"]
