"""Each collector on files that the tool itself wrote: value for value what the tool reported.

The files are made by the scripts in `make/`, which also write `expected.json`
from what the tool's own objects, readers and summaries say, with its versions.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from runherd.collect import Collected, collect, inspect_log
from runherd.collect.tensorboard import File, load, merge

DATA = Path(__file__).parent / "data"


def gather(folder: str, tmp_path: Path, name: str | None = None, **spec: Any) -> Collected:
    """Collect a copy of the folder as a run's work folder; nothing is named unless `name` is."""
    work = tmp_path / "läufe 'x'" / "work"
    shutil.copytree(DATA / folder, work)
    place = work / (name or "result-that-is-not-there.json")
    return collect(spec, work, work / "log.txt", 0.0, place, record_dir=tmp_path / "records")


def told(tool: str) -> dict[str, Any]:
    return json.loads((DATA / tool / "expected.json").read_text())


def rows(path: Path | None) -> list[dict[str, Any]]:
    return [] if path is None else [json.loads(line) for line in path.read_text().splitlines()]


def rules(got: Collected) -> set[str]:
    return {f.rule for f in got.findings}


# -- Hugging Face Trainer ---------------------------------------------------------------
def test_trainer_resumed(tmp_path: Path) -> None:
    """The state after a resume: its history is the whole curve, its last values are the metrics, the best is found."""
    got, said = gather("trainer/resumed", tmp_path), told("trainer")["resumed"]
    assert (got.complete, got.missing, got.findings) == (True, None, [])
    assert rows(got.curve) == said["log_history"]
    assert got.metrics["global_step"] == said["global_step"] == 40
    assert got.metrics["best_metric"] == said["best_metric"]
    assert got.metrics["train_loss"] == said["train_output"]["train_loss"]
    last: dict[str, Any] = {}
    for row in said["log_history"]:
        last |= row
    assert {k: got.metrics[k] for k in last if k not in ("step", "epoch")} == {
        k: v for k, v in last.items() if k not in ("step", "epoch")
    }
    assert got.checkpoint is not None and Path(got.checkpoint).is_dir()
    assert Path(got.checkpoint).name == Path(said["best_model_checkpoint"]).name == "checkpoint-20"


def test_trainer_stopped_early(tmp_path: Path) -> None:
    """A training that EarlyStoppingCallback ended is whole, and that it ended early is told."""
    got, said = gather("trainer/early", tmp_path), told("trainer")["early"]
    assert (got.complete, rules(got)) == (True, {"stopped_early"})
    assert got.metrics["global_step"] == said["global_step"] == 30 < said["max_steps"]
    assert got.metrics["best_metric"] == said["best_metric"]


def test_trainer_preempted_is_no_result(tmp_path: Path) -> None:
    """A checkpoint written on SIGTERM says "should stop" like an early stop does; it is no end unless that is declared."""
    got = gather("trainer/preempted", tmp_path)
    assert not got.complete and "stands at step 12 of 40: it was asked to stop" in str(got.missing)
    shutil.rmtree(tmp_path / "läufe 'x'")
    declared = gather("trainer/preempted", tmp_path, collect={"options": {"early_stop": True}})
    assert declared.complete and "stopped_early" in rules(declared)


def test_trainer_killed_is_no_result(tmp_path: Path) -> None:
    """A training that was killed stands at its last checkpoint."""
    got, said = gather("trainer/killed", tmp_path), told("trainer")["killed"]
    assert got.missing == f"checkpoint-20/trainer_state.json stands at step {said['at']} of {said['of']}"


def test_trainer_nan(tmp_path: Path) -> None:
    """NaN and Infinity tokens of a diverged training are null, and counted."""
    got, said = gather("trainer/nan", tmp_path), told("trainer")["nan"]
    raw = (DATA / "trainer/nan/checkpoint-20/trainer_state.json").read_text()
    tokens = raw.count("NaN") + raw.count("Infinity")
    assert got.complete and tokens > 5
    assert [f.evidence for f in got.findings if f.rule == "not_finite"] == [{"count": tokens}]
    assert got.metrics["loss"] is None and got.metrics["eval_loss"] is None
    wanted = [r for r in said["log_history"] if "train_runtime" not in r]  # that row is not in a checkpoint
    assert rows(got.curve) == wanted


