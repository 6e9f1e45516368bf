"""The report's files: what they say, what they escape, and when they are left alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from invented_records import NOW, Project

from runherd import files, report

LATER = "2031-05-04T11:30:00Z"
VOID = {"meta", "br", "link", "hr", "img", "input"}


def built(project: Project, now: str = NOW) -> tuple[str, str]:
    report.build(project.layout, project.rows, now)
    folder = project.layout.report_dir()
    return (folder / "index.html").read_text(encoding="utf-8"), (folder / "report.md").read_text(
        encoding="utf-8"
    )


class Tree(HTMLParser):
    """Collects tags, attributes and text, and insists that elements are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    def values(self, name: str) -> list[str]:
        return [value or "" for key, value in self.attributes if key == name]


def test_page_shows_status_result_validation_attempts_cost_and_gates(project: Project) -> None:
    """Every run with its facts, every gate with its sentence, the diagnosis with file and line."""
    html, _ = built(project)
    words = " ".join(Tree(html).words.split())
    for run_id in (row["id"] for row in project.rows):
        assert run_id in words
    assert "accuracy 0.9360" in words
    assert "1 h 02 min" in words
    assert "? gate INCONCLUSIVE" in words
    assert "gain +0.0310 (95 % interval −0.002 to +0.064): not significant" in words
    assert "KeyError: 'width' at examples/model.py:61" in words
    assert "2.4 % of the calls were answered 429" in words
    assert "消融实验：没有隐藏层" in words


def test_page_needs_no_network_and_no_script(project: Project) -> None:
    """Nothing is loaded from anywhere, and no script is in the page."""
    html, _ = built(project)
    tree = Tree(html)
    assert not {"script", "link", "img", "iframe"} & set(tree.tags)
    assert tree.values("src") == []
    assert "@import" not in html
    assert "url(" not in html


def test_links_within_the_page_have_targets_and_ids_are_unique(project: Project) -> None:
    """Each `#…` link leads to an element, also for runs whose ids differ only in odd letters."""
    for odd in ("R 10", "R-10", "R/10"):
        project.row(odd, "M 2/β", "TODO")
    tree = Tree(built(project)[0])
    ids = tree.values("id")
    assert len(ids) == len(set(ids))
    targets = {href[1:] for href in tree.values("href") if href.startswith("#")}
    assert targets
    assert targets <= set(ids)


EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> & `x` | **b** [l](javascript:alert(3))"


def evil(project: Project) -> None:
    """Put hostile text into every place that the report shows."""
    project.row(EVIL, EVIL, "BLOCKED", purpose=EVIL, system=EVIL, notes=EVIL, priority=EVIL, reason=EVIL)
    project.record(
        EVIL, "result", status="blocked", metrics={EVIL: 1.5}, wandb_url="javascript:alert(4)", seed=EVIL
    )
    project.record(EVIL, "validation", verdict=EVIL, findings=[{"level": EVIL, "message": EVIL}])
    project.record(
        EVIL,
        "diagnosis",
        summary=EVIL,
        evidence=[{"file": EVIL, "line": 1, "text": EVIL}],
        exception={"type": EVIL, "message": EVIL},
        suggestion=EVIL,
        checks=[{"check": EVIL, "answer": EVIL}],
    )
    check = {
        "name": EVIL,
        "kind": EVIL,
        "verdict": "FAIL",
        "sentence": EVIL,
        "action": EVIL,
        "notes": [EVIL],
        "evidence": [{"path": EVIL, "sha256": EVIL}],
        "interval": {EVIL: {"low": 0, "high": 1}},
        "numbers": {EVIL: {"gain": 0.5}},
    }
    project.gate(EVIL, "FAIL", [check], override={"reason": EVIL})
    files.write_atomic(
        project.layout.run_dir(EVIL) / "curve.jsonl", '{"step":1,"loss":2}\n{"step":2,"loss":1}\n'
    )


def test_hostile_text_stays_text_in_the_page(project: Project) -> None:
    """A run id, note, stage, metric or log line with markup adds no element and no attribute."""
    plain_tags = set(Tree(built(project)[0]).tags)
    evil(project)
    tree = Tree(built(project)[0])
    assert set(tree.tags) <= plain_tags
    assert not any(name.startswith("on") for name, _ in tree.attributes)
    assert not any(href.startswith("javascript") for href in tree.values("href"))
    assert "<script>alert(1)</script>" in tree.words


def test_hostile_text_stays_in_its_cell_in_the_markdown(project: Project) -> None:
    """No HTML, no link and no extra cell come out of a note in report.md."""
    evil(project)
    _, markdown = built(project)
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"\\`", "", markdown))
    body = outside_code.split("-->", 1)[1]
    assert "<" not in body
    assert "](" not in body.replace("\\]", "")
    row = next(
        line for line in markdown.splitlines() if line.startswith("| &lt;script") and "blocked" in line
    )
    assert len(re.findall(r"(?<!\\)\|", row)) == 12


