"""A user's mistakes: one clear message, non-zero exit, nothing launched; also under `-n`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flowkit import Done, Project, Row

Make = Callable[..., Project]


def refused(project: Project, *args: str, dry: bool = True) -> str:
    """What a start says that is refused: the words from `runherd:` on, without a traceback; the same under -n."""
    said = [project.snakemake(*args).failed()]
    if dry:
        said.append(project.snakemake("-n", *args).failed())
    texts = [message(s) for s in said]
    assert len(set(texts)) == 1, texts
    assert project.launches() == {} and not (project.root / "runs").exists()
    return texts[0]


def message(said: Done) -> str:
    """Our part of what was said: one message, no traceback, no rule of Snakemake's."""
    assert said.text.count("runherd: ") == 1, said.text
    for noise in ("Traceback", "rule all", "WorkflowError", "Exception", ".py"):
        assert noise not in said.text.replace("__main__.py", ""), said.text
    return said.text[said.text.index("runherd: ") :]


def test_no_tracker(make: Make) -> None:
    """The tracker is missing: its path, and how to name another one."""
    project = make([Row("R001")])
    project.tracker.unlink()
    assert "EXPERIMENT_TRACKER.md" in refused(project)
    assert "other.md" in refused(project, "--config", "tracker=other.md", dry=False)


def test_tracker_that_is_not_utf8(make: Make) -> None:
    """The tracker is in another encoding: which file, and the command that converts it."""
    project = make([Row("R001")])
    project.tracker.write_bytes(project.tracker.read_bytes().replace(b"see it run", "für später".encode("latin-1")))
    said = refused(project)
    assert "is not UTF-8" in said and "EXPERIMENT_TRACKER.md" in said and "iconv" in said


@pytest.mark.parametrize(
    ("run_id", "why"),
    [
        ("../../x", "leaves the runs folder"),
        ("/etc/x", "leaves the runs folder"),
        ("R{seed}", "wildcards"),
        ("R" * 200, "longer than"),
    ],
)
def test_id_that_cannot_be_a_name(make: Make, run_id: str, why: str) -> None:
    """Ids that would leave the folder, be wildcards or be too long are refused with their line."""
    said = refused(make([Row("R001"), Row(run_id)]), dry=False)
    assert why in said and "EXPERIMENT_TRACKER.md:6" in said


def test_duplicate_ids_and_all_other_problems_at_once(make: Make) -> None:
    """Two rows of one id, two ids that differ by case only: all told in one message, with their lines."""
    said = refused(make([Row("R001"), Row("R001"), Row("Big"), Row("big"), Row("a/../b")]), dry=False)
    assert "used more than once" in said and "lines 5, 6" in said
    assert "would collide" in said and "leaves the runs folder" in said


def test_row_without_command(make: Make) -> None:
    """A MUST row that nothing says how to launch: which file to write. Beside it nothing is launched either."""
    project = make([Row("R001"), Row("R002")], runs={"R002": {"command": None}})
    said = refused(project)
    assert "R002 has no command" in said and "configs/runs/R002.yaml" in said and "R001" not in said


def test_rows_without_command_are_one_problem(make: Make) -> None:
    """A new project with many rows and no command yet: said once, with the rows."""
    said = refused(make([Row(f"R00{i}") for i in (1, 2, 3)], runs={"R*": {"command": None}}))
    assert said.count("has no command to launch") == 1 and "runs:    R001, R002 and R003" in said
    assert "configs/runs/<run id>.yaml" in said


def test_mistake_of_a_shared_template_is_said_once(make: Make) -> None:
    """An undefined name in a command that three rows share: once, with its file and line, and the rows."""
    command = ["{{ python }}", "program.py", "{{ params.stepz }}"]
    project = make([Row(f"R00{i}") for i in (1, 2, 3)], runs={"R*": {"command": command}})
    said = refused(project)
    assert said.count("uses `params.stepz`") == 1 and "did you mean `params.steps`?" in said
    assert "configs/project.yaml:" in said and "runs:    R001, R002 and R003" in said
    looked = project.runherd("preflight").failed().text
    assert looked.count("uses `params.stepz`") == 1 and "runs:    R001, R002 and R003" in looked
    linted = project.runherd("config", "lint").failed().text
    assert linted.count("uses `params.stepz`") == 1 and "runs:    R001, R002 and R003" in linted


