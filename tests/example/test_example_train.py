"""The bundled training program: resume after real kills, checkpoints, its result file, its dry run."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
TRAIN = REPO / "examples" / "digits" / "train.py"
STEPS = 120
QUICK = ["--split", "validation", "--steps", str(STEPS), "--checkpoint-every", "10", "--log-every", "10"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder whose name has what careless programs trip over."""
    folder = tmp_path / "läufe von \"heute\" 'x' $HOME"
    folder.mkdir()
    return folder


def command(place: Path, *more: str, name: str = "result", seed: int = 5) -> list[str]:
    out = ["--out", str(place / f"{name}.json"), "--checkpoint-dir", str(place / f"{name} ckpt")]
    return [sys.executable, str(TRAIN), "--system", "method", "--seed", str(seed), *QUICK, *out, *more]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def finish(argv: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, env=environment(), capture_output=True, text=True, timeout=120)


def stopped_at(argv: list[str], line: str, number: int) -> subprocess.Popen[str]:
    """Start `argv` slowed down, send `number` when it has printed `line`, and wait for its end."""
    slow = [*argv, "--step-delay", "0.01"]
    process = subprocess.Popen(slow, env=environment(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as lines:
        seen = _read_until(lines, line)
        process.send_signal(number)
        rest = lines.read()
    process.wait(timeout=60)
    process.args = seen + rest
    return process


def _read_until(lines: Iterator[str], wanted: str) -> str:
    seen = ""
    for text in lines:
        seen += text
        if text.startswith(wanted):
            return seen
    raise AssertionError(f"{wanted!r} never came:\n{seen}")


class Finished:
    """One undisturbed run: its folder, its log, and its result file as bytes."""

    def __init__(self, folder: Path) -> None:
        done = finish(command(folder))
        assert done.returncode == 0, done.stderr
        self.folder = folder
        self.log = done.stdout
        self.result = (folder / "result.json").read_bytes()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return Finished(tmp_path_factory.mktemp("whole run"))


@pytest.fixture
def copied(finished: Finished, place: Path) -> Path:
    """A copy of the undisturbed run's folder, to be damaged."""
    return shutil.copytree(finished.folder, place / "copy")


def test_sigkill_then_resume_gives_the_same_result_to_the_last_byte(place: Path, finished: Finished) -> None:
    """Killed twice and started again: it goes on from a saved step, says so, and ends as if undisturbed."""
    first = stopped_at(command(place), f"step 40/{STEPS} ", signal.SIGKILL)
    assert first.returncode == -signal.SIGKILL
    assert not (place / "result.json").exists()
    second = stopped_at(command(place), f"step 80/{STEPS} ", signal.SIGKILL)
    assert second.returncode == -signal.SIGKILL
    log = finish(command(place)).stdout
    assert (place / "result.json").read_bytes() == finished.result
    resumed = re.search(rf"^resume: from step (\d+)/{STEPS} ", log, re.M)
    assert resumed is not None, log
    assert 70 <= int(resumed[1]) < STEPS
    printed = [int(step) for step in re.findall(r"^step (\d+)/", log, re.M)]
    assert printed[0] > int(resumed[1])
    assert printed[-1] == STEPS


def test_sigterm_saves_the_very_step_and_ends_by_the_signal(place: Path, finished: Finished) -> None:
    """SIGTERM leaves a checkpoint of the last finished step, and the process is seen to die of SIGTERM."""
    stopped = stopped_at(command(place, "--checkpoint-every", "100000"), f"step 50/{STEPS} ", signal.SIGTERM)
    assert stopped.returncode == -signal.SIGTERM
    saved = re.search(r"^stop: SIGTERM, checkpoint at step (\d+)$", str(stopped.args), re.M)
    assert saved is not None
    done = finish(command(place))
    assert f"resume: from step {saved[1]}/" in done.stdout
    assert (place / "result.json").read_bytes() == finished.result


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(place: Path, finished: Finished) -> None:
    """Cut the newest array file short: the program says so, goes on from the older one, ends the same."""
    stopped_at(command(place), f"step 70/{STEPS} ", signal.SIGKILL)
    folder = place / "result ckpt"
    arrays = sorted(folder.glob("step-*.npz"))
    arrays[-1].write_bytes(arrays[-1].read_bytes()[:-100])
    done = finish(command(place))
    assert f"{arrays[-1].stem}.json is passed over" in done.stdout
    assert f"({arrays[-2].stem}.json)" in done.stdout
    assert (place / "result.json").read_bytes() == finished.result


def test_arrays_without_manifest_do_not_count(copied: Path) -> None:
    """A kill between array file and manifest leaves a checkpoint that is not used."""
    folder = copied / "result ckpt"
    newest = sorted(folder.glob("step-*.json"))[-1]
    newest.unlink()
    done = finish(command(copied))
    assert f"resume: from step {STEPS - 10}/" in done.stdout


def test_two_checkpoints_are_kept_and_their_manifests_vouch_for_them(finished: Finished) -> None:
    """The folder holds the last two steps, each with fingerprint and sha256, and no leftovers."""
    folder = finished.folder / "result ckpt"
    names = sorted(p.name for p in folder.iterdir())
    assert names == [f"step-{s:06d}.{kind}" for s in (STEPS - 10, STEPS) for kind in ("json", "npz")]
    manifest = json.loads((folder / names[0]).read_text())
    result = json.loads(finished.result)
    assert manifest["step"] == STEPS - 10
    assert manifest["fingerprint"] == result["config"]["fingerprint"]
    assert re.fullmatch(r"[0-9a-f]{64}", manifest["sha256"])


def test_another_configurations_checkpoint_is_refused(copied: Path) -> None:
    """With another seed in the same folder the program stops with a message, and writes no result."""
    (copied / "result.json").unlink()
    done = finish(command(copied, seed=6))
    assert done.returncode == 2
    assert "belongs to configuration" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (copied / "result.json").exists()


def test_result_holds_metrics_items_history_and_the_completeness_mark(finished: Finished) -> None:
    """Accuracy is the share of correct items, ids are unique, the history rises to the last step."""
    result = json.loads(finished.result)
    items = result["per_item"]
    assert len(items) == len({item["id"] for item in items}) == 225
    assert all(item["correct"] == (item["response"] == item["label"]) for item in items)
    assert result["metrics"]["accuracy"] == sum(item["correct"] for item in items) / 225
    assert [point["step"] for point in result["history"]] == list(range(20, STEPS + 1, 20))
    assert result["history"][-1]["loss"] < result["history"][0]["loss"]
    assert result["complete"] is True


def test_progress_lines_have_step_total_and_loss(finished: Finished) -> None:
    """Every progress line can be read as `step N/TOTAL loss=X`."""
    lines = [line for line in finished.log.splitlines() if line.startswith("step ")]
    assert len(lines) == STEPS // 10
    assert all(re.fullmatch(rf"step \d+/{STEPS} loss=\d+\.\d{{4}}", line) for line in lines)


def test_dry_run_is_short_and_leaves_the_real_checkpoints_alone(place: Path) -> None:
    """`--limit 2` evaluates two images after few steps and does not touch the run's own checkpoints."""
    stopped_at(command(place), f"step 40/{STEPS} ", signal.SIGKILL)
    folder = place / "result ckpt"
    before = {p.name: p.read_bytes() for p in folder.glob("step-*")}
    dry = [*command(place, "--limit", "2"), "--out", str(place / "dry.json")]
    done = finish(dry)
    assert done.returncode == 0, done.stderr
    assert len(json.loads((place / "dry.json").read_text())["per_item"]) == 2
    assert "step 40/40 " in done.stdout
    assert {p.name: p.read_bytes() for p in folder.glob("step-*")} == before


def test_another_seed_gives_another_training(place: Path, finished: Finished) -> None:
    """The seed reaches the program: another one changes the losses."""
    finish(command(place, seed=6))
    other = json.loads((place / "result.json").read_text())
    assert other["history"] != json.loads(finished.result)["history"]


def test_the_program_is_no_part_of_runherd() -> None:
    """The example is an ordinary project: nothing in it imports runherd or reads its variables."""
    for path in TRAIN.parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import runherd" not in text
        assert "RUNHERD_" not in text
