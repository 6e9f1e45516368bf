"""Collectors for other tools' files: value for value what the tool reported, and every cut one told.

`data/wandb`, `data/tensorboard` and `data/inspect` were written by the tools
themselves (wandb 0.31, tensorboardX 2.6, inspect_ai 0.3.285 with its mock
model; `killed.eval` by a run that died), `data/mlflow` by mlflow 3.17. The
others are written here in the tools' form, as older versions had it too; for
files of the tools themselves see `test_real_files.py`.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from runherd.collect import Collected, collect, formats
from runherd.errors import UserError

DATA = Path(__file__).parent / "data"
ZSTD = find_spec("zstandard") is not None


def gather(path: Path, *, not_before: float = 0.0, log: Path | None = None, **spec: Any) -> Collected:
    records = path.parent.parent / "records"
    return collect(spec, path.parent, log or path.parent / "log.txt", not_before, path, record_dir=records)


def rows(path: Path | None) -> list[dict[str, Any]]:
    return [] if path is None else [json.loads(line) for line in path.read_text().splitlines()]


# -- one writer per format: writes into a folder, returns the file to name -----------
def per_item(folder: Path) -> Path:
    path = folder / "result.json"
    items = [{"id": f"q{i}", "response": "A", "correct": i % 2 == 0} for i in range(40)]
    path.write_text(json.dumps({"metrics": {"accuracy": 0.5}, "per_item": items}))
    return path


def jsonl(folder: Path) -> Path:
    path = folder / "result.jsonl"
    path.write_text("".join(json.dumps({"id": i, "response": "A", "correct": True}) + "\n" for i in range(40)))
    return path


def trainer_state(folder: Path) -> Path:
    for step in (50, 100):
        history = [{"step": s, "epoch": s / 100, "loss": 2.0 / s} for s in range(10, step + 1, 10)]
        place = folder / f"checkpoint-{step}"
        place.mkdir()
        state = {"best_metric": 0.9, "best_model_checkpoint": "out/checkpoint-50", "global_step": step}
        state |= {"log_history": [*history, {"step": step, "eval_loss": 0.5}], "max_steps": 100}
        (place / "trainer_state.json").write_text(json.dumps(state))
    return folder / "checkpoint-100" / "trainer_state.json"


def lightning(folder: Path) -> Path:
    path = folder / "metrics.csv"
    lines = ["epoch,step,train_loss,val_acc"]
    for step in range(0, 400, 10):
        lines.append(f"{step // 100},{step},{2.0 / (step + 1)},")
        if step % 100 == 90:
            lines.append(f"{step // 100},{step},,{step / 400}")
    path.write_text("\n".join(lines) + "\n")
    return path


def lm_eval(folder: Path) -> Path:
    date = "2026-01-02T03-04-05.678901"
    results = {"tiny": {"alias": "tiny", "acc,none": 0.75, "acc_stderr,none": 0.1, "acc_norm,none": 0.5}}
    results["gsm"] = {"alias": "gsm", "exact_match,strict-match": 0.25, "exact_match,flexible-extract": 0.5}
    data = {
        "results": results,
        "groups": {},
        "higher_is_better": {"tiny": {"acc": True, "acc_norm": True}, "gsm": {"exact_match": True}},
        "n-samples": {"tiny": {"original": 100, "effective": 20}, "gsm": {"original": 4, "effective": 4}},
        "config": {"model": "hf", "model_args": "pretrained=org/m", "limit": 20.0},
        "model_name": "org/m",
    }
    path = folder / f"results_{date}.json"
    path.write_text(json.dumps(data, indent=2))
    with (folder / f"samples_tiny_{date}.jsonl").open("w") as f:
        for i in range(20):
            row = {"doc_id": i, "target": "A", "resps": [["A"]], "filtered_resps": ["A"], "filter": "none"}
            f.write(json.dumps(row | {"metrics": ["acc"], "acc": float(i % 4 != 0), "acc_norm": 0.5}) + "\n")
    with (folder / f"samples_gsm_{date}.jsonl").open("w") as f:
        for name in ("strict-match", "flexible-extract"):
            for i in range(4):
                row = {"doc_id": i, "filtered_resps": [str(i)], "filter": name, "metrics": ["exact_match"]}
                f.write(json.dumps(row | {"exact_match": float(i == 0)}) + "\n")
    return path


def inspect_eval(folder: Path) -> Path:
    return Path(shutil.copy(DATA / "inspect" / "eval.eval", folder))


def inspect_json(folder: Path) -> Path:
    return Path(shutil.copy(DATA / "inspect" / "capitals.json", folder))


def opencompass(folder: Path) -> Path:
    results, predictions = folder / "results" / "tiny-model", folder / "predictions" / "tiny-model"
    results.mkdir(parents=True)
    predictions.mkdir(parents=True)
    details = {str(i): {"correct": i % 2 == 0} for i in range(40)}
    (results / "siqa.json").write_text(json.dumps({"accuracy": 50.0, "details": details}))
    for shard in (0, 1):
        table = {str(i): {"origin_prompt": "?", "prediction": "A", "gold": "A"} for i in range(20)}
        (predictions / f"siqa_{shard}.json").write_text(json.dumps(table))
    return results / "siqa.json"


def vlmevalkit(folder: Path) -> Path:
    path = folder / "model_MMTest.tsv"
    lines = ["index\tquestion\tanswer\tprediction\thit"]
    lines += [
        f"{i}\t{'q' * 30}\tA\t{'A' if i else 'Failed to obtain answer via API.'}\t{int(i > 9)}" for i in range(40)
    ]
    path.write_text("\n".join(lines) + "\n")
    (folder / "model_MMTest_acc.csv").write_text('"split","Overall","OCR"\n"dev","0.75","0.5"\n')
    return path


def wandb(folder: Path) -> Path:
    return Path(shutil.copy(DATA / "wandb" / "run-demo.wandb", folder))


def tensorboard(folder: Path) -> Path:
    for name in sorted(p.name for p in (DATA / "tensorboard").iterdir()):
        shutil.copy(DATA / "tensorboard" / name, folder)
    return folder / name


def mlflow(folder: Path) -> Path:
    path = Path(shutil.copy(DATA / "mlflow" / "mlflow.db", folder))
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE runs SET lifecycle_stage = 'deleted' WHERE name IN ('broken', 'open')")
        db.commit()
    return path


WRITERS = [
    per_item,
    jsonl,
    trainer_state,
    lightning,
    lm_eval,
    inspect_eval,
    inspect_json,
    opencompass,
    vlmevalkit,
]
WRITERS += [wandb, tensorboard, mlflow]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "läufe 'x'" / "work"
    place.mkdir(parents=True)
    return place


def skip_without_zstd(writer: Callable[[Path], Path]) -> None:
    if writer is inspect_eval and not ZSTD:
        pytest.skip("needs a Zstandard package")


@pytest.mark.parametrize("writer", WRITERS)
def test_known_by_content(folder: Path, writer: Callable[[Path], Path]) -> None:
    """Each format is found in a folder without being named, and is whole."""
    skip_without_zstd(writer)
    writer(folder)
    records = folder.parent
    got = collect({}, folder, folder / "log", 0.0, folder / "result-that-is-not-there.json", record_dir=records)
    assert got.sources and got.sources[0]["collector"] == writer.__name__
    assert (got.complete, got.missing) == (True, None)


@pytest.mark.parametrize("tenth", range(1, 10))
@pytest.mark.parametrize("writer", WRITERS)
def test_cut_files_are_told(folder: Path, writer: Callable[[Path], Path], tenth: int) -> None:
    """A file that is cut at any tenth of its length is refused or flagged, never taken as it is."""
    skip_without_zstd(writer)
    whole = writer(folder)
    complete = gather(whole, expected=None)
    raw = whole.read_bytes()
    whole.write_bytes(raw[: len(raw) * tenth // 10])
    got = gather(whole, expected=complete.n_items)
    told = {f.rule for f in got.findings} & {"cut", "bad_lines", "no_exit"}
    assert not got.complete or told, got
    if not got.complete:
        assert got.missing and len(got.missing) > 10


@pytest.mark.parametrize("writer", WRITERS)
def test_older_files_are_refused(folder: Path, writer: Callable[[Path], Path]) -> None:
    """Files from before the attempt are refused in every format."""
    whole = writer(folder)
    for path in folder.rglob("*"):
        os.utime(path, (1000, 1000))
    got = gather(whole, not_before=2000.0)
    assert not got.complete and "older than this run" in str(got.missing)


def test_trainer_state_values(folder: Path) -> None:
    """The newest checkpoint counts; its history is the curve, its best is the checkpoint."""
    trainer_state(folder)
    got = gather(folder / "checkpoint-50" / "trainer_state.json")
    assert got.metrics == {"loss": 0.02, "eval_loss": 0.5, "best_metric": 0.9, "global_step": 100}
    assert got.checkpoint == str(folder / "checkpoint-50")  # found again beside the state
    assert [r["step"] for r in rows(got.curve) if "loss" in r] == list(range(10, 101, 10))


def test_trainer_state_unfinished(folder: Path) -> None:
    """A state before its last step is not a result."""
    trainer_state(folder)
    shutil.rmtree(folder / "checkpoint-100")
    got = gather(folder / "checkpoint-50" / "trainer_state.json")
    assert "stands at step 50 of 100" in str(got.missing)


def test_trainer_state_nan(folder: Path) -> None:
    """Bare NaN tokens survive as null with a finding."""
    path = folder / "trainer_state.json"
    path.write_text('{"log_history": [{"step": 1, "loss": NaN}], "global_step": 1, "max_steps": 1}')
    got = gather(path)
    assert got.metrics["loss"] is None and got.findings[0].rule == "not_finite"
    assert rows(got.curve) == [{"step": 1, "loss": None}]


def test_lightning_values(folder: Path) -> None:
    """The last value of each column counts, empty cells do not."""
    got = gather(lightning(folder))
    assert got.metrics == {"train_loss": 2.0 / 391, "val_acc": 390 / 400}
    assert len(rows(got.curve)) == 44


def test_lm_eval_values(folder: Path) -> None:
    """Metrics keep task, metric and filter; samples are items, one a document and filter."""
    got = gather(lm_eval(folder))
    assert got.metrics == {
        "tiny/acc": 0.75,
        "tiny/acc_norm": 0.5,
        "gsm/exact_match/strict-match": 0.25,
        "gsm/exact_match/flexible-extract": 0.5,
    }
    assert (got.n_items, got.expected, got.model) == (28, 28, "org/m")
    assert got.extra["stderr"] == {"tiny/acc_stderr": 0.1}
    assert got.higher_is_better["gsm/exact_match/strict-match"] is True
    assert [f.rule for f in got.findings] == ["limited"]
    items = rows(got.items)
    assert len({i["id"] for i in items}) == 28 and sum(i["correct"] for i in items if i["task_type"] == "tiny") == 15


def test_lm_eval_samples_cut(folder: Path) -> None:
    """Samples of which the last line is cut make the result incomplete."""
    path = lm_eval(folder)
    samples = next(folder.glob("samples_tiny*"))
    samples.write_bytes(samples.read_bytes()[:-20])
    assert "line 20 is cut" in str(gather(path).missing)


def inspect(name: str, folder: Path) -> Collected:
    return gather(Path(shutil.copy(DATA / "inspect" / name, folder)))


def test_inspect_values(folder: Path) -> None:
    """Accuracy, standard error, model and each sample, as the tool itself reported them."""
    got = inspect("capitals.json", folder)
    assert got.metrics == {"accuracy": 4 / 6, "stderr": 0.210818510677892}
    assert (got.n_items, got.expected, got.model) == (6, 6, "mockllm/model")
    assert [(i["id"], i["response"], i["correct"]) for i in rows(got.items)] == [
        ("q0", "Paris", True),
        ("q1", "Rome", True),
        ("q2", "Berlin", True),
        ("q3", "Madrid wrong", False),
        ("q4", "Oslo", True),
        ("q5", "Bern", False),
    ]


@pytest.mark.skipif(not ZSTD, reason="needs a Zstandard package")
def test_inspect_zip_values(folder: Path) -> None:
    """The zip form says the same; failed samples, epochs, an error and a killed run are each told."""
    assert inspect("eval.eval", folder).metrics == {"accuracy": 4 / 6, "stderr": 0.210818510677892}
    partial = inspect("partial.eval", folder)
    assert partial.metrics["accuracy"] == 0.6 and [f.rule for f in partial.findings] == ["sample_errors"]
    failed = [i for i in rows(partial.items) if i["response"] is None]
    assert [i["id"] for i in failed] == ["q3"] and "broken sample" in failed[0]["null_reason"]
    epochs = inspect("epochs.eval", folder)
    assert epochs.metrics == {
        "includes/accuracy": 0.5,
        "includes/stderr": 0.0,
        "match/accuracy": 0.5,
        "match/stderr": 0.0,
    }
    assert len({i["id"] for i in rows(epochs.items)}) == 6
    assert "status is 'error'" in str(inspect("err.eval", folder).missing)
    killed = inspect("killed.eval", folder)
    assert "has not finished" in str(killed.missing) and (killed.n_items, killed.expected) == (4, 6)


def test_inspect_zip_without_zstd(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no Zstandard package can be imported the message says what to install."""
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install zstandard" in str(inspect("eval.eval", folder).missing)