@pytest.mark.parametrize(
    ("target", "what", "meant"),
    [
        ("gate_M9", "no such stage", "gate_M1"),
        ("run_R0002", "no such run", "run_R002"),
        ("R001", "no such target", "run_R001"),
        ("M1", "no such target", "gate_M1"),
    ],
)
def test_unknown_target(make: Make, target: str, what: str, meant: str) -> None:
    """A target that names nothing: what there is, by snakemake, `runherd start` and `runherd wait`; nothing is started."""
    project = make([Row("R001", "M0"), Row("R002", "M1")])
    for said in (project.snakemake(target), project.snakemake("-n", target), project.runherd("start", target)):
        assert what in said.failed().text and f"did you mean `{meant}`?" in said.text
    assert project.runherd("start", target).code == 2
    assert not (project.root / ".runherd" / "controller.log").exists()
    if target.startswith("gate_"):
        said = project.runherd("wait", target)
        assert said.code == 2 and "no such stage" in said.text and "gate_M0 and gate_M1" in said.text


def test_target_of_a_users_own_rule_is_let_through(make: Make) -> None:
    """A rule of the project's own workflow that is named as ours are is no mistake."""
    project = make([Row("R001", "M0")])
    snakefile = project.root / "Snakefile"
    snakefile.write_text(snakefile.read_text() + "\nrule run_plots:\n    shell:\n        \"echo plots > plots.txt\"\n")
    said = project.snakemake("run_plots").ok().text
    assert "no such" not in said and (project.root / "plots.txt").exists()
    assert "no such" not in project.runherd("start", "run_plots").text


def test_unknown_stage(make: Make) -> None:
    """`--config stage=M7`: the stages that there are."""
    said = refused(make([Row("R001", "M0"), Row("R002", "M1")]), "--config", "stage=M7")
    assert "unknown stage" in said and "M0, M1" in said


def test_malformed_yaml(make: Make) -> None:
    """A YAML file that does not parse: file and line."""
    project = make([Row("R001")])
    path = project.root / "configs" / "runs" / "R001.yaml"
    path.parent.mkdir()
    path.write_text("seed: 1\nparams: {steps: 3\n")
    assert "configs/runs/R001.yaml:" in refused(project, dry=False)
    path.unlink()
    (project.root / "configs" / "project.yaml").write_text("patterns:\n  a: [\n")
    assert "configs/project.yaml:" in refused(project, dry=False)


def test_unknown_config_key(make: Make) -> None:
    """A misspelt key in a layer and one on the command line: each with a did-you-mean."""
    project = make([Row("R001")], runs={"R001": {"execution": {"workerz": 3}}})
    said = refused(project, dry=False)
    assert "workerz" in said and "workers" in said and "configs/project.yaml:" in said
    project.configure()
    assert "did you mean `tracker`?" in refused(project, "--config", "trakker=x", dry=False)


def test_config_values_that_yaml_reads_otherwise(make: Make) -> None:
    """`--config rerun=0123` would be the number 123: said, not guessed."""
    project = make([Row("0123")])
    assert "read as int" in refused(project, "--config", "rerun=0123", dry=False)
    assert "R404" in refused(project, "--config", "rerun=R404", dry=False)


def test_a_smoke_run_is_made_where_the_dry_run_is_skipped(make: Make) -> None:
    """`dryrun.skip` is no word about `conformance.smoke`: its log is looked at, and a run that cannot be small says so."""
    smoke = {"conformance": {"smoke": {"shows": ["loss"]}}, "dryrun": {"skip": "no time"}}
    project = make([Row("R001")], runs={"R001": smoke})
    project.runherd("preflight").ok()
    project.configure({"R001": {**smoke, "conformance": {"smoke": {"shows": ["observe called"]}}}})
    assert "R001: the smoke run's log does not show 'observe called'" in project.runherd("preflight").failed().text
    project.configure({"R001": {**smoke, "command": ["{{ python }}", "program.py", "{{ run_id }}"]}})
    assert "R001: its smoke run cannot be made: its command takes no limit" in project.runherd("preflight").failed().text
    project.ask("R001", "dry-bug")
    project.configure({"R001": smoke})
    assert "warning: R001: the smoke run failed: exit code 1" in project.runherd("preflight").ok().text