def test_trainer_unfinished_checkpoint_is_passed_over(tmp_path: Path) -> None:
    """A checkpoint that the Trainer still marks as incomplete is not taken, whatever its number."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "trainer/resumed", work)
    (work / "trainer_state.json").unlink()
    (work / "checkpoint-40" / "checkpoint-is-incomplete.txt").write_text("in progress")
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert "stands at step 30 of 40" in str(got.missing)


def test_trainer_state_of_an_earlier_stage(tmp_path: Path) -> None:
    """A state that was saved before the training went on is not the newest, though it lies above the checkpoints."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "trainer/resumed", work)
    shutil.copy(work / "checkpoint-20" / "trainer_state.json", work)
    got = collect({}, work, work / "log", 0.0, work / "trainer_state.json", record_dir=tmp_path)
    assert got.complete and got.sources[0]["path"].endswith("checkpoint-40/trainer_state.json")


def test_trainer_names_the_model_as_older_versions_do(tmp_path: Path) -> None:
    """The name that transformers before 5 put into each checkpoint's configuration holds for the state above them too."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "trainer/resumed", work)
    for path in work.rglob("config.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"_name_or_path": "tiny/gpt2"}))
    got = collect({"model": "gpt2"}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert got.complete and got.model == "tiny/gpt2" and "other_model" not in rules(got)


def test_trainer_names_the_base_of_an_adapter(tmp_path: Path) -> None:
    """The base model of an adapter beside the state is compared with the configured model."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "trainer/resumed", work)
    (work / "adapter_config.json").write_text('{"base_model_name_or_path": "org/other"}')
    got = collect({"model": "org/tiny"}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert got.model == "org/other" and "other_model" in rules(got)


# -- Lightning --------------------------------------------------------------------------
def test_lightning_restart(tmp_path: Path) -> None:
    """`version_0` up to where `version_1` goes on from: one curve, with the values that the Trainer returned."""
    got, said = gather("lightning/restart", tmp_path), told("lightning")["restart"]
    assert got.complete and got.metrics == said["metrics"]
    curve = rows(got.curve)
    assert [r["step"] for r in curve if "train/loss" in r] == list(range(1, 64, 2))
    assert [(r["step"], r["epoch"]) for r in curve if "val/loss" in r] == [(15, 0), (31, 1), (47, 2), (63, 3)]
    assert got.model == "tiny-line" and rules(got) == {"no_end_mark"}
    assert len(got.sources) == 2
    assert str(got.checkpoint).endswith("version_1/checkpoints/epoch=3-step=64.ckpt")


def test_lightning_plain_and_nan(tmp_path: Path) -> None:
    """A run to its end, and one that diverged: the Trainer's own values, NaN as null."""
    got, said = gather("lightning/plain", tmp_path / "a"), told("lightning")
    assert got.metrics == said["plain"]["metrics"]
    got = gather("lightning/nan", tmp_path / "b")
    assert got.metrics == said["nan"]["metrics"] == {"train/loss": None, "val/loss": None}
    assert [f.evidence["count"] for f in got.findings if f.rule == "not_finite"] == [9]


def test_lightning_behind_its_checkpoint(tmp_path: Path) -> None:
    """Rows cut off at a line's end leave a whole file: the checkpoint beside it tells that they are missing."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "lightning/plain", work)
    path = work / "lightning_logs/version_0/metrics.csv"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:20]))
    got = collect({}, work, work / "log", 0.0, path, record_dir=tmp_path)
    assert got.missing == "metrics.csv ends at step 33, but there is a checkpoint of step 64"


@pytest.mark.parametrize(("version", "refused"), [(0, False), (1, True)])
def test_lightning_cut_line(tmp_path: Path, version: int, refused: bool) -> None:
    """A row cut in the file that was gone on from is told; in the last file it makes the result no result."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "lightning/restart", work, ignore=shutil.ignore_patterns("*.ckpt"))
    path = work / f"lightning_logs/version_{version}/metrics.csv"
    path.write_bytes(path.read_bytes()[:-9])
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    said = f"the last line of version_{version}/metrics.csv is cut"
    assert [f.message for f in got.findings if f.rule == "cut"] == [said]
    assert got.missing == (said if refused else None)


def test_lightning_after_an_earlier_run(tmp_path: Path) -> None:
    """Rows of a `version_K` from before this run are left out, and that is said: the curve begins where it went on."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "lightning/restart", work)
    for path in work.rglob("version_0/*"):
        os.utime(path, (1000, 1000))
    got = collect({}, work, work / "log", 2000.0, work / "none.json", record_dir=tmp_path)
    assert got.complete and min(r["step"] for r in rows(got.curve)) == 33
    [said] = [f.message for f in got.findings if f.rule == "older_parts"]
    assert said.startswith("version_0/metrics.csv lie beside the result and are older")


# -- lm-evaluation-harness --------------------------------------------------------------
@pytest.mark.parametrize("name", ["full", "limited", "other"])
def test_lm_eval(tmp_path: Path, name: str) -> None:
    """Metrics, errors, group and samples as the harness returned them, also under a file name of one's own."""
    got, said = gather(f"lm_eval/{name}", tmp_path), told("lm_eval")[name]
    assert (got.complete, got.missing, got.model) == (True, None, said["model"])
    wanted, errors = {}, {}
    for task, values in (said["results"] | (said["groups"] or {})).items():
        for key, value in values.items():
            if "," in key and isinstance(value, float):
                metric, _, name_of_filter = key.partition(",")
                full = f"{task}/{metric}" + ("" if name_of_filter == "none" else f"/{name_of_filter}")
                (errors if metric.endswith("_stderr") else wanted)[full] = value
    assert got.metrics == wanted and got.extra["stderr"] == errors
    assert len(wanted) == (2 if name == "other" else 5)
    samples = [(t, *s) for t, rows_ in said["samples"].items() for s in rows_]
    assert (got.n_items, got.expected) == (len(samples), len(samples))
    assert [(i["task_type"], i["score"], i["correct"]) for i in rows(got.items)] == [
        (task if name_of_filter == "none" else f"{task}/{name_of_filter}", score, score > 0)
        for task, _, name_of_filter, score in samples
    ]
    assert len({i["id"] for i in rows(got.items)}) == len(samples)
    assert rules(got) == ({"limited"} if name == "limited" else set())
    assert got.higher_is_better["tiny_choice/acc"] is True


def test_lm_eval_of_2024(tmp_path: Path) -> None:
    """Samples of lm_eval 0.4.4 do not name their filter: each is one item all the same, with its own score."""
    got, said = gather("lm_eval_0_4_4/full", tmp_path), told("lm_eval_0_4_4")["full"]
    items = rows(got.items)
    assert got.complete and len({i["id"] for i in items}) == len(items) == 36
    for name in ("first-word", "as-it-is"):
        scores = [i["score"] for i in items if i["id"].endswith(f"/{name}")]
        assert len(scores) == 12 and sum(scores) / 12 == said["results"]["tiny_gen"][f"exact_match,{name}"]


def test_lm_eval_interrupted(tmp_path: Path) -> None:
    """A harness that was killed while it wrote samples has a whole aggregate; the samples tell."""
    got = gather("lm_eval/interrupted", tmp_path)
    assert not got.complete and "samples_tiny_gen" in str(got.missing)
    assert "has 3 samples, 24 were evaluated" in str(got.missing)


def change_samples(tmp_path: Path, change: Any) -> str:
    work = tmp_path / "work"
    shutil.copytree(DATA / "lm_eval/full", work)
    change(next(work.rglob("samples_tiny_gen*")))
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert not got.complete
    return str(got.missing)


def test_lm_eval_samples_of_one_filter_alone(tmp_path: Path) -> None:
    """Samples cut where the second filter's begin are not all of them."""

    def cut(path: Path) -> None:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:12]))

    assert "has 12 samples, 24 were evaluated" in change_samples(tmp_path, cut)


