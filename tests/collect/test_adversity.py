"""Every format against files that are not what they seem: cut, old, foreign, doubled, renamed, in company.

The files are those that the tools wrote (`data/`); only `per_item`, `jsonl`,
`jmespath` and `wandb_summary` are written here, in the documented form.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from runherd.collect import Collected, collect
from runherd.validate import validate

DATA = Path(__file__).parent / "data"
ZSTD = find_spec("zstandard") is not None
ITEMS = [{"id": f"q{i}", "response": "AB"[i % 2], "correct": i % 4 == 0, "model": "tiny"} for i in range(40)]
LATER_S = 90_000.0  #: more than a day after what a file says of its own time


@dataclass(frozen=True)
class Case:
    """One format: where its files are, or how they are written, and what the form cannot tell."""

    name: str
    source: str | Callable[[Path], None]
    spec: dict[str, Any] = field(default_factory=dict)
    has_time: bool = True  #: the content tells when it was written
    has_model: bool = True  #: the content tells of which model it is
    double: Callable[[Path], None] | None = None  #: how values come to be there twice

    def lay(self, work: Path) -> None:
        if callable(self.source):
            work.mkdir(parents=True)
            self.source(work)
        elif (DATA / self.source).is_dir():
            shutil.copytree(DATA / self.source, work)
        else:
            work.mkdir(parents=True)
            shutil.copy(DATA / self.source, work)


def write_per_item(work: Path) -> None:
    head = {"model": "tiny", "ended_at": "2026-01-02T03:04:05Z", "metrics": {"accuracy": 0.25}}
    (work / "result.json").write_text(json.dumps(head | {"per_item": ITEMS}))


def write_jsonl(work: Path) -> None:
    (work / "result.jsonl").write_text("".join(json.dumps(i) + "\n" for i in ITEMS))


def write_summary(work: Path) -> None:
    (work / "wandb-summary.json").write_text(
        '{"_wandb": {"runtime": 3}, "_step": 9, "_timestamp": 1795965000.5, "loss": 0.5, "acc": 0.75}'
    )


def write_plain(work: Path) -> None:
    (work / "final.json").write_text(json.dumps({"scores": {"acc": 0.5}, "rows": ITEMS}))


def one(work: Path, pattern: str) -> Path:
    """The first file of this name, the outermost folder first."""
    return min(work.rglob(pattern), key=lambda p: (len(p.parts), p))


def double_list(key: str, pattern: str) -> Callable[[Path], None]:
    """The items of a list in a JSON file are there twice."""

    def change(work: Path) -> None:
        path = one(work, pattern)
        data = json.loads(path.read_text())
        data[key] *= 2
        path.write_text(json.dumps(data))

    return change


def double_lines(pattern: str, header: int = 0) -> Callable[[Path], None]:
    """The lines of a file, but for its header, are appended to it again."""

    def change(work: Path) -> None:
        path = one(work, pattern)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines + lines[header:]))

    return change


def double_file(pattern: str) -> Callable[[Path], None]:
    """A file is appended to itself."""

    def change(work: Path) -> None:
        path = one(work, pattern)
        path.write_bytes(path.read_bytes() * 2)

    return change


def double_member(work: Path) -> None:
    """Samples are in the zip twice, under other names."""
    from runherd.collect.inspect_log import _member

    path = one(work, "*.eval")
    with zipfile.ZipFile(path) as archive:
        contents = {n: _member(archive, n) for n in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
            if name.startswith("samples/"):
                archive.writestr(f"samples/again_{Path(name).name}", content)


def double_shard(work: Path) -> None:
    shutil.copy(one(work, "predictions/*/sums_1.json"), one(work, "predictions/*/sums_1.json").with_name("sums_2.json"))


PLAIN = {"format": "jmespath", "metrics": {"acc": "scores.acc"}, "items": "rows"}
LOG = {"format": "stdout", "metrics": {"acc": r"acc = ([\d.]+)"}}
CASES = [
    Case("per_item", write_per_item, double=double_list("per_item", "result.json")),
    Case("jsonl", write_jsonl, {"expected": 40}, has_time=False, double=double_lines("result.jsonl")),
    Case("trainer_state", "trainer/resumed", has_time=False, has_model=False, double=double_file("trainer_state.json")),
    Case("lightning", "lightning/plain", has_time=False, double=double_lines("metrics.csv", 1)),
    Case("lm_eval", "lm_eval/full", double=double_lines("samples_tiny_gen*")),
    Case("inspect_eval", "inspect/eval.eval", double=double_member),
    Case("inspect_json", "inspect/capitals.json", double=double_list("samples", "capitals.json")),
    Case("opencompass", "opencompass/full", has_time=False, double=double_shard),
    Case("vlmevalkit", "vlmevalkit/full", double=double_file("*mcq.xlsx")),
    Case("vlmevalkit_tsv", "vlmevalkit/tsv", double=double_lines("*mcq.tsv", 1)),
    Case("wandb", "wandb/run-demo.wandb", double=double_file("*.wandb")),
    Case("wandb_summary", write_summary, has_model=False, double=double_file("*.json")),
    Case("tensorboard", "tensorboard_torch/restart", has_model=False, double=double_file("*.vm")),
    Case("mlflow", "mlflow/mlflow.db", {"collect": {"options": {"run_name": "first"}}}, double=double_file("*.db")),
    Case(
        "mlflow_files",
        "mlflow_files",
        {"collect": {"options": {"run_name": "first"}}},
        double=lambda w: double_lines(str(next(p for p in w.rglob("train/loss")).relative_to(w)))(w),
    ),
    Case("jmespath", write_plain, {"collect": PLAIN}, has_time=False, double=double_list("rows", "final.json")),
]
NAMES = [c.name for c in CASES]
BY_NAME = {c.name: c for c in CASES}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "läufe 'x'" / "work"


def take(case: Case, work: Path, not_before: float = 0.0, **spec: Any) -> Collected:
    everything = case.spec | spec
    return collect(everything, work, work / "log.txt", not_before, work / "none.json", record_dir=work.parent)


def laid(name: str, work: Path) -> Case:
    if name == "inspect_eval" and not ZSTD:
        pytest.skip("needs a Zstandard package")
    BY_NAME[name].lay(work)
    return BY_NAME[name]


def content(got: Collected) -> tuple[Any, ...]:
    return got.metrics, *(p.read_text() if p else None for p in (got.items, got.curve))


def sentences(got: Collected, level: tuple[str, ...] = ("WARN", "FAIL", "CRITICAL")) -> list[str]:
    return [f.message for f in got.findings if f.level in level] + ([got.missing] if got.missing else [])


@pytest.mark.parametrize("name", NAMES)
def test_whole(work: Path, name: str) -> None:
    """Untouched, each is found without being named, whole, and of the model that it says."""
    case = laid(name, work)
    got = take(case, work)
    assert (got.complete, got.missing) == (True, None)
    assert {s["collector"] for s in got.sources} == {name.removesuffix("_tsv")}
    assert (got.model is not None) == case.has_model or name == "jmespath"
    assert validate(got, case.spec).verdict in ("PASS", "NA", "WARN")


@pytest.mark.parametrize("name", NAMES)
def test_cut_at_every_tenth(work: Path, name: str) -> None:
    """Each file that a result is read from, cut at every tenth of its length, is refused or told of by its name."""
    case = laid(name, work)
    whole = take(case, work)
    told = 0
    for source in whole.sources:
        path = Path(source["path"])
        raw = path.read_bytes()
        for tenth in range(10):
            path.write_bytes(raw[: len(raw) * tenth // 10])
            got = take(case, work)
            said = sentences(got)
            assert said, (path.name, tenth, got.findings)
            assert not got.complete or "cut" in {f.rule for f in got.findings}, (path.name, tenth)
            told += any(path.name in s or path.stem in s for s in said)
        path.write_bytes(raw)
    assert told >= 0.4 * 10 * len(whole.sources), told  # a start alone can be in no form that is known
    assert take(case, work).complete


@pytest.mark.parametrize("name", ["lightning", "tensorboard", "jsonl"])
def test_cut_between_two_values_is_told(work: Path, name: str) -> None:
    """A form without an end says how far it reaches, and is refused where that is less than what was asked for."""
    case = laid(name, work)
    if name == "lightning":
        shutil.rmtree(one(work, "checkpoints"))
        path = one(work, "metrics.csv")
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:20]))
        reach, wanted = "it reaches step 33", {"collect": {"options": {"last_step": 63}}}
    elif name == "tensorboard":
        path = sorted(work.glob("*.vm"))[1]
        path.write_bytes(path.read_bytes()[: -3 * 48])
        path.write_bytes(path.read_bytes()[: last_record(path)])
        reach, wanted = "it reaches step 3", {"collect": {"options": {"last_step": 39}}}
    else:
        path = work / "result.jsonl"
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:30]))
        reach, wanted = "30 items are there", {"expected": 40}
    free = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=work.parent)
    [said] = [f.message for f in free.findings if f.rule == "no_end_mark"]
    assert path.name in said or name == "tensorboard"
    assert reach in said
    bound = take(case, work, **wanted)
    assert not bound.complete and ("ends at step" in str(bound.missing) or "30 of 40" in str(bound.missing))


def last_record(path: Path) -> int:
    """The length up to the end of the last whole record of an event file."""
    raw, at = path.read_bytes(), 0
    while at + 12 <= len(raw):
        end = at + 12 + int.from_bytes(raw[at : at + 8], "little") + 4
        if end > len(raw):
            break
        at = end
    return at


@pytest.mark.parametrize("name", NAMES)
def test_older_than_the_run(work: Path, name: str) -> None:
    """Files from before the run are refused in every form, by the file's own time."""
    case = laid(name, work)
    for path in work.rglob("*"):
        os.utime(path, (1000, 1000))
    got = take(case, work, not_before=2000.0)
    assert (
        not got.complete and got.metrics == {} and "is older than this run: it was written at 1970" in str(got.missing)
    )


