"""Runs that are not ours, watched from inside a project: its `monitor:` and `heal:` hold for them too."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runherd.cli.main import main
from runherd.errors import UserError
from runherd.monitor import settings

GLOBAL = "heal: {oom_wait_s: 7}\nmonitor: {stale_s: 50}\n"
PROJECT = 'patterns:\n  "*":\n    monitor: {stale_s: 40, signatures: mine.yaml}\n  "R*":\n    monitor: {stale_s: 30}\n'
MEMORY = """\
step 3/9
Traceback (most recent call last):
  File "/x/a.py", line 3, in f
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
"""
GONE = "4194303"  #: above the largest pid that the kernel gives by itself

Said = tuple[int, str, str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a name that needs quoting, its own cache beside it."""
    root = tmp_path / "pro ject's 'π'"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


@pytest.fixture
def monitor(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def run(*words: str) -> Said:
        code = main(["monitor", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def write(root: Path, *, common: str | None = None, project: str | None = None) -> None:
    (root / "configs" / "_defaults").mkdir(parents=True, exist_ok=True)
    if common is not None:
        (root / "configs" / "_defaults" / "global.yaml").write_text(common)
    if project is not None:
        (root / "configs" / "project.yaml").write_text(project)


def test_no_project_no_settings(project: Path) -> None:
    """Where there is no project, nothing is set and nothing is read or kept."""
    assert settings.of_project(str(project)) == {} and not (project.parent / "cache").exists()


def test_what_holds_for_every_run(project: Path) -> None:
    """global.yaml and the pattern "*" above it; other patterns are of other runs; unset keys are as they ship."""
    write(project, common=GLOBAL, project=PROJECT)
    found = settings.of_project(str(project))
    assert found["monitor"]["stale_s"] == 40 and found["monitor"]["stuck_s"] == 60
    assert found["heal"]["oom_wait_s"] == 7 and found["heal"]["max_restarts"] == 3
    assert found["monitor"]["signatures"] == [str(project / "mine.yaml")]


def test_it_is_read_once_per_change(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second look takes what the first one kept; a changed file is read anew."""
    write(project, common=GLOBAL)
    first = settings.of_project(str(project))
    with monkeypatch.context() as patched:
        patched.setattr(settings, "_resolved", lambda _: pytest.fail("it was read again"))
        assert settings.of_project(str(project)) == first
    write(project, common=GLOBAL.replace("50", "5000"))
    assert settings.of_project(str(project))["monitor"]["stale_s"] == 5000


@pytest.mark.parametrize("text", ["heal: {oom_wait_s: soon}\n", "monitor: {stal_s: 5}\n", "heal: [1\n"])
def test_settings_that_are_wrong(project: Path, text: str) -> None:
    """A wrong value, a misspelt key and broken YAML are told with file and line."""
    write(project, common=text)
    with pytest.raises(UserError, match=r"configs/_defaults/global\.yaml:\d"):
        settings.of_project(str(project))


def test_the_project_says_when_a_run_is_stale(project: Path, monitor: Callable[..., Said]) -> None:
    """A log that is still for 100 s is stale where the project says 50, not where nothing is said; --stale goes above."""
    log = project / "x.log"
    log.write_text("step 1/9\n")
    os.utime(log, (time.time() - 100,) * 2)
    with subprocess.Popen(["sleep", "60"]) as program:
        try:
            words = ("--log", "x.log", "--pid", str(program.pid))
            assert monitor(*words)[1].startswith("[Monitor] HEALTHY")
            write(project, common=GLOBAL)
            assert monitor(*words)[1].startswith("[Monitor] STALE")
            assert monitor(*words, "--stale", "500")[1].startswith("[Monitor] HEALTHY")
        finally:
            program.kill()


def test_the_project_bounds_the_healing(project: Path, monitor: Callable[..., Said]) -> None:
    """A restart after OOM waits as long as `heal.oom_wait_s` says; `heal.enabled: false` forbids any."""
    (project / "x.log").write_text(MEMORY)
    words = ("none.json", "--log", "x.log", "--expected", "9", "--pid", GONE, "--act", "--restart", "true")
    write(project, common="heal: {enabled: false}\n")
    code, said, _ = monitor(*words)
    assert code == 5 and "act:     nothing was done: this project says heal.enabled: false" in said
    write(project, common=GLOBAL)
    code, said, _ = monitor(*words)
    assert code == 3 and "act:     to be started again in 7 s" in said


def test_no_more_restarts_than_the_project_allows(project: Path, monitor: Callable[..., Said]) -> None:
    """`heal.max_restarts: 0` starts nothing again, and says so in the run's log line and here."""
    (project / "x.log").write_text(MEMORY)
    write(project, common="heal: {max_restarts: 0}\n")
    code, said, _ = monitor("none.json", "--log", "x.log", "--expected", "9", "--pid", GONE, "--act", "--restart", "true")
    assert code == 5 and "not started again: " in said and "0 restarts already" in said


def test_diagnose_knows_the_signatures_of_the_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log that is diagnosed inside of a project is held against the project's own causes too."""
    row = "id: small-card, class: HARDWARE, cause: the small card, words: [cuda], match: ['CUDA out of memory']"
    (project / "mine.yaml").write_text(f"- {{{row}}}\n")
    (project / "x.log").write_text(MEMORY)
    write(project, project=PROJECT)
    assert main(["diagnose", "x.log"]) == 1
    assert capsys.readouterr().out.startswith("x.log: HARDWARE (small-card")


@pytest.mark.parametrize(
    ("words", "key"),
    [(("--checkpoint", "ckpt"), "output.checkpoint"), (("--expected", "9"), "expected"), (("--stale", "5"), "monitor.stale_s")],
)
def test_options_that_a_run_of_ours_does_not_take(
    project: Path, monitor: Callable[..., Said], words: tuple[str, str], key: str
) -> None:
    """What the record of a run of ours tells is not taken from an option, and not ignored: the key is named."""
    (project / "runs" / "R003" / "attempts" / "1").mkdir(parents=True)
    code, said, error = monitor("R003", *words)
    assert (code, said) == (2, "") and f"{words[0]}: this option is for runs that are not ours; R003 is one" in error
    assert key in error


@pytest.mark.parametrize("pattern", ["(", "(?P<done>(\\d+)+)x"])
def test_a_pattern_that_cannot_be_used(project: Path, monitor: Callable[..., Said], pattern: str) -> None:
    """A project's own pattern of progress that is none, or can take for ever, is told with its place, without a traceback."""
    write(project, project=f'patterns:\n  "*":\n    monitor: {{progress: \'{pattern}\'}}\n')
    (project / "a.log").write_text("step 1/9\n")
    code, said, error = monitor("--log", "a.log")
    assert (code, said) == (2, "") and "configs/project.yaml:3: `monitor.progress` " in error and pattern in error