def test_lm_eval_samples_written_twice(tmp_path: Path) -> None:
    """The harness appends: samples that are there twice are told."""
    said = change_samples(tmp_path, lambda p: p.write_bytes(p.read_bytes() * 2))
    assert "has 48 samples, 24 were evaluated" in said


def test_lm_eval_foreign_samples(tmp_path: Path) -> None:
    """Samples of another evaluation with as many rows do not fit the hash in the aggregate."""

    def swap(path: Path) -> None:
        lines = path.read_text().splitlines()
        row = json.loads(lines[3])
        lines[3] = json.dumps(row | {"prompt_hash": "0" * 64})
        path.write_text("\n".join(lines) + "\n")

    assert "does not hold the samples of this result" in change_samples(tmp_path, swap)


def test_lm_eval_without_a_tasks_samples(tmp_path: Path) -> None:
    """Samples that the harness hashed and could not write are missed."""
    assert change_samples(tmp_path, Path.unlink) == "there are no samples for tiny_gen"


def test_lm_eval_takes_the_samples_of_its_own_date(tmp_path: Path) -> None:
    """Beside the samples of another evaluation, a result under a name of one's own finds its own by their date."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "lm_eval/limited", work)
    for path in (DATA / "lm_eval/full/tiny__first").glob("samples_*"):
        shutil.copy(path, work)
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert (got.complete, got.n_items) == (True, 15)


# -- OpenCompass ------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["full", "plain"])
def test_opencompass(tmp_path: Path, name: str) -> None:
    """Each data set's value as the tool's own summary shows it, each prediction once, each verdict where it was kept."""
    got, said = gather(f"opencompass/{name}", tmp_path), told("opencompass")[name]["summary"]
    assert (got.complete, got.missing, got.model) == (True, None, "tiny-adder")
    shown = {f"{row['dataset']}/{row['metric']}": row["tiny-adder"] for row in said}
    assert {k: f"{v:.2f}" for k, v in got.metrics.items() if k != "accuracy"} == shown
    items = rows(got.items)
    counts = {"full": {"choice": 10, "more": 10, "sums": 30}, "plain": {"sums": 8, "sums_1": 6}}[name]
    assert {t: sum(i["task_type"] == t for i in items) for t in counts} == counts and len(items) == sum(counts.values())
    assert len({i["id"] for i in items}) == len(items)
    if name == "full":
        right = {t: 100 * sum(i["correct"] for i in items if i["task_type"] == t) / n for t, n in counts.items()}
        assert right == {"choice": 50.0, "more": 80.0, "sums": 80.0}
        assert [i["response"] == i["target"][0] for i in items if i["task_type"] == "sums"] == [
            i["correct"] for i in items if i["task_type"] == "sums"
        ]


def test_opencompass_killed_and_failed(tmp_path: Path) -> None:
    """A run that was killed has a file in progress; an evaluator's error is in a result of its own. The tool exits 0."""
    got = gather("opencompass/killed", tmp_path / "a")
    assert got.missing == "tmp_more.jsonl: still being written, or left by a killed run"
    got = gather("opencompass/failed", tmp_path / "b")
    assert got.missing == "sums has no result: predictions and references have different length"
    assert told("opencompass")["failed"]["exit_code"] == 0