@pytest.mark.parametrize("name", NAMES)
def test_touched_copy_of_an_earlier_run(work: Path, name: str) -> None:
    """A copy with a fresh time is refused where the content tells its own; the forms without one are known."""
    case = laid(name, work)
    began = 1795965000.0 + LATER_S + 20_000
    for path in work.rglob("*"):
        os.utime(path, (began + 10, began + 10))
    got = take(case, work, not_before=began)
    if case.has_time:
        assert not got.complete
        assert "is of an earlier run: it says that it was written at 2026-" in str(got.missing) or (
            name.startswith("mlflow") and "has no run with run_name 'first' that began since" in str(got.missing)
        )
    else:
        assert got.complete


@pytest.mark.parametrize("name", NAMES)
def test_parts_of_the_runs_own_earlier_attempt(work: Path, name: str) -> None:
    """What an earlier attempt of the same run wrote beside the result still belongs to it; the result itself must be new."""
    case = laid(name, work)
    whole = take(case, work)
    paths = [Path(s["path"]) for s in whole.sources]
    newest = paths[0] if name in ("lm_eval", "vlmevalkit", "vlmevalkit_tsv", "mlflow_files") else max(paths)
    for path in work.rglob("*"):
        os.utime(path, (5000, 5000))
    os.utime(newest, (9000, 9000))
    spec, place = case.spec, work / "none.json"
    got = collect(spec, work, work / "log.txt", 8000.0, place, record_dir=work.parent, run_began=4000.0)
    assert got.complete and content(got) == content(take(case, work))


