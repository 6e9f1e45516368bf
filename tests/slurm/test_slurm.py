"""Runs as jobs of a real Slurm: through to the end, past a lost controller, a requeue, a time limit and a lost job."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster import Cluster
from flowkit import CHECKOUT, Project, Row

from runherd import clock
from runherd.lease import Lease
from runherd.processes import Identity

PROFILE = str(CHECKOUT / "profiles" / "slurm")
QUICK = (
    "--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "5",
    "--default-resources", "slurm_partition=main", "runtime=5", "mem_mb=100",
)  # fmt: skip
DEADLINE_S = 120


class OnSlurm(Project):
    """A project whose snakemake submits to the test cluster."""

    FOLDER = "pro ject 实验"  # the executor's own quoting breaks on quotes: refused, see below

    cluster: Cluster

    def environment(self) -> dict[str, str]:
        return {**super().environment(), **self.cluster.env}

    def argv(self, *args: str, cores: int | None = 2) -> list[str]:
        return [*super().argv(*args, cores=None), "--workflow-profile", PROFILE, *QUICK]

    def at_work(self, run_id: str, start: int = 1) -> str:
        """Wait until the program holds in a job; that job's id."""
        self.ready(run_id, start)
        return str(self.record(run_id, f"attempts/{start}/command")["job"])


@pytest.fixture
def on_slurm(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., OnSlurm]]:
    made: list[OnSlurm] = []

    def factory(rows: list[Row], **settings: Any) -> OnSlurm:
        project = OnSlurm.make(tmp_path, rows, **settings)
        project.cluster = cluster
        made.append(project)
        return project

    yield factory
    for project in made:
        project.close()
        assert project.two() == ""


def test_to_the_end(on_slurm: Callable[..., OnSlurm], cluster: Cluster) -> None:
    """Each run is one job with the cores, the memory and the time that it asks for; all else runs beside the controller."""
    wants = {"execution": {"cpus": 2, "mem_mib": 300, "wall_time": "4 min"}}
    project = on_slurm([Row("a"), Row("b")], runs={"a": wants})
    before = cluster.jobs()
    project.snakemake().ok()
    jobs = [j for j in cluster.jobs() if j not in before]
    asked = [cluster.ask("squeue", "-h", "--states=all", "-j", j, "-o", "%C %m %l %T").split() for j in jobs]
    assert sorted(asked) == [["1", "100M", "5:00", "COMPLETED"], ["2", "300M", "6:00", "COMPLETED"]]
    assert project.cell("a") == project.cell("b") == "DONE" and project.passed("M0")
    cost = project.record("a", "cost")
    assert cost["gpu_provider"] == "slurm" and cost["wall_clock_seconds"] < 30


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_controller_goes_and_the_next_one_waits(
    on_slurm: Callable[..., OnSlurm], cluster: Cluster, how: signal.Signals
) -> None:
    """The job goes on without its controller, in whatever way that ended; the next one submits no second job."""
    project = on_slurm([Row("a")])
    project.ask("a", "hold")
    before = len(cluster.jobs())
    first = project.start()
    job = project.at_work("a")
    first.send_signal(how)
    first.wait(timeout=60)
    assert cluster.state(job) == "RUNNING"
    second = project.start()
    project.until(lambda: "run a" in project.said(second), "the second controller waits for the run")
    project.unask("a", "hold")
    assert second.wait(timeout=DEADLINE_S) == 0, project.said(second)
    assert project.cell("a") == "DONE" and project.launches() == {"a": 1}
    assert len(cluster.jobs()) == before + 1


def test_requeued_job_goes_on_from_its_checkpoint(on_slurm: Callable[..., OnSlurm], cluster: Cluster) -> None:
    """The scheduler takes the node away and starts the same job again: a second attempt, with that reason."""
    project = on_slurm([Row("a")])
    project.ask("a", "hold")
    controller = project.start()
    job = project.at_work("a")
    subprocess.run(["scontrol", "requeue", job], env=project.environment(), check=True)
    project.until(lambda: cluster.state(job) == "PENDING", "the job waits for its second start")
    subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], env=project.environment(), check=True)
    project.ready("a", 2)
    project.unask("a", "hold")
    assert controller.wait(timeout=DEADLINE_S) == 0, project.said(controller)
    assert [e["reason"] for e in project.kinds("a", "launched")] == ["first", "preempted"]
    assert project.record("a", "attempts/2/command")["job"] == job
    assert [s["from"] for s in project.starts("a")] == [0, 1], "it began again after its first checkpoint"
    assert project.cell("a") == "DONE"


def test_run_of_another_host_whose_job_is_over(on_slurm: Callable[..., OnSlurm], cluster: Cluster) -> None:
    """Another node held the run and is silent; the scheduler knows that its job has ended: nobody need be asked."""
    gone = subprocess.run(
        ["sbatch", "--parsable", "--wrap", "true", "--output", "/dev/null"], capture_output=True, text=True, check=True,
        env={**os.environ, **cluster.env},
    ).stdout.strip()  # fmt: skip
    project = on_slurm([Row("a")])
    project.until(lambda: cluster.state(gone) == "COMPLETED", "that job has ended")
    lost = Lease(1, Identity("another node", "its boot", 4711, 1, 4711), 7, clock.now(), gone)
    folder = project.run_dir("a") / "leases"
    folder.mkdir(parents=True)
    (folder / "1.json").write_text(json.dumps(lost.to_json()))
    project.snakemake().ok()
    assert project.cell("a") == "DONE"
    assert f"the job {gone} that carried it on another node is over" in (project.root / ".runherd/logs/run_a.log").read_text()


def test_folder_that_the_executor_cannot_quote(on_slurm: Callable[..., OnSlurm], cluster: Cluster, tmp_path: Path) -> None:
    """A quote in the path would break every job script: refused before anything is submitted, in words."""
    project = on_slurm([Row("a")])
    project.root = project.root.rename(tmp_path / "it's")
    before = cluster.jobs()
    assert "cannot submit from a folder whose path holds \"'\"" in project.snakemake().failed().text
    assert cluster.jobs() == before


def test_job_that_is_cancelled_frees_its_run(on_slurm: Callable[..., OnSlurm], cluster: Cluster) -> None:
    """`scancel` ends job, program and supervisor; the run is not lost: the next snakemake resumes it."""
    project = on_slurm([Row("a")])
    project.ask("a", "hold")
    controller = project.start()
    job = project.at_work("a")
    supervisor = project.supervisor("a")
    subprocess.run(["scancel", job], env=project.environment(), check=True)
    assert controller.wait(timeout=DEADLINE_S) != 0
    project.until(lambda: not Path(f"/proc/{supervisor}").exists(), "the supervisor went with its job")
    assert project.cell("a") in ("RUNNING", "TODO")
    project.unask("a", "hold")
    project.snakemake().ok()
    assert [e["reason"] for e in project.kinds("a", "launched")] == ["first", "preempted"]
    assert project.cell("a") == "DONE"