@pytest.mark.parametrize(
    ("shard", "said"),
    [
        (0, "shard 0 of the predictions for sums is not there"),
        (1, "sums was judged on 30 predictions, 15 are there"),
    ],
)
def test_opencompass_lost_shard(tmp_path: Path, shard: int, said: str) -> None:
    """A shard that is gone is missed, be it the first or the last."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "opencompass/full", work)
    next(work.rglob(f"predictions/*/sums_{shard}.json")).unlink()
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert got.missing == said


def test_opencompass_name_like_a_shard_without_results(tmp_path: Path) -> None:
    """A data set whose name looks like another's shard is missed when it has no result, and lends that one no items."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "opencompass/plain", work)
    next(work.rglob("results/*/sums_1.json")).unlink()
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert got.missing == "there are predictions but no results for sums_1" and got.n_items == 8


# -- VLMEvalKit -------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["full", "tsv"])
def test_vlmevalkit(tmp_path: Path, name: str) -> None:
    """Every data set's scores as the tool's status tells them; each judged answer, failed calls among them."""
    got, said = gather(f"vlmevalkit/{name}", tmp_path), told("vlmevalkit")[name]["datasets"]["datasets"]
    assert (got.complete, got.missing, got.model) == (True, None, "tiny-vlm")
    wanted = {}
    for data, status in said.items():
        for key, value in status["metrics"].items():
            split, _, metric = key.removeprefix("split=").partition("|")
            wanted[f"{data}/{split}/{metric}"] = value
    assert {k: v for k, v in got.metrics.items() if k != "accuracy"} == wanted
    items = rows(got.items)
    assert len(items) == 24 * len(said) and len({i["id"] for i in items}) == len(items)
    assert sum("Failed to obtain answer" in i["response"] for i in items) == 3 * len(said)
    right = [i["correct"] for i in items if i["id"].startswith("tiny_mcq/")]
    assert sum(right) / 24 == said["tiny_mcq"]["metrics"]["split=dev|Overall"] == 0.875
    kinds = {f"{data}/{kind}" if name == "full" else kind for data in said for kind in ("count", "place")}
    assert {i["task_type"] for i in items} == kinds
    assert items[2]["response"] == "The answer is D." and items[2]["target"] == "D"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("killed", "tiny_two is not finished: the tool's status is 'infer'"),
        ("failed", "tiny_two has failed: the model has no answer"),
        ("json", "tiny_mcq has failed: 'list' object has no attribute 'sort_values'"),
    ],
)
def test_vlmevalkit_unfinished(tmp_path: Path, name: str, said: str) -> None:
    """A data set that the tool did not finish, or calls done with an error, makes the result no result."""
    assert gather(f"vlmevalkit/{name}", tmp_path).missing == said


