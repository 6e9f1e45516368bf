"""Header roles: aliases in three languages, ranking among several candidates, and the user's own."""

from __future__ import annotations

import pytest

from runherd.tracker import parse
from runherd.tracker.columns import column_names, roles


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("| Run ID | Milestone | Purpose | System / Variant | Split | Metrics | Priority | Status | Notes |",
         "id stage purpose system split metric priority status notes"),
        ("| **Exp ID** | Phase | Goal | Method | Dataset | Key metric | Prio | State | Remarks |",
         "id stage purpose system dataset metric priority status notes"),
        ("| 编号 | 里程碑 | 目的 | 方法 | 数据集 | 指标 | 优先级 | 状态 | 备注 |",
         "id stage purpose system dataset metric priority status notes"),
        ("| ID da Rodada | Marco | Objetivo | Variante | Dados | Métricas | Prioridade | Situação | Notas |",
         "id stage purpose system dataset metric priority status notes"),
        ("| # | Run ID | Status (2026) | Result |", "- id status result"),
        ("| Eval ID | Config | Command | Seed | Depends on | GPU-h | Result |",
        "id config command seed needs cost result"),
        ("| Run ID | S1 status | Run status | Notes / Results |", "id - status notes"),
        ("| Run ID | Weird | Status | Status |", "id - status -"),
    ],
)  # fmt: skip
def test_roles(header: str, wanted: str) -> None:
    """Each header has its role, or none ("-")."""
    cells = header.strip("|").split("|")
    found = {
        index: role for role, index in roles(cells).items() if role != "split" or "Split" in cells[index]
    }
    assert [found.get(index, "-") for index in range(len(cells))] == wanted.split()


def test_a_dataset_is_the_split_where_no_split_is() -> None:
    """`split` is always there for the reader, the split column itself wins."""
    assert roles(["Run ID", "Dataset", "Status"])["split"] == 1
    assert roles(["Run ID", "Dataset", "Split", "Status"])["split"] == 2


def test_aliases_of_the_project_win() -> None:
    """A header that the project names has the role that it says, also for a known word."""
    data = "| Kürzel | Zustand | Status |\n|---|---|---|\n| A1 | läuft | TODO |\n".encode()
    row = parse(data, aliases={"kürzel": "id", "Zustand": "notes", "Status": "status"}).rows[0]
    assert (row.id, row.cells["notes"], row.status.value) == ("A1", "läuft", "TODO")
    assert parse(data, aliases={"Status": "notes", "Zustand": "status"}).rows[0].status.value == "UNKNOWN"


def test_names_are_unique() -> None:
    """Repeated and empty headers get names of their own."""
    assert column_names([" Notes ", "**Notes**", ""]) == ["Notes", "Notes (2)", "column 3"]