@pytest.mark.parametrize("name", NAMES)
def test_of_another_model(work: Path, name: str) -> None:
    """A result of another model than the configured one is told; of its own, also by its short name, nothing is."""
    case = laid(name, work)
    got = take(case, work, model="org/some-other-model")
    told = [f.message for f in got.findings if f.rule == "other_model"]
    if not case.has_model:
        assert got.model is None and not told
        return
    assert len(told) == 1 and "asks for 'org/some-other-model'" in told[0] and str(got.model) in told[0]
    same = take(case, work, model=str(got.model).rpartition("/")[2])
    assert "other_model" not in {f.rule for f in same.findings}


@pytest.mark.parametrize("name", NAMES)
def test_doubled(work: Path, name: str) -> None:
    """Values that are there twice are refused, or told by the collector or the validation, or change nothing."""
    case = laid(name, work)
    before = take(case, work)
    harmless = content(before)
    known = {f.rule for f in validate(before, case.spec).findings}
    assert case.double is not None
    case.double(work)
    got = take(case, work)
    judged = validate(got, case.spec)
    new = {f.rule for f in judged.findings if f.level != "INFO"} - known
    assert not got.complete or new or content(got) == harmless
    if name in ("lightning", "tensorboard"):
        assert "repeated_steps" in new
    if name in ("per_item", "jsonl", "jmespath", "inspect_json", "inspect_eval"):
        assert "duplicates" in new and judged.blocks