@pytest.mark.parametrize("name", ["tsv", "full"])
def test_vlmevalkit_fewer_predictions_than_were_judged(tmp_path: Path, name: str) -> None:
    """Predictions that fit the judged table row by row, but for the last, are told; so is a data set that is gone."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "vlmevalkit" / name, work)
    if name == "tsv":
        path = next(work.rglob("tiny-vlm_tiny_mcq.tsv"))
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
        said = "tiny-vlm_tiny_mcq.tsv has 23 predictions, but 24 were judged"
    else:
        next(work.rglob("tiny-vlm_tiny_two.xlsx")).unlink()
        said = "tiny_two is said to be done, but its predictions are not there, or older than this run"
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert got.missing == said


def test_vlmevalkit_in_a_folder_by_time(tmp_path: Path) -> None:
    """The layout of VLMEvalKit's repository, laid by hand: files in `T<time>`, links to them in the model's folder, no status."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "vlmevalkit/full/tiny-vlm", work / "tiny-vlm" / "T20260102_G1234abcd")
    (work / "tiny-vlm" / "T20260102_G1234abcd" / "status.json").unlink()
    for path in (work / "tiny-vlm" / "T20260102_G1234abcd").iterdir():
        (work / "tiny-vlm" / path.name).symlink_to(path)
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    assert (got.complete, got.model, got.n_items) == (True, "tiny-vlm", 48)
    assert all("/T20260102_G1234abcd/" in s["path"] for s in got.sources)
    assert got.metrics["tiny_mcq/dev/Overall"] == 0.875 and "several_results" not in rules(got)


def test_vlmevalkit_data_sets_that_begin_alike(tmp_path: Path) -> None:
    """The judged table of a data set whose name goes on is not that of the shorter one."""
    work = tmp_path / "work"
    shutil.copytree(DATA / "vlmevalkit/full", work)
    folder = work / "tiny-vlm"
    (folder / "status.json").unlink()
    for path in folder.glob("tiny-vlm_tiny_two*"):
        path.rename(folder / path.name.replace("tiny_two", "tiny_mcq_a"))
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    right = {
        d: sum(i["correct"] for i in rows(got.items) if i["id"].startswith(f"{d}/")) for d in ("tiny_mcq", "tiny_mcq_a")
    }
    assert right == {"tiny_mcq": 21, "tiny_mcq_a": 0}


# -- TensorBoard ------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["restart", "purge", "mixed"])
def test_tensorboard(tmp_path: Path, name: str) -> None:
    """The last value of every tag is bit for bit what TensorBoard's own reader says; the folder below is not lost."""
    got, said = gather(f"tensorboard_torch/{name}", tmp_path), told("tensorboard_torch")[name]
    assert {tag: got.metrics[tag] for tag in said} == {tag: values[-1][1] for tag, values in said.items()}
    extra = {"h/hparam/acc": 0.5} if name == "mixed" else {}
    assert {k: v for k, v in got.metrics.items() if k not in said} == extra
    curve = rows(got.curve)
    for tag, values in said.items():
        assert [[r["step"], r[tag]] for r in curve if tag in r] == [list(v) for v in dict(values).items()]


