"""A count at its end is the run's only where log or caller say so; real programs, watched by the real command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runherd.monitor.command import main
from runherd.monitor.wholecount import HEAD, TAIL, ending, read


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def bar(label: str, n: int, total: int | None = None) -> str:
    return f"{label}: 100%|██████████| {n}/{total or n} [00:01<00:00, 9.9it/s]"


FOLDS = "\n".join(f"fold {f}/5\n" + "\n".join(f"step {i}/10 loss 0.{i}" for i in range(1, 11)) for f in range(1, 6))
FIRST_FOLD = FOLDS.partition("fold 2/5")[0]
LIGHTNING = "\n".join(bar(f"Epoch {e}", i, 100).replace("100%", f"{i}%") for e in (0, 1) for i in (1, 50, 100))
KILL, OUT, FAIL = "kill -9 $$", "exit 0", "exit 1"

#: name -> what the program prints, how it ends, options, what the monitor says
ENDS: dict[str, tuple[str, str, tuple[str, ...], str, str]] = {
    "shards": (bar("Loading checkpoint shards", 4), KILL, (), "UNKNOWN", "the count of a part"),
    "shards, 100 expected": (bar("Loading checkpoint shards", 4), KILL, ("--expected", "100"), "UNKNOWN", "part"),
    "shards, 4 expected": (bar("Loading checkpoint shards", 4), KILL, ("--expected", "4"), "UNKNOWN", "part"),
    "an evaluation in between": ("step 5/100\n" + bar("Evaluating", 10), KILL, (), "UNKNOWN", "step was at 5 of 100"),
    "map": (bar("Map", 1000) + "\nStarting training", KILL, (), "UNKNOWN", "'Map' is the count of a part"),
    "a start after": ("item 9/9\nStarting training", KILL, ("--expected", "9"), "UNKNOWN", "after it came 'Starting training'"),
    "an unknown line after": ("item 9/9\nSwitching to phase B", KILL, ("--expected", "9"), "UNKNOWN", "after it came"),
    "one epoch of how many": (bar("Epoch 0", 100), KILL, (), "UNKNOWN", "how many epochs there are is not told"),
    "two epochs of how many": (LIGHTNING, KILL, (), "UNKNOWN", "its count began again"),
    "two epochs, as many expected": (LIGHTNING, KILL, ("--expected", "100"), "UNKNOWN", "its count began again"),
    "one fold": (FIRST_FOLD, KILL, (), "UNKNOWN", "fold was at 1 of 5"),
    "the second fold": (FIRST_FOLD + "fold 2/5", KILL, ("--expected", "10"), "UNKNOWN", "fold was at 2 of 5"),
    "one word of a part's end": ("epoch 3/3\nstep 9/9\nEpoch 3 finished in 4 s", KILL, (), "UNKNOWN", "nothing"),
    "an exit of 1 without a word": ("Processed 200/200 files", FAIL, (), "UNKNOWN", "nothing says that this was all"),
    "all counted": ("step 8/9\nstep 9/9", OUT, (), "UNKNOWN", "say --expected N"),
    "more than expected": ("item 12/12", OUT, ("--expected", "9"), "UNKNOWN", "it counts to 12, and 9 are expected"),
    "no count, some expected": ("All done.", OUT, ("--expected", "9"), "UNKNOWN", "its log says 'All done.', but nothing counts"),
    "stopped early": ("epoch 5/100\nEarly stopping at epoch 5", OUT, (), "UNKNOWN", "its log says 'Early stopping at epoch 5'"),
    "nothing at all": ("loading", OUT, (), "UNKNOWN", "nothing tells whether it had finished"),
    "in the middle": ("step 8/9", KILL, (), "DEAD", "the process is gone at 8 of 9"),
    "as many as expected": ("step 8/9\nstep 9/9", OUT, ("--expected", "9"), "COMPLETE", "No result is named"),
    "all folds": (FOLDS + "\nAll done", OUT, (), "COMPLETE", "No result is named"),
    "an end and its numbers": ("step 9/9\nTraining finished.\nTest accuracy: 0.913\nSaved to x.pt", OUT, (), "COMPLETE", ""),
    "with time and level": ("step 9/9\n2026-11-29 10:00:00,123 - INFO - train: Done in 3.2 s", OUT, (), "COMPLETE", ""),
    "all epochs of Lightning": (LIGHTNING + "\n`Trainer.fit` stopped: `max_epochs=2` reached.", OUT, (), "COMPLETE", ""),
    "its word alone": ("All done. Finished successfully in 3.2s", OUT, (), "COMPLETE", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_gone_with_a_count_at_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Killed or ended after a part of the work: never COMPLETE; at the end of all of it: COMPLETE."""
    text, end, words, state, said = ENDS[name]
    log = tmp_path / "rün 'x'.log"
    with log.open("wb") as out:
        process = subprocess.Popen(["sh", "-c", f'printf "%s\\n" "$0"; {end}', text], stdout=out)
    process.wait(20)
    code = main(["--log", str(log), "--pid", str(process.pid), *words])
    got = capsys.readouterr().out
    assert got.startswith(f"[Monitor] {state}") and said in got, got
    assert code == {"COMPLETE": 0, "DEAD": 1, "UNKNOWN": 5}[state]


def test_a_count_that_an_earlier_look_saw(tmp_path: Path) -> None:
    """What the middle of a long log told is known from the looks before."""
    log = tmp_path / "y.log"
    filler = "".join(f"note {i} of the library\n" for i in range((HEAD + TAIL) // 20))
    log.write_text(f"begin\n{filler}round 3/7\n{filler}item 9/9\nAll done.\n")
    assert read([str(log)], 9, 9, None, None, {}).sure
    found = read([str(log)], 9, 9, None, None, {"round 7": 3})
    assert not found.sure and found.doubt == "round was at 3 of 7"


def test_the_looks_keep_what_they_saw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An outer count that a look saw below its end, and that the log has lost since (rotated away): no COMPLETE."""
    log = tmp_path / "y.log"
    log.write_text("step 5/100\n")
    main(["--log", str(log)])
    log.unlink()
    log.write_text("item 9/9\nAll done.\n")
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    assert main(["--log", str(log), "--pid", str(gone.pid)]) == 5
    assert "UNKNOWN" in (out := capsys.readouterr().out) and "step was at 5 of 100" in out


def test_the_last_start_counts(tmp_path: Path) -> None:
    """What was counted before a restart by this command is not of the program that is gone."""
    log = tmp_path / "y.log"
    log.write_text("item 1/20\n[runherd] starting again (stale): python train.py\nstep 9/9\n")
    assert read([str(log)], 9, 9, 9, None, {}).sure
    log.write_text("item 1/20\nstep 9/9\n")
    assert not read([str(log)], 9, 9, 9, None, {}).sure


def test_a_pattern_of_the_projects_own_counts_the_run() -> None:
    """What `monitor.progress` counts is the whole: its end needs no further word, but nothing may come after it."""
    own = r"~~ (?P<done>\d+) von (?P<total>\d+)"
    assert ending([["~~ 8 von 9", "~~ 9 von 9"]], 9, 9, None, own, {}).sure
    assert ending([["~~ 9 von 9", "Starting over"]], 9, 9, None, own, {}).doubt == "after it came 'Starting over'"