def test_opencompass_values(folder: Path) -> None:
    """Metrics per data set; the shards' numbers go on; details say what was right."""
    got = gather(opencompass(folder))
    assert got.metrics == {"siqa/accuracy": 50.0}
    items = rows(got.items)
    assert [i["id"] for i in items] == [f"siqa/{i}" for i in range(40)]
    assert [i["correct"] for i in items] == [i % 2 == 0 for i in range(40)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: (f / "predictions/tiny-model/tmp_boolq.jsonl").write_text(""), "still being written"),
        (lambda f: (f / "predictions/tiny-model/boolq.json").write_text("{}"), "no results for boolq"),
        (
            lambda f: (f / "results/tiny-model/siqa.json").write_text('{"error": "no match"}'),
            "siqa has no result",
        ),
    ],
)
def test_opencompass_unfinished(folder: Path, change: Callable[[Path], Any], said: str) -> None:
    """Unfinished predictions, predictions without results and an error are no result."""
    path = opencompass(folder)
    change(folder)
    assert said in str(gather(path).missing)


def test_vlmevalkit_values(folder: Path) -> None:
    """Predictions are items, the score file gives the metrics."""
    got = gather(vlmevalkit(folder))
    assert got.metrics == {"dev/Overall": 0.75, "dev/OCR": 0.5, "accuracy": 0.75}
    assert rows(got.items)[0] == {
        "id": "0",
        "response": "Failed to obtain answer via API.",
        "correct": False,
        "target": "A",
    }


