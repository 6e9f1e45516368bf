"""What status and priority cells mean: rows of a table, and the rule for doubtful ones."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runherd.tracker import Priority, Status
from runherd.tracker.vocabulary import parse_priority, parse_status

STATUSES: dict[str, list[str]] = {
    "TODO": [
        "TODO", "**todo**", "`TODO`", "To-Do", "TODO (seed 2)", "TODO — use the new split",
        "Not started", "NOT_STARTED",
        "not yet run", "NOT RUN", "PENDING", "PLANNED", "READY", "READY_TO_RUN", "QUEUED", "[ ]", "⬜",
        "⬜ Todo",
        "⏳ pending", "待运行", "未开始", "待跑", "Pendente", "não iniciado", "TODO 0/3", "*TODO*",
    ],
    "RUNNING": [
        "RUNNING", "running on gpu 3", "IN_PROGRESS", "In progress (85/140)", "🔄", "🏃 Running", "[~]",
        "进行中", "短训练中",
        "运行中（第二轮）", "Em andamento", "executando", "QUEUED job 4711", "SUBMITTED", "WIP", "training",
    ],
    "DONE": [
        "DONE", "Done.", "✅", "✔️", "✅ Done", "DONE ✓✓", "**DONE**", "COMPLETE",
        "Completed (2026-03-04)", "PASS",
        "PASSED", "DONE 6/6", "DONE — beats it on 3/5 sets", "DONE; no failures", "DONE (0 FAIL)",
        "COMPLETE_CPU",
        "[x]", "[✓] ok", "已完成", "完成（见备注）", "Concluído",
        "COMPLETE / READY-THRESHOLD FAMILY CLOSED", "~~TODO~~ **DONE**",
        "[DONE](out/r1.json)", "finished",
    ],
    "BLOCKED": [
        "BLOCKED", "BLOCKED until I001–I010 PASS", "blocked by R003", "BLOCKED_ON_R004", "🚫",
        "⛔ blocked", "LOCKED",
        "ON HOLD", "WAITING", "DEFERRED_UNTIL_D24", "TODO (after R003)", "TODO, only if R002 passes",
        "PENDING R003",
        "NOT_RUN_R002_FAIL", "NOT RUN (gate failed)", "PLANNED_GATED", "待运行，等 R003", "阻塞", "暂缓",
        "Bloqueado",
    ],
    "FAILED": ["FAILED", "failed (OOM)", "❌", "❌ crashed", "[✗]", "ERROR", "TIMEOUT", "失败",
    "运行中断", "Falhou", "HUNG ✗", "AUDIT-FAIL-UNRESOLVED"],
    "SKIPPED": ["SKIP", "skipped", "~~TODO~~", "~~R5 todo~~", "<del>TODO</del>", "CANCELLED", "N/A",
    "DROPPED", "已取消",
                "跳过", "Cancelado", "CANCELLED_BY_GATE", "not needed"],
    "UNKNOWN": [
        "", "-", "—", "?", "TBD", "whatever", "Donezo", "TODOX", "DONE?", "TODO?", "DONE 4/6",
        "DONE (4/6)", "4/6 DONE",
        "DONE 66%", "85%", "PARTIAL", "partially done", "DONE (partial)", "DONE, rerun needed",
        "COMPLETE_PENDING_REVIEW",
        "TODO / RUNNING / DONE", "TODO → DONE", "PASS/FAIL", "TODO ✅", "TODO [x]", "[x] TODO",
        "TODO — done on host b",
        "READY for review", "UNBLOCKED", "未完成", "部分完成", "⏳", "🟢", "✅ / ❌", "SUCCESS RATE 0.4",
        "Incomplete",
        "5 COMPLETE / 7 PLANNED",  "完成度 40%", "TODO_XYZ",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("raw", "wanted"), [(raw, key) for key, raws in STATUSES.items() for raw in raws])
def test_status(raw: str, wanted: str) -> None:
    """Each spelling has its normal form."""
    assert parse_status(raw).status is Status[wanted]


@pytest.mark.parametrize(
    ("raw", "negative"),
    [
        ("DONE — lost ❌", True), ("DONE ✗", True), ("DONE_NEGATIVE", True), ("PASS (gate FAILED)", True),
        ("DONE — not significant", True), ("已完成，未过门槛", True), ("COMPLETE / NO_GO", True),
        ("DONE; claim refuted", True),
        ("DONE", False), ("DONE (0 FAIL)", False), ("DONE, no failures", False),
        ("Done (negative control)", False),
        ("DONE ✅ without errors", False),
    ],
)  # fmt: skip
def test_done_but_negative(raw: str, negative: bool) -> None:
    """A run that ended with a negative outcome is done, and known as negative."""
    reading = parse_status(raw)
    assert (reading.status, reading.negative) == (Status.DONE, negative)


@pytest.mark.parametrize(
    ("raw", "partial"),
    [
        ("DONE 4/6", (4, 6)), ("DONE (6/6)", (6, 6)), ("RUNNING 85/140", (85, 140)), ("60%", (60, 100)),
        ("DONE 2026/03/04", None), ("DONE (acc 85%)", None), ("DONE — 3/5 wins", (3, 5)),
        ("TODO 0/3", (0, 3)),
    ],
)  # fmt: skip
def test_counts(raw: str, partial: tuple[int, int] | None) -> None:
    """A count right behind the word is read; dates, scores and counts in prose are not."""
    assert parse_status(raw).partial == partial


PIECES = [
    "TODO",
    "DONE",
    "BLOCKED",
    "FAIL",
    "not",
    "run",
    "4/6",
    "❌",
    "✅",
    "~~",
    "**",
    "?",
    "_",
    " ",
    "until",
    "R1",
    "完成",
    "待",
]


@example("TODO TODODONE")
@example("TODO~~DONE~~")
@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
def test_nothing_contradictory_is_launched(raw: str) -> None:
    """Whatever holds a word against starting, and not struck out, is not TODO; a short count is not DONE."""
    reading = parse_status(raw)
    if reading.status is Status.TODO:
        left = re.sub(r"~~.+?~~", " ", raw)
        assert not any(word in left for word in ("DONE", "BLOCKED", "FAIL", "until", "❌", "✅", "?", "完成"))
    if reading.status is Status.DONE:
        assert reading.partial is None or reading.partial[0] == reading.partial[1]


@given(st.text(max_size=60))
def test_any_text_has_a_reading(raw: str) -> None:
    """No text makes it raise, and blanks around it change nothing."""
    assert parse_status(raw.strip()) == parse_status(f"  {raw.strip()}  ")
    assert isinstance(parse_priority(raw), Priority)


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        ("MUST", "MUST"), ("**MUST-RUN**", "MUST"), ("必须", "MUST"), ("OBRIGATÓRIO", "MUST"), ("P0",
        "MUST"), ("", "MUST"),
        ("—", "MUST"), ("HIGH", "HIGH"), ("P1", "HIGH"), ("SHOULD", "SHOULD"), ("medium", "SHOULD"),
        ("NICE", "NICE"),
        ("nice-to-have", "NICE"), ("optional", "NICE"), ("可选", "NICE"), ("CONDITIONAL", "CONDITIONAL"),
        ("MUST-GATED", "CONDITIONAL"), ("MUST if R3 passes", "CONDITIONAL"), ("USER-AUTHORIZED", "UNKNOWN"),
    ],
)  # fmt: skip
def test_priority(raw: str, wanted: str) -> None:
    """Each spelling has its normal form; a condition makes it wait for a person."""
    assert parse_priority(raw) is Priority[wanted]