def test_tensorboard_two_writers_at_once(tmp_path: Path) -> None:
    """A second file with other tags from step 0 on, as an evaluator writes beside a trainer, takes nothing away."""
    work = tmp_path / "work"
    work.mkdir()
    first = DATA / "tensorboard" / "events.out.tfevents.1795965096.vm"
    shutil.copy(first, work)
    shutil.copy(next((DATA / "tensorboard_torch/mixed/h").iterdir()), work / "events.out.tfevents.9.other")
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=tmp_path)
    alone = collect({}, work, work / "log", 0.0, work / first.name, record_dir=tmp_path / "b")
    assert math.isclose(got.metrics["train/loss"] or 0, 3.0 / 30, rel_tol=1e-6)
    assert got.metrics == alone.metrics and "hparam/acc" in got.metrics


def test_tensorboard_restart_by_its_session_log() -> None:
    """A writer that says from where it takes up replaces all from there on, though its own values come later."""
    path = sorted((DATA / "tensorboard_torch/purge").glob("*.vm"))[1]
    assert load(path).restart_at == 20
    first = File(Path("1"), began=1.0, series={"a": {s: s for s in range(30)}, "b": {25: 1}})
    second = File(Path("2"), began=2.0, series={"a": {22: 0.5}}, restart_at=20)
    assert merge([second, first]) == {"a": {s: s for s in range(20)} | {22: 0.5}}


# -- W&B --------------------------------------------------------------------------------
def flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, inner in value.items():
        out |= flat(inner, f"{prefix}{key}/") if isinstance(inner, dict) else {prefix + key: inner}
    return out


@pytest.mark.parametrize("name", ["full", "long"])
def test_wandb(tmp_path: Path, name: str) -> None:
    """Every number of the run's own summary, and every logged row; also where a text goes over the file's blocks."""
    got, said = gather(f"wandb_offline/{name}", tmp_path), told("wandb_offline")[name]["summary"]
    assert (got.complete, got.missing, got.model) == (True, None, "tiny-b")
    numbers = {k: v for k, v in flat(said).items() if not k.startswith("_") and not isinstance(v, str)}
    assert got.metrics == numbers and "nested/b/c" in numbers and numbers["eval/acc/max"] > 0.9
    curve = rows(got.curve)
    assert [r["step"] for r in curve] == [3 * i for i in range(40)]
    assert [r["loss"] for r in curve] == [2.0 / (i + 1) for i in range(40)]
    assert rules(got) == ({"not_finite"} if name == "full" else set())
    if name == "full":
        assert [r["odd"] for r in curve if "odd" in r] == [None] * 3 and numbers["odd"] is None
        assert got.extra["config"]["opt"] == {"name": "sgd", "lr": [0.1, 0.2]}


def test_wandb_failed_and_killed(tmp_path: Path) -> None:
    """An exit code other than 0, and no exit at all, are no result."""
    assert gather("wandb_offline/failed", tmp_path / "a").missing == "the run ended with exit code 3"
    got = gather("wandb_offline/killed", tmp_path / "b")
    assert "the run never said that it had finished" in str(got.missing) and 0 < len(rows(got.curve)) <= 31


# -- inspect_ai -------------------------------------------------------------------------
def inspect(tmp_path: Path, name: str) -> Collected:
    if name.endswith(".eval") and find_spec("zstandard") is None:
        pytest.skip("needs a Zstandard package")
    work = tmp_path / "work"
    work.mkdir(parents=True)
    shutil.copy(DATA / "inspect_ai" / name, work)
    return collect({}, work, work / "log.txt", 0.0, work / "none.json", record_dir=tmp_path / "records")