def test_preflight_warns_of_rows_that_nobody_acts_on(make: Make) -> None:
    """A status that is not understood and a row that stands twice: preflight passes, and says so with the lines."""
    project = make([Row("R001"), Row("R002", status="perhaps"), Row("R003", status="DONE"), Row("R003", status="DONE")])
    said = project.runherd("preflight").ok().text
    assert "warning: tracker/EXPERIMENT_TRACKER.md:6: status not understood" in said and "R002 (line 6: 'perhaps')" in said
    assert "R003 stands in 2 rows (lines 7, 8)" in said


NOT_THERE = {
    "cwd": ("no folder", "execution.cwd: {root}/no folder does not exist"),
    "python": ("venv é/bin/python", "execution.python: {root}/venv é/bin/python does not exist"),
    "python as a name": ("python3.99", "execution.python: there is no program 'python3.99' in PATH"),
    "python as a text": ("./program.py", "execution.python: {root}/program.py is not an executable file"),
    "shell": ("/bin/nosh", "execution.shell: /bin/nosh does not exist"),
    "activate": ("venvs/none", "execution.activate: {root}/venvs/none does not exist"),
}


def test_what_a_program_starts_in_is_not_there(make: Make) -> None:
    """Folder, interpreter, shell or environment that plainly is not there stops in preflight, with path and file.

    For a run with `needs:` it is a warning, as a run before it may make it; so is a checkpoint place of two runs.
    """
    runs: dict[str, Any] = {
        f"R00{i}": {"execution": {name.partition(" ")[0]: value}} for i, (name, (value, _)) in enumerate(NOT_THERE.items())
    }
    keeps = {"output": {"checkpoint": "common"}}
    runs |= {"W1": keeps, "W2": {**keeps, "needs": ["W1"], "execution": {"cwd": "made"}}}
    project = make([Row(run_id) for run_id in runs], runs=runs)
    text = project.runherd("preflight").failed().text
    for i, (_, said) in enumerate(NOT_THERE.values()):
        assert f"STOP: R00{i}: {said.format(root=project.root)} (configs/project.yaml:" in text
    assert text.count("STOP") == len(NOT_THERE)
    assert f"warning: W2: execution.cwd: {project.root}/made does not exist" in text
    assert "warning: W1 and W2: output.checkpoint is not its alone" in text


@pytest.mark.parametrize("key", ["rerun", "stage", "tracker", "set", "stale", "accept_drift"])
def test_config_key_without_a_value(make: Make, key: str) -> None:
    """`--config rerun=` (an empty shell variable, say) is refused, not taken for nothing."""
    assert f"--config {key}= has no value" in refused(make([Row("R001")]), "--config", f"{key}=", dry=False)


def test_rerun_of_a_row_that_has_no_record(make: Make) -> None:
    """A row that was DONE before runherd came has nothing to repeat: said, and nothing is launched."""
    project = make([Row("R001", status="DONE"), Row("R002", status="SKIP")])
    said = project.snakemake("-n", "--config", "rerun=R001,R002").text
    assert "R001: rerun=R001 does nothing" in said and "R002: rerun=R002 does nothing" in said


@pytest.mark.parametrize("need", ["R404", "R003", "R002"], ids=["unknown", "later-stage", "itself"])
def test_needs_that_cannot_be_met(make: Make, need: str) -> None:
    """A need that is no row, of a later stage, or in a circle."""
    project = make([Row("R001"), Row("R002"), Row("R003", "M1")], runs={"R002": {"needs": [need]}})
    assert f"R002 needs {need}" in refused(project, dry=False)


def test_more_gpus_than_there_are(make: Make) -> None:
    """A run that asks for GPUs on a machine without stops in preflight; CPU runs of other targets go on."""
    project = make([Row("R001"), Row("R002", "M1")], runs={"R002": {"execution": {"gpus": 2}}})
    project.snakemake("gate_M0").ok()
    assert project.launches() == {"R001": 1}
    said = project.snakemake().failed().text
    assert "R002 asks for 2 GPUs, but this machine has no NVIDIA driver or GPU" in said
    assert project.launches() == {"R001": 1} and project.cell("R002") == "TODO"
