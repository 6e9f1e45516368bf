"""A scaffolded criteria file loads as it is, and keeps what the plan says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from runherd.gates.criteria import load_criteria, parse_criteria
from runherd.gates.scaffold import Milestone, read_milestones, scaffold_criteria

PLAN = """
## Run Order and Milestones
| Milestone | Goal | Runs | Decision Gate | Cost |
|---|---|---|---|---|
| **M0** | Sanity | R001 | Loss decreases, no NaN | 1 h |
| M1: baselines | Baselines | R002 | match published ± σ | 2 h |
| M2 | Main | R003-R008 | claim holds | 9 h |
| M4 | Rest | all | all MUST-RUN done | |

Prose | with a pipe.
"""
STAGES = {"M0": ["R001"], "M1": ["R002"], "M2": ["R003", "R006"], "M4": [], "M3 / B1": ["7"]}


def test_the_milestones_of_a_plan_are_read() -> None:
    """Stage and gate by header, bold marks and titles taken off."""
    found = read_milestones(PLAN)
    assert [m.stage for m in found] == ["M0", "M1", "M2", "M4"]
    assert found[1].gate == "match published ± σ"


def test_the_scaffold_loads_and_asks_for_thresholds(tmp_path: Path) -> None:
    """What needs no threshold is live; what does is a comment with the plan's own words above."""
    text = scaffold_criteria(STAGES, read_milestones(PLAN))
    path = tmp_path / "verdict-criteria.md"
    path.write_text(text, encoding="utf-8")
    criteria = load_criteria(path)
    assert [e.kind for e in criteria.stages["M0"]] == ["loss_decreases", "all_done"]
    assert [e.kind for e in criteria.stages["M2"]] == ["all_done"]
    assert set(criteria.stages) == set(STAGES)
    assert "# M1: match published ± σ" in text and "# - {name: main claim, kind: claim_holds" in text


def test_without_stages_it_still_loads() -> None:
    """An empty tracker is no error."""
    assert parse_criteria(scaffold_criteria({}), Path("c.md")).stages == {}


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=12), st.lists(st.text(min_size=1, max_size=12), max_size=3), max_size=4
    ),
    st.text(max_size=30),
)
def test_any_names_make_a_file_that_loads(stages: dict[str, list[str]], gate: str) -> None:
    """Ids are quoted where YAML would read them otherwise."""
    names = {*stages, *(run for runs in stages.values() for run in runs)}
    assume(all(name.isprintable() for name in names))
    milestones = [Milestone(stage, gate) for stage in stages]
    found = parse_criteria(scaffold_criteria(stages, milestones), Path("c.md"))
    assert set(found.stages) == set(stages)


@pytest.mark.parametrize("word", ["no", "007", "1.5", "null", "a: b", "- x", "#1", "~"])
def test_ids_that_yaml_would_turn_into_something_else(word: str) -> None:
    """They stay text."""
    text = scaffold_criteria({word: [word]}, [Milestone(word, "loss decreases")])
    found = parse_criteria(text, Path("c.md"))
    assert found.stages[word][0].runs == (word,)  # type: ignore[attr-defined]