def test_vlmevalkit_xlsx(folder: Path) -> None:
    """A workbook is read with shared strings, numbers and empty cells."""
    path = folder / "m_MMTest.xlsx"
    ns = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    strings = "".join(f"<si><t>{t}</t></si>" for t in ("index", "prediction", "hit", "Ä &amp; B"))
    cells = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
        '<c r="C1" t="s"><v>2</v></c></row>'
        '<row r="2"><c r="A2"><v>7</v></c><c r="B2" t="s"><v>3</v></c><c r="C2"><v>1</v></c></row>'
        '<row r="3"><c r="A3"><v>8</v></c><c r="C3"><v>0</v></c></row>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/sharedStrings.xml", f"<sst {ns}>{strings}</sst>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet {ns}><sheetData>{cells}</sheetData></worksheet>")
    got = gather(path)
    assert [(i["id"], i["response"], i["correct"]) for i in rows(got.items)] == [
        ("7", "Ä & B", True),
        ("8", None, False),
    ]


def test_wandb_values(folder: Path) -> None:
    """History, summary and configuration of an offline run, as it logged them; NaN is null."""
    got = gather(wandb(folder))
    assert got.metrics == {
        "train/loss": 0.05,
        "train/lr": 0.1,
        "eval/acc": 0.975,
        "odd": None,
        "best/acc": 0.975,
    }
    curve = rows(got.curve)
    assert len(curve) == 40
    assert curve[3] == {"step": 3, "train/loss": 0.5, "train/lr": 0.1, "eval/acc": 0.075, "loss": 0.5}
    assert curve[7]["odd"] is None
    assert got.model == "tiny-a" and got.extra["config"]["opt"] == {"name": "sgd"}


