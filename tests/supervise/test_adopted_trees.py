"""An adopted program is its whole tree: it is ended with it, and lives while one of it does."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from adopting import adopt, end, make, theirs
from flowkit import alive


@pytest.mark.parametrize("own_session", [True, False])
@pytest.mark.parametrize("deaf", [(), ("deaf",)])
def test_a_cancelled_adopted_run_is_ended_with_all_of_its_tree(
    tmp_path: Path, own_session: bool, deaf: tuple[str, ...]
) -> None:
    """`cancel` ends the program below the adopted shell, whether or not it heeds SIGTERM, and starts nothing after it."""
    project = make(tmp_path)
    shell, child = theirs(project, *deaf, own_session=own_session)
    try:
        assert adopt(project, shell.pid).returncode == 3
        project.runherd("cancel", "A1")
        project.until(lambda: project.cell("A1") == "BLOCKED", "the run is cancelled")
        assert not alive(child) and shell.wait(10) == -signal.SIGTERM
        assert not (project.root / "after").exists()
    finally:
        end(shell, child)
        project.close()


def test_an_adopted_run_lives_while_its_tree_does(tmp_path: Path) -> None:
    """The adopted shell is killed, its program goes on: the row stays RUNNING, and the program's result makes it DONE."""
    project = make(tmp_path)
    shell, child = theirs(project, own_session=False)
    try:
        assert adopt(project, shell.pid).returncode == 3
        shell.kill()
        shell.wait(10)
        again = project.runherd("monitor", "A1", "--act")
        assert alive(child) and project.cell("A1") == "RUNNING", again
        os.kill(project.supervisor("A1"), signal.SIGKILL)  # who comes next knows it too
        project.runherd("monitor", "A1", "--act")
        assert alive(child) and project.cell("A1") == "RUNNING" and project.kinds("A1", "ended") == []
        project.control.mkdir(exist_ok=True)
        (project.control / "go").touch()
        project.until(lambda: project.cell("A1") == "DONE", "the adopted run is DONE")
        assert project.record("A1", "result")["metrics"] == {"accuracy": 0.5}
    finally:
        end(shell, child)
        project.close()
