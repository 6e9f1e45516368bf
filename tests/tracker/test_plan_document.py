"""Plans: milestones from tables and headings, quoted gates, costs, needs, and clear comparators only."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runherd.errors import UserError
from runherd.tracker.comparators import comparators, gpu_hours
from runherd.tracker.plan_document import named_runs, parse_plan, read_plan

PLAN = """# Plan

### Block 1: main claim
- **Claim tested**: C1
- **Success criterion**:
  - acc >= 0.8
  - curves look stable
- Priority: MUST-RUN

## Run Order and Milestones
| Milestone | Goal | Runs | Decision Gate | Cost | Risk |
|---|---|---|---|---|---|
| **M0 Sanity** | loss falls | R001-R003, R010 | loss < 0.5 | ~2 GPU-h | none |
| M1 | main table | E02–E04 | Only if M0 passes; beats the baseline by 2 pp | 10–20 GPU-h | high |

### M2: Warmup of the agents
**Priority**: MUST-RUN | **GPU-hours**: ~8 (2h × 4 GPUs)
- Decision gate: after M1, all adapters saved

- Total: ~128 GPU-hours
"""


def test_milestones() -> None:
    """Milestones of tables and headings are read; only the clear gate is a criterion."""
    plan = parse_plan(PLAN.encode())
    m0, m1, m2 = plan.milestones
    assert (m0.name, m0.title, m0.goal, m0.risk, m0.line) == ("M0", "Sanity", "loss falls", "none", 13)
    assert m0.runs == ("R001", "R002", "R003", "R010")
    assert [(c.metric, c.operator, c.value) for c in m0.criteria] == [("loss", "<", 0.5)]
    assert m0.gpu_hours == 2 and m0.needs == ()
    assert m1.runs == ("E02", "E03", "E04") and m1.criteria == () and m1.needs == ("M0",)
    assert m1.gate == "Only if M0 passes; beats the baseline by 2 pp" and m1.gpu_hours == 20
    assert (m2.name, m2.title, m2.gpu_hours, m2.needs) == ("M2", "Warmup of the agents", 8, ("M1",))
    assert plan.milestone("M1 — pilot") is m1 and plan.milestone("M9") is None


def test_blocks_and_budget() -> None:
    """A block's sub-bullets are one text; the total is found."""
    plan = parse_plan(PLAN.encode())
    block = plan.blocks[0]
    assert block.title == "Block 1: main claim"
    assert block.fields["success criterion"] == "acc >= 0.8; curves look stable"
    assert [(c.metric, c.value) for c in block.criteria] == [("acc", 0.8)]
    assert plan.budget_gpu_hours == 128


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("acc ≥ 0.85", [("acc", ">=", 0.85, "")]),
        ("accuracy at least 80% on dev", [("accuracy", ">=", 80, "%")]),
        ("val_acc > 0.9; runtime < 10 s", [("val_acc", ">", 0.9, ""), ("runtime", "<", 10, "s")]),
        ("loss < 1.0 and no NaN", [("loss", "<", 1, "")]),
        ("准确率不低于 0.9", [("准确率", ">=", 0.9, "")]),
        ("the final accuracy is above 0.7", [("final accuracy", ">", 0.7, "")]),
        ("AP50 ≤ -0.5", [("AP50", "<=", -0.5, "")]),
        ("loss not below 0.9", []), ("acc ~0.8", []), ("acc ≥ 0.8 or f1 ≥ 0.7", []),
        ("beats baseline by 2 pp", []),
        ("≥ 3/4 cells", []), ("AP50 >= 0.4 on all 3 seeds", []), ("Δ > 0.5", []),
        ("all systems run", []), ("", []),
        ("acc ≥ 0.8, gain > 2", []), ("PPL ≤ 11.3 (within error)", []), ("acc ≥ 0.85 if M1 held", []),
    ],
)  # fmt: skip
def test_only_clear_comparators(text: str, wanted: list[tuple[str, str, float, str]]) -> None:
    """A difference, an alternative, a rough number or a ratio is left to a person."""
    assert [(c.metric, c.operator, c.value, c.unit) for c in comparators(text)] == wanted


@pytest.mark.parametrize(
    ("text", "header", "hours"),
    [
        ("~12 GPU-h", "", 12), ("10–20 GPU-hours", "", 20), ("1.5k GPUh", "", 1500), ("800 A800 GPUh",
        "", 800),
        ("76h", "Cost", None), ("8 h", "GPU", 8), ("~24 (6h × 4 GPUs)", "GPU-hours", 24), ("0.5 day",
        "", None),
        ("low", "GPU-h", None), ("2 卡时", "", 2), ("12,5 GPU-h", "", 12.5), ("1,200 GPU-h", "", 1200),
    ],
)  # fmt: skip
def test_gpu_hours(text: str, header: str, hours: float | None) -> None:
    """GPU hours are read where the text or the column says so, never from plain hours."""
    assert gpu_hours(text, header) == hours


def test_named_runs() -> None:
    """Ids, ranges and repeats in prose."""
    assert named_runs("R1, R3-R5 and R1 again; B2.1 at 80% of GPU1") == (
        "R1",
        "R3",
        "R4",
        "R5",
        "B2.1",
        "GPU1",
    )


@given(
    st.one_of(
        st.binary(max_size=200), st.text(alphabet="#|-*: M1R2>=<0.5\n后gGPUh", max_size=200).map(str.encode)
    )
)
@settings(deadline=None)
def test_any_bytes_are_a_plan(data: bytes) -> None:
    """Reading never raises."""
    parse_plan(data)


def test_missing_plan(tmp_path: Path) -> None:
    """A missing file is a user's mistake."""
    with pytest.raises(UserError):
        read_plan(tmp_path / "no plan.md")