RENAMED = {
    "per_item": "result.json",
    "jsonl": "result.jsonl",
    "trainer_state": "trainer_state.json",
    "lightning": "metrics.csv",
    "lm_eval": "results_*",
    "inspect_eval": "*.eval",
    "inspect_json": "*.json",
    "vlmevalkit": "*mcq.xlsx",
    "vlmevalkit_tsv": "*mcq.tsv",
    "wandb": "*.wandb",
    "wandb_summary": "*.json",
    "tensorboard": "*.vm",
    "mlflow": "*.db",
}


@pytest.mark.parametrize("name", sorted(RENAMED))
def test_renamed(work: Path, name: str) -> None:
    """Under a name that tells nothing, a file is still known by its content, named or only found."""
    case = laid(name, work)
    before = take(case, work)
    old = one(work, RENAMED[name])
    new = old.rename(old.with_name("output 1.dat"))
    for place in (new, work / "none.json"):
        got = collect(case.spec, work, work / "log.txt", 0.0, place, record_dir=work.parent)
        assert {s["collector"] for s in got.sources} == {name.removesuffix("_tsv")}, got.missing
        if name in ("lm_eval", "per_item", "inspect_eval", "inspect_json", "wandb", "mlflow", "jsonl", "lightning"):
            assert got.complete and got.metrics == before.metrics and got.n_items == before.n_items


PAIRS = [
    ("lm_eval", "tensorboard"),
    ("lm_eval", "per_item"),
    ("per_item", "trainer_state"),
    ("trainer_state", "tensorboard"),
    ("trainer_state", "wandb"),
    ("mlflow", "wandb"),
    ("wandb", "lightning"),
    ("lightning", "tensorboard"),
]


@pytest.mark.parametrize("newest", [0, 1])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_several_tools_in_one_folder(work: Path, first: str, second: str, newest: int) -> None:
    """Of several tools' results always the same one is taken, whichever is newer, and the others are named."""
    for name in (first, second):
        BY_NAME[name].lay(work / name)
    for path in (work / (first, second)[newest]).rglob("*"):
        os.utime(path, (9_000_000_000, 9_000_000_000))
    got = take(BY_NAME[first], work)
    assert {s["collector"] for s in got.sources} == {first}
    [said] = [f for f in got.findings if f.rule == "several_results"]
    assert f"({second})" in said.message and "collect.path" in said.message and said.level == "INFO"
    named = take(BY_NAME[first], work, collect={**BY_NAME[second].spec.get("collect", {}), "path": second})
    assert {s["collector"] for s in named.sources} == {second}
    assert "several_results" not in {f.rule for f in named.findings}


@pytest.mark.parametrize("name", NAMES)
def test_alone_names_no_others(work: Path, name: str) -> None:
    """A tool's own several files are one result, not several."""
    case = laid(name, work)
    assert "several_results" not in {f.rule for f in take(case, work).findings}


def test_two_evaluations_in_one_folder(work: Path) -> None:
    """A second evaluation by the same tool is named, not silently left out."""
    shutil.copytree(DATA / "lm_eval", work, ignore=shutil.ignore_patterns("expected.json"))
    got = collect({}, work, work / "log", 0.0, work / "none.json", record_dir=work.parent)
    [said] = [f for f in got.findings if f.rule == "several_results"]
    assert len(said.evidence["others"]) == 3


