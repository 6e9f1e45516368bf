"""The wheel alone carries a user's repository through: no file of the checkout takes part."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

from .installed import REPOSITORY, Installed

DATA = Path(__file__).parent / "data"


def test_wheel_carries_the_workflow(installed: Installed) -> None:
    """Snakefile, rules, scripts, default layers and profiles are in the wheel, byte for byte."""
    inside = "runherd/_workflow/"
    with zipfile.ZipFile(installed.wheel) as archive:
        names = [n for n in archive.namelist() if n.startswith(inside)]
        shipped = {n.removeprefix(inside): archive.read(n) for n in names}
    wanted = ["Snakefile"]
    for folder in ("rules", "scripts", "profiles", "configs/_defaults"):
        files = [p for p in (REPOSITORY / folder).rglob("*") if p.suffix in (".smk", ".py", ".yaml")]
        wanted += [str(p.relative_to(REPOSITORY)) for p in files]
    assert {name: shipped.get(name) for name in wanted} == {n: (REPOSITORY / n).read_bytes() for n in wanted}
    assert len(wanted) > 15


def test_installed_package_works_without_the_checkout(installed: Installed, tmp_path: Path) -> None:
    """`runherd init`, a command filled in, `snakemake --cores 2`: every row DONE, gates passed, records there."""
    repo = tmp_path / "a user's répo"
    repo.mkdir()
    shutil.copy(DATA / "nine_columns.md", repo / "EXPERIMENT_TRACKER.md")
    shutil.copy(DATA / "experiment.py", repo)
    subprocess.run(["git", "init", "--quiet"], cwd=repo, check=True)
    before = (repo / "EXPERIMENT_TRACKER.md").read_bytes()

    began = installed.run("runherd", "init", "--yes", cwd=repo)
    assert began.returncode == 0, began.stderr
    assert (repo / "EXPERIMENT_TRACKER.md").read_bytes() == before
    missing = installed.run("snakemake", "-n", cwd=repo)
    assert missing.returncode != 0 and "has no command to launch" in missing.stdout + missing.stderr

    shutil.copy(DATA / "project.yaml", repo / "configs" / "project.yaml")
    done = installed.run("snakemake", "--cores", "2", cwd=repo)
    assert done.returncode == 0, done.stdout + done.stderr
    tracker = (repo / "EXPERIMENT_TRACKER.md").read_text()
    assert tracker.count("| DONE |") == 3 and "ask Ana first" in tracker and "Later: a larger split." in tracker
    for run_id in ("R001", "R002", "R003"):
        result = json.loads((repo / "results" / run_id / "result.json").read_text())
        assert result["status"] == "done" and result["metrics"]["accuracy"] == 0.75
        assert (repo / "results" / run_id / "cost.json").exists()
    assert (repo / "gates" / "M0.passed").exists() and (repo / "gates" / "M1.passed").exists()
    log = (repo / "runs" / "R003" / "attempts" / "1" / "log.txt").read_text()
    assert "system=method $(touch pwned)" in log and not (repo / "pwned").exists()

    again = installed.run("snakemake", "--cores", "2", cwd=repo)
    assert again.returncode == 0 and "Nothing to be done" in again.stdout + again.stderr
    assert str(REPOSITORY) not in began.stdout + done.stderr + again.stderr
    named = subprocess.run(
        ["grep", "-rl", "--binary-files=text", str(REPOSITORY), str(repo)], capture_output=True, text=True
    )
    assert named.stdout == ""  # no record, log or plan names a file of the checkout
