"""Starting again after a reboot: a unit that systemd accepts, a line that cron understands, for awkward paths too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from runherd.cli.main import main
from runherd.errors import UserError
from runherd.init import restart


def test_unit_leaves_the_runs_alone(tmp_path: Path) -> None:
    """Stopping the unit ends the controller alone, and it starts Snakemake in the project."""
    text = restart.unit(tmp_path / "a b", "/opt/py thon", "Snakefile")
    assert "\nKillMode=process\n" in text and f"WorkingDirectory={tmp_path}/a b\n" in text
    assert 'ExecStart="/opt/py thon" -m snakemake --snakefile Snakefile --cores all\n' in text


@pytest.mark.parametrize(
    ("word", "written"), [("/a/b", "/a/b"), ("/50%", "/50%%"), ('/a"b', '"/a\\"b"'), ("/$x y", '"/$$x y"')]
)
def test_words_are_quoted_for_systemd(word: str, written: str) -> None:
    """Percent, dollar, quotes and spaces reach the program as they are."""
    assert restart._quoted(word) == written


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_unit_is_accepted_by_systemd(tmp_path: Path) -> None:
    """systemd's own check finds nothing wrong with the unit."""
    path = tmp_path / "runherd-x.service"
    path.write_text(restart.unit(tmp_path, "/bin/true", "Snakefile"))
    done = subprocess.run(["systemd-analyze", "verify", "--user", str(path)], capture_output=True, text=True)
    assert "runherd-x" not in done.stderr, done.stderr


def test_cron_line_runs_in_the_project(tmp_path: Path) -> None:
    """What cron hands to sh (a backslash before % removed) changes into the folder and calls Snakemake there."""
    folder = tmp_path / "50% of it's"
    folder.mkdir()
    python = tmp_path / "py thon"
    python.write_text('#!/bin/sh\npwd > called\necho "$@" >> called\n')
    python.chmod(0o755)
    line = restart.cron_line(folder, str(python), "Snakefile")
    assert "%" not in line.replace(r"\%", "")
    command = line.removeprefix("@reboot ").replace(r"\%", "%")
    subprocess.run(["sh", "-c", command], check=True, cwd="/")
    assert (folder / "called").read_text() == f"{folder}\n-m snakemake --snakefile Snakefile --cores all\n"


def test_cron_line_is_added_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The crontab keeps its lines, ours is added at the end, and a second time changes nothing."""
    tab = tmp_path / "tab"
    tab.write_text("0 1 * * * backup")
    tool = tmp_path / "crontab"
    tool.write_text(
        f'#!/bin/sh\ncase "$1" in -l) cat "{tab}";; -) cat > "{tab}.new" && mv "{tab}.new" "{tab}";; esac\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert restart.install_cron("@reboot x") and not restart.install_cron("@reboot x")
    assert tab.read_text() == "0 1 * * * backup\n@reboot x\n"


def test_unit_is_written_once_and_only_with_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--dry-run shows, --yes writes into the user's own folder, and an existing unit keeps its bytes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    unit = restart.unit_path(tmp_path, tmp_path)
    assert main(["init", "--systemd", "--dry-run"]) == 0 and not unit.exists()
    assert main(["init", "--systemd", "--yes"]) == 0 and unit.is_relative_to(tmp_path / "home")
    unit.write_text("mine")
    assert main(["init", "--systemd", "--yes"]) == 0 and unit.read_text() == "mine"


def test_line_breaks_in_paths_are_refused() -> None:
    """A path with a line break could smuggle a line into a unit: refused."""
    with pytest.raises(UserError):
        restart.cron_line(Path("/a\nb"), "/py", "Snakefile")
