"""The doctor: each check says what it found and what to do; only what keeps runherd from working fails."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from runherd import ledger, locks
from runherd.cli.main import main
from runherd.config import load_project
from runherd.doctor import Check, Level, environment, machine, report, repository
from runherd.files import Layout

TRACKER = "| Run ID | Milestone | Priority | Status | Notes |\n|---|---|---|---|---|\n| R001 | M0 | MUST | TODO | |\n"


def one(checks: Iterable[Check], name: str) -> Check:
    found = [c for c in checks if c.name == name]
    assert found, f"no check {name}"
    return found[0]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "it's a répo"
    folder.mkdir()
    (folder / "EXPERIMENT_TRACKER.md").write_text(TRACKER)
    (folder / "Snakefile").write_text("from runherd.workflow import snakefile\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("files", "kills"),
    [
        ([], False),
        (["#KillUserProcesses=yes\n"], False),
        (["[Login]\nKillUserProcesses=yes\n"], True),
        (["KillUserProcesses=yes\n", " KillUserProcesses = no\n"], False),
        (["KillUserProcesses=no", "KillUserProcesses=1"], True),
    ],
)
def test_logind_settings_are_read(files: list[str], kills: bool) -> None:
    """Comments do not count, later files win, and the default is to leave processes alone."""
    assert machine.kill_user_processes(files) is kills


@pytest.mark.parametrize(
    ("linger", "manager", "level"), [(True, False, Level.OK), (False, True, Level.WARN), (False, False, Level.FAIL)]
)
def test_kill_at_logout_is_weighed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linger: bool, manager: bool, level: Level
) -> None:
    """KillUserProcesses is harmless with lingering, a warning with a user manager, and fatal without."""
    conf = tmp_path / "etc" / "systemd"
    conf.mkdir(parents=True)
    (conf / "logind.conf").write_text("[Login]\nKillUserProcesses=yes\n")
    if linger:
        (tmp_path / "lib/systemd/linger").mkdir(parents=True)
        (tmp_path / "lib/systemd/linger/ana").touch()
    (tmp_path / "run" / ("systemd" if manager else "other")).mkdir(parents=True)
    tool = tmp_path / "bin" / "systemd-run"
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    environ = {"USER": "ana", "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    check = one(machine.logout(tmp_path / "etc", tmp_path / "lib", environ), "logout")
    assert check.level is level
    assert level is Level.OK or check.do == "loginctl enable-linger ana"


MOUNTS = "tmpfs /data/my\\040disk tmpfs rw 0 0\nhost:/x /data nfs4 rw 0 0\n/dev/sda / ext4 rw 0 0\n"


@pytest.mark.parametrize(
    ("path", "kind"), [("/home/ana", "ext4"), ("/data/a", "nfs4"), ("/data/my disk/a", "tmpfs"), ("/database", "ext4")]
)
def test_file_system_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    """The longest mount point that holds the path counts, escapes included; a name that only begins alike does not."""
    assert machine.file_system(Path(path), MOUNTS) == kind


def test_shared_file_systems_warn() -> None:
    """NFS is a warning with what to do; a local disk is fine."""
    assert one(machine.filesystem(Path("/data/a"), MOUNTS), "file system").level is Level.WARN
    assert one(machine.filesystem(Path("/home/ana"), MOUNTS), "file system").level is Level.OK


def test_snakemake_has_what_we_use() -> None:
    """The Snakemake that is installed here passes the trial."""
    assert one(environment.snakemake(), "snakemake").level is Level.OK


def test_a_snakemake_that_lacks_something_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version without one of the attributes fails, and the report names the attribute."""
    trial = environment.TRIAL.replace("check(workflow)", "import runherd.workflow.engine as c; c.ATTRIBUTES = "
                                      "('no_such_thing',); check(workflow)")  # fmt: skip
    monkeypatch.setattr(environment, "TRIAL", trial)
    check = one(environment.snakemake(), "snakemake")
    assert check.level is Level.FAIL and "no_such_thing" in check.found and "pip install" in str(check.do)