@pytest.mark.parametrize("size", [7900, 8000])
def test_wandb_killed(folder: Path, size: int) -> None:
    """What a killed writer left is read up to its last whole record, and both signs are told."""
    path = wandb(folder)
    path.write_bytes(path.read_bytes()[:size])
    got = gather(path)
    assert {f.rule for f in got.findings} >= {"cut", "no_exit"}
    assert 0 < len(rows(got.curve)) < 40


def test_wandb_summary(folder: Path) -> None:
    """Only W&B's own keys in a summary means that nothing was logged."""
    path = folder / "wandb-summary.json"
    path.write_text('{"_wandb": {"runtime": 3}}')
    assert "nothing was logged" in str(gather(path).missing)
    path.write_text('{"_wandb": {"runtime": 3}, "_step": 9, "loss": 0.5}')
    assert gather(path).metrics == {"loss": 0.5}


def test_tensorboard_values(folder: Path) -> None:
    """A restart that went back to step 20 replaces what the first file says from there on."""
    got = gather(tensorboard(folder))
    curve = {r["step"]: r for r in rows(got.curve)}
    assert sorted(curve) == list(range(50))
    assert math.isclose(curve[19]["train/loss"], 3.0 / 20, rel_tol=1e-7)
    assert math.isclose(curve[20]["train/loss"], 1.0 / 21, rel_tol=1e-7)
    assert math.isclose(got.metrics["train/loss"] or 0, 1.0 / 50, rel_tol=1e-7)
    assert math.isclose(got.metrics["eval/acc"] or 0, 19 / 30, rel_tol=1e-7)