def test_asked_for_format_is_not_any_file(work: Path) -> None:
    """Where a format is asked for, the file in that format is taken, not the newest of the folder."""
    BY_NAME["lightning"].lay(work)
    (work / "zz.bin").write_bytes(b"\0" * 100)
    os.utime(work / "zz.bin", (9_000_000_000, 9_000_000_000))
    got = take(BY_NAME["lightning"], work, collect={"format": "lightning"})
    assert got.complete and got.sources[0]["path"].endswith("metrics.csv")


@pytest.mark.parametrize("kept", range(8, 24))
def test_log_cut_within_a_value(work: Path, kept: int) -> None:
    """A log that ends in the middle of a number never gives that number without saying so."""
    work.mkdir(parents=True)
    log = work / "log.txt"
    log.write_text("step 1\nacc = 0.5\nacc = 0.75\n"[:kept])
    case = Case("stdout", "", {"collect": LOG})
    got = take(case, work)
    assert got.metrics.get("acc") in (None, 0.5) or "log.txt ends within the value of acc" in " ".join(sentences(got))


def edit(pattern: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    """A JSON file (or the first line of one of JSON Lines) with another content."""

    def apply(work: Path) -> None:
        path = one(work, pattern)
        lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        data = json.loads(lines[0])
        change(data)
        path.write_text("\n".join([json.dumps(data), *lines[1:]]) + "\n")

    return apply


def flip(pattern: str, at: float) -> Callable[[Path], None]:
    """One byte of a file is another, at a share of its length."""

    def apply(work: Path) -> None:
        path = one(work, pattern)
        raw = bytearray(path.read_bytes())
        raw[int(len(raw) * at)] ^= 0xFF
        path.write_bytes(bytes(raw))

    return apply


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("lm_eval", edit("results_*", lambda d: d["results"].update(tiny_gen="lost"))),
        ("lm_eval", edit("results_*", lambda d: d.update({"n-samples": [1]}))),
        (
            "lm_eval",
            edit("samples_tiny_gen*", lambda d: d.update(metrics=True, exact_match=None) or d.pop("exact_match")),
        ),
        ("inspect_json", edit("capitals.json", lambda d: d.update(eval=["lost"]))),
        ("inspect_json", edit("capitals.json", lambda d: d["samples"][2].update(output="lost"))),
        ("inspect_eval", flip("*.eval", 0.6)),
        ("vlmevalkit", flip("*mcq.xlsx", 0.987)),
        ("tensorboard", flip("*.vm", 0.5)),
        ("wandb", flip("*.wandb", 0.5)),
        ("mlflow", flip("*.db", 0.9)),
        ("trainer_state", edit("trainer_state.json", lambda d: d.update(stateful_callbacks=["lost"], max_steps=80))),
    ],
)
def test_damaged(work: Path, name: str, damage: Callable[[Path], None]) -> None:
    """What a tool cannot have written is refused or told in a sentence; it never ends the program."""
    case = laid(name, work)
    damage(work)
    got = take(case, work)
    assert not got.complete or "cut" in {f.rule for f in got.findings}
    assert sentences(got)


def test_broken_reader_of_another_package(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that another package brings and that raises is told with its name and the file's, not as a traceback."""
    from runherd.collect import formats

    BY_NAME["per_item"].lay(work)
    monkeypatch.setitem(formats.BUILT_IN, "theirs", lambda *_: 1 / 0)
    got = take(BY_NAME["per_item"], work, collect={"format": "theirs"})
    assert got.missing == "result.json is not well-formed theirs: ZeroDivisionError: division by zero"


def test_file_that_cannot_be_read(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of files that nobody named, one that is not to be read, or is gone since, does not hide the others; a named one is told."""
    from runherd.collect import search

    BY_NAME["per_item"].lay(work)
    (work / "newer.json").write_text("{}")
    know = search.know

    def denied(path: Path) -> str | None:
        if path.name == "newer.json":
            raise PermissionError(13, "Permission denied")
        return know(path)

    monkeypatch.setattr(search, "know", denied)
    assert take(BY_NAME["per_item"], work).complete
    got = collect({}, work, work / "log", 0.0, work / "newer.json", record_dir=work.parent)
    assert got.missing == "newer.json cannot be read: Permission denied"