def test_another_snakemake_in_path_warns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `snakemake` of another environment would not find runherd."""
    (tmp_path / "snakemake").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert one(environment.on_path(), "command").level is Level.WARN
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert "not in PATH" in one(environment.on_path(), "command").found


def test_missing_workflow_and_profile(repo: Path) -> None:
    """Without our Snakefile it fails, without a profile it is a remark, without the greedy scheduler a warning."""
    assert one(repository.workflow(repo), "profile").level is Level.INFO
    profile = repo / "profiles" / "default" / "config.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text("cores: 2\n")
    assert one(repository.workflow(repo), "profile").level is Level.WARN
    profile.write_text("scheduler: greedy\n")
    assert one(repository.workflow(repo), "profile").level is Level.OK
    (repo / "Snakefile").write_text("rule a: shell: 'true'\n")
    assert one(repository.workflow(repo), "snakefile").do == "runherd init"


def test_rows_that_cannot_be_written_are_named(repo: Path) -> None:
    """Read-only rows are a warning with id, line and reason."""
    (repo / "EXPERIMENT_TRACKER.md").write_text(TRACKER + "| R001 | M0 | MUST | TODO | |\n")
    checks = list(repository.tracker(load_project(repo)))
    assert checks[0].level is Level.OK and checks[1].level is Level.WARN and "R001 (line 4)" in checks[1].found


def test_criteria_that_are_not_committed_warn(repo: Path) -> None:
    """Uncommitted or changed criteria are a warning, committed ones are fine, none are a remark."""
    config = load_project(repo)
    assert one(repository.git(config), "git").level is Level.INFO
    criteria = repo / "verdict-criteria.md"
    criteria.write_text("x\n")

    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *words], cwd=repo, check=True, capture_output=True)

    git("init", "--quiet")
    assert "not committed" in one(repository.git(config), "git").found
    git("add", "--all")
    git("commit", "--quiet", "-m", "x")
    assert one(repository.git(config), "git").level is Level.OK
    criteria.write_text("y\n")
    assert one(repository.git(config), "git").level is Level.WARN


def test_a_linked_worktree_fails(repo: Path, tmp_path: Path) -> None:
    """Runs inside a linked worktree would vanish with it."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "--quiet"], ["add", "--all"], [*who, "commit", "--quiet", "-m", "x"]):
        subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True)
    linked = tmp_path / "linked"
    subprocess.run(["git", "worktree", "add", "--quiet", str(linked)], cwd=repo, check=True, capture_output=True)
    assert one(repository.git(load_project(linked)), "git").level is Level.FAIL


def test_holders_are_named(repo: Path) -> None:
    """A held lock is told with its pid; an active run that nobody watches is a warning with what to do."""
    layout = Layout(repo)
    for run_id in ("R001", "R2: x"):
        ledger.append(layout.events(run_id), ledger.Requested(1, "first"))
    fd = locks.try_lock(layout.supervisor_lock("R2: x"))
    assert fd is not None
    try:
        locks.sign(fd)
        checks = list(repository.holders(layout))
    finally:
        os.close(fd)
    assert "not at work" in one(checks, "controller").found
    watched, alone = [c for c in checks if c.name == "runs"]
    assert f"R2: x (pid {os.getpid()})" in watched.found
    assert alone.level is Level.WARN and alone.found.endswith(": R001") and alone.do == "snakemake"


def test_one_broken_look_does_not_hide_the_others(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unreadable place becomes a warning; the rest of the report is there."""

    def broken() -> list[Check]:
        raise PermissionError("no entry")

    monkeypatch.setattr(machine, "gpus", broken)
    monkeypatch.setattr(environment, "snakemake", lambda: [])
    checks = report.examine(repo)
    assert "no entry" in one(checks, "doctor").found and one(checks, "tracker").level is Level.OK


def test_command_and_exit_codes(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 while nothing fails, 1 otherwise; --json says the same, and nothing in the repository changes."""
    monkeypatch.setattr(environment, "snakemake", lambda: [])
    before = sorted(str(p) for p in repo.rglob("*"))
    assert main(["doctor"]) == 0
    capsys.readouterr()
    (repo / "Snakefile").unlink()
    assert main(["doctor", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == 1 and told["ok"] is False
    assert {
        "name": "snakefile",
        "level": "fail",
        "found": "no Snakefile here that calls runherd",
        "do": "runherd init",
    } in told["checks"]
    assert sorted(str(p) for p in repo.rglob("*")) == [p for p in before if not p.endswith("Snakefile")]


def test_a_wrong_project_file_fails_with_its_line(repo: Path) -> None:
    """What is wrong in project.yaml is told as a command would tell it."""
    (repo / "configs").mkdir()
    (repo / "configs" / "project.yaml").write_text("trackr: x\n")
    config, check = repository.project(repo)
    assert config is None and check.level is Level.FAIL and "configs/project.yaml:1" in check.found