def test_mlflow_values(folder: Path) -> None:
    """Metrics, curve and state as the tool reported them; a run that failed, and a NaN, are told."""
    path = Path(shutil.copy(DATA / "mlflow" / "mlflow.db", folder))
    got = gather(path, collect={"options": {"run_name": "first"}}, model="svm")
    assert (got.complete, got.metrics) == (True, {"accuracy": 0.9, "train/loss": 0.2})
    assert [(r["step"], r["loss"]) for r in rows(got.curve) if "loss" in r] == [(i, 1 / i) for i in range(1, 6)]
    assert (got.model, got.findings) == ("svm", [])
    failed = gather(path, collect={"options": {"run_name": "broken", "experiment": "digits"}})
    assert (failed.complete, failed.missing) == (False, "the MLflow run has the status FAILED")
    assert failed.metrics == {"accuracy": 0.1, "loss": None} and "not_finite" in {f.rule for f in failed.findings}


def test_mlflow_never_guesses_the_run(folder: Path) -> None:
    """Several runs of the attempt's time must be told apart by name; older runs of the same store are not ours."""
    path = Path(shutil.copy(DATA / "mlflow" / "mlflow.db", folder))
    assert "3 runs in mlflow.db began since this attempt did (first, broken, open)" in str(gather(path).missing)
    got = gather(path, collect={"options": {"run_name": "nobody"}})
    assert got.missing == "mlflow.db has no run with run_name 'nobody' that began since this attempt did"
    os.utime(path, (2e9, 2e9))
    assert "has no run that began since" in str(gather(path, not_before=1.9e9).missing)


def test_declared_jmespath(folder: Path) -> None:
    """Declared expressions read any JSON; one that finds no number makes it incomplete."""
    path = folder / "odd.json"
    path.write_text('{"a": {"b": [1, 2.5]}, "rows": [{"qid": 1, "pred": "A", "correct": 1}]}')
    settings = {"format": "jmespath", "metrics": {"x": "a.b[1]"}, "items": "rows"}
    got = gather(path, collect=settings)
    assert got.metrics["x"] == 2.5 and rows(got.items)[0]["id"] == 1
    lost = gather(path, collect={**settings, "metrics": {"y": "a.c"}})
    assert "no number at y (a.c)" in str(lost.missing)
    with pytest.raises(UserError, match="not a JMESPath expression"):
        gather(path, collect={**settings, "metrics": {"y": "a.[["}})


def test_declared_stdout(folder: Path) -> None:
    """Declared regular expressions read the log; the last match counts unless said otherwise."""
    log = folder / "log.txt"
    log.write_text("acc = 0.5\nacc = 0.75 \nloss: nan\n")
    settings = {"format": "stdout", "metrics": {"acc": r"acc = ([\d.]+)", "loss": r"loss: (\S+)"}}
    got = gather(folder / "none.json", log=log, collect=settings)
    assert got.metrics == {"acc": 0.75, "loss": None} and got.findings[0].rule == "not_finite"
    got = gather(folder / "none.json", log=log, collect={**settings, "take": "first"})
    assert got.metrics["acc"] == 0.5
    lost = gather(folder / "none.json", log=log, collect={**settings, "metrics": {"f1": r"f1 (\d)"}})
    assert "no match for f1" in str(lost.missing)
    with pytest.raises(UserError, match="has no group"):
        gather(folder / "none.json", log=log, collect={**settings, "metrics": {"f1": r"f1"}})


def test_configuration_is_no_result(folder: Path) -> None:
    """A program's own settings in the folder are not taken for its result."""
    (folder / "hparams.json").write_text('{"lr": 0.1, "batch": 8}')
    got = collect({}, folder, folder / "log", 0.0, folder / "result.json", record_dir=folder.parent)
    assert not got.complete and got.metrics == {}


def test_a_named_folder_without_a_result_is_not_left(folder: Path) -> None:
    """`collect.path` names a folder: what lies outside of it is not taken instead of it."""
    (folder / "own").mkdir()
    (folder / "ok.json").write_text('{"metrics": {"accuracy": 0.5}}')
    got = collect({"collect": {"path": "own"}}, folder, folder / "log.txt", 0.0, folder / "result.json")
    assert got.missing is not None and "own holds no file that could be a result" in got.missing
    assert collect({}, folder, folder / "log.txt", 0.0, folder / "result.json").metrics == {"accuracy": 0.5}


def test_every_reader_is_there() -> None:
    """Each name that `collect.format` may have leads to a function."""
    assert all(callable(formats.reader(name)) for name in formats.names())