@pytest.mark.parametrize("name", ["plain.eval", "as_json.json", "several.eval", "limited.eval", "failing.eval"])
def test_inspect(tmp_path: Path, name: str) -> None:
    """Every metric of every scorer and every sample as `eval()` returned them, with a failed one and a limit told."""
    got, said = inspect(tmp_path, name), told("inspect_ai")[Path(name).stem]
    assert (got.complete, got.n_items, got.expected) == (True, said["total"], said["total"])
    one = len(said["scores"]) == 1
    wanted = {("" if one else f"{s['name']}/") + k: v for s in said["scores"] for k, v in s["metrics"].items()}
    assert {k: v for k, v in got.metrics.items() if k in wanted} == wanted
    items = rows(got.items)
    ids = [f"{i}#{epoch}" if epoch > 1 else i for i, epoch, _, _ in said["samples"]]
    assert sorted((i["id"], i["response"]) for i in items) == sorted(
        (i, text) for i, (_, _, text, _) in zip(ids, said["samples"], strict=True)
    )
    failed = [i for i in items if "null_reason" in i]
    assert len(failed) == said["total"] - said["completed"] == (name == "failing.eval")
    assert rules(got) == {
        "limited.eval": {"limited"},
        "as_json.json": {"limited"},
        "failing.eval": {"limited", "sample_errors"},
    }.get(name, set())
    if name == "several.eval":
        assert items[0]["scores"] == {"by_kind": 1.0, "aspects/length": 0.5, "aspects/letters": 0.5}


@pytest.mark.skipif(find_spec("zstandard") is None, reason="needs a Zstandard package")
def test_inspect_member_with_another_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample that unpacks to other bytes than were packed is told, not read."""
    unpack = inspect_log._unpack
    monkeypatch.setattr(inspect_log, "_unpack", lambda raw: unpack(raw).replace(b"Oslo", b"Bern"))
    got = inspect(tmp_path, "plain.eval")
    assert not got.complete and "the checksum of" in str(got.missing)


@pytest.mark.parametrize(("name", "why"), [("stopped", "status is 'error'"), ("killed", "has not finished")])
def test_inspect_unfinished(tmp_path: Path, name: str, why: str) -> None:
    """An evaluation that an error ended, or whose process is gone, is no result."""
    got = inspect(tmp_path, f"{name}.eval")
    assert not got.complete and why in str(got.missing)


# -- MLflow -----------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["first", "broken", "open"])
@pytest.mark.parametrize("store", ["mlflow", "mlflow_files"])
def test_mlflow(tmp_path: Path, store: str, name: str) -> None:
    """Metrics, history and state of each run as the client tells them; one that has not ended well is no result."""
    said = told(store)[name]
    got = gather(store, tmp_path, collect={"options": {"run_name": name}})
    assert {s["collector"] for s in got.sources} == {store}
    assert got.metrics == said["metrics"]
    history = {key: [[r["step"], r[key]] for r in rows(got.curve) if key in r] for key in said["metrics"]}
    assert history == said["history"]
    wanted = None if said["status"] == "FINISHED" else f"the MLflow run has the status {said['status']}"
    assert (got.complete, got.missing) == (wanted is None, wanted)


def test_mlflow_files_choose_the_run(tmp_path: Path) -> None:
    """Several runs of a store of files must be told apart; a run that is named by its description is that one."""
    assert "3 runs in mlruns began since this attempt did" in str(gather("mlflow_files", tmp_path / "a").missing)
    work = tmp_path / "b"
    shutil.copytree(DATA / "mlflow_files", work)
    path = next(p for p in work.rglob("meta.yaml") if "run_name: first" in p.read_text())
    got = collect({}, work, work / "log", 0.0, path, record_dir=tmp_path)
    assert got.complete and got.metrics == told("mlflow_files")["first"]["metrics"] and got.model == "svm"
    assert rules(got) == {"no_end_mark"}


@pytest.mark.parametrize("kept", [0, 10, 15, 17, 19])
def test_mlflow_files_cut_history(tmp_path: Path, kept: int) -> None:
    """A history that ends within a line, or holds none, makes the result no result."""
    work = tmp_path / "b"
    shutil.copytree(DATA / "mlflow_files", work)
    path = next(p.parent / "metrics/train/loss" for p in work.rglob("meta.yaml") if "run_name: first" in p.read_text())
    path.write_bytes(path.read_bytes()[:kept])
    got = collect({"collect": {"options": {"run_name": "first"}}}, work, work / "log", 0.0, work, record_dir=tmp_path)
    assert got.missing in (
        "the history of train/loss is not whole: line 1 is cut",
        "the history of train/loss is empty",
    )


def test_every_fixture_tells_its_versions() -> None:
    """Each folder that a script in `make/` wrote says by which versions, and stays small."""
    made = sorted(DATA.glob("*/expected.json"))
    assert len(made) == 11
    for path in made:
        assert json.loads(path.read_text())["versions"], path
        assert all(p.stat().st_size < 50_000 for p in path.parent.rglob("*") if p.is_file())