def test_second_build_changes_no_byte_and_says_so(project: Project) -> None:
    """Built again with the same records, at any later time, nothing is written."""
    project.rows = [row for row in project.rows if row["status"] != "RUNNING"]
    assert {p.name for p in report.build(project.layout, project.rows, NOW)} == {"index.html", "report.md"}
    folder = project.layout.report_dir()
    before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns, p.stat().st_ino) for p in folder.iterdir()}
    assert report.build(project.layout, project.rows, LATER) == []
    after = {p.name: (p.read_bytes(), p.stat().st_mtime_ns, p.stat().st_ino) for p in folder.iterdir()}
    assert after == before


def test_a_changed_record_is_written_with_the_new_time(project: Project) -> None:
    """A new result appears, and the page then shows when it was written."""
    built(project)
    project.record("R002", "result", status="done", metrics={"accuracy": 0.5123})
    html, markdown = built(project, LATER)
    assert "0.5123" in html
    assert "0.5123" in markdown
    assert "as of 2031-05-04 11:30 UTC" in html


def test_a_damaged_page_is_written_anew(project: Project) -> None:
    """A page cut short by somebody is not taken for the current one."""
    whole, _ = built(project)
    page = project.layout.report_dir() / "index.html"
    page.write_bytes(page.read_bytes()[:-200])
    assert report.build(project.layout, project.rows, NOW) == [page]
    assert page.read_text(encoding="utf-8") == whole


def test_without_any_record_or_row_there_is_a_page(tmp_path: Path) -> None:
    """An empty project gets a page that says what to do."""
    html, _ = built(Project(tmp_path))
    assert "The tracker has no rows" in html
    Tree(html)


ODD_FILES = [
    b"",
    b"\xff\xfe\x00",
    b"[]",
    b"null",
    b"17",
    b'{"status": "done"',
    b"[" * 5000,
    b'{"metrics": "many"}',
]


@pytest.mark.parametrize("content", ODD_FILES, ids=lambda c: repr(c[:12]))
def test_unreadable_records_leave_gaps(project: Project, content: bytes) -> None:
    """Whatever lies where a record should be, the page is built and the other runs are there."""
    for kind in ("result", "validation", "cost", "diagnosis"):
        files.write_atomic(project.layout.record("R002", kind), content)
    files.write_atomic(project.layout.run_dir("R002") / "curve.jsonl", content)
    files.write_atomic(project.layout.gate_verdict("M1"), content)
    html, _ = built(project)
    Tree(html)
    assert "accuracy <b>0.9690" in html


def test_a_folder_in_place_of_a_record_leaves_a_gap(project: Project) -> None:
    """A directory named result.json or curve.jsonl does not stop the report."""
    for name in ("result.json", "curve.jsonl"):
        path = project.layout.run_dir("R002") / name
        path.unlink()
        path.mkdir()
    Tree(built(project)[0])


NUMBERS = st.integers() | st.floats(allow_nan=True, allow_infinity=True)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def records(*keys: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={key: VALUES for key in keys})


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    row=records("stage", "status", "state", "priority", "purpose", "system", "notes", "reason", "negative"),
    result=records(
        "status", "metrics", "n_items", "expected", "attempts", "findings", "git", "wandb_url", "seed"
    ),
    validation=records("verdict", "findings"),
    cost=records("status", "wall_clock_seconds", "gpu_hours", "attempts", "started_at"),
    diagnosis=records("class", "summary", "exception", "evidence", "checks", "first_cause", "confidence"),
    gate=records("sentence", "judged_at", "criteria", "override"),
    check=records(
        "name", "kind", "verdict", "sentence", "numbers", "interval", "notes", "evidence", "action"
    ),
    points=st.lists(st.fixed_dictionaries({"step": VALUES, "loss": VALUES}), max_size=5),
)
def test_no_content_of_records_can_stop_the_report(
    tmp_path_factory: pytest.TempPathFactory,
    row: dict[str, Any],
    result: dict[str, Any],
    validation: dict[str, Any],
    cost: dict[str, Any],
    diagnosis: dict[str, Any],
    gate: dict[str, Any],
    check: dict[str, Any],
    points: list[dict[str, Any]],
) -> None:
    """Any JSON value in any field of any record gives a page that is whole."""
    layout = files.Layout(tmp_path_factory.mktemp("odd"))
    kinds = {"result": result, "validation": validation, "cost": cost, "diagnosis": diagnosis}
    for kind, fields in kinds.items():
        files.write_atomic(layout.record("R1", kind), json.dumps(fields))
    lines = "".join(json.dumps(point) + "\n" for point in points)
    files.write_atomic(layout.run_dir("R1") / "curve.jsonl", lines)
    files.write_atomic(
        layout.gate_verdict("M1"), json.dumps({**gate, "verdict": "FAIL", "checks": [check, gate]})
    )
    rows = [{**row, "id": "R1", "stage": "M1"}, {**row, "id": "R2"}]
    report.build(layout, rows, NOW)
    Tree((layout.report_dir() / "index.html").read_text(encoding="utf-8"))
    report.runs_table(layout, rows, width=80)


def test_importing_the_report_loads_only_the_standard_library() -> None:
    """`runherd status` can use the tables without paying for jinja2 or pandas."""
    code = (
        "import sys; before = set(sys.modules); import runherd.report; "
        "print(sorted({m.split('.')[0] for m in set(sys.modules) - before} - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['runherd']"
