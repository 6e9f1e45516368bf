"""The criteria file: what is accepted, and errors that say where."""

from __future__ import annotations

from pathlib import Path

import pytest

from runherd.errors import UserError
from runherd.gates import load_criteria

from .project import Project

GOOD = """
alpha: 0.01
higher_is_better: {loss: false}
stages:
  M0: [{name: loss falls, kind: loss_decreases, runs: [R001]}]
  M1: [{kind: match_published, runs: R002, metric: accuracy, value: 0.969, std: 0.01, k: 1, source: paper}]
  M2:
    - {name: wins, kind: claim_holds, method: [R006], baseline: [R003], metric: accuracy, margin: 0.01}
  M3: [{kind: ablation_gap, full: [R006], ablations: {no-x: [R009]}, metric: accuracy}]
  M4: [{kind: all_done}]
"""


def test_every_kind_of_the_example_is_read(project: Project) -> None:
    """Kinds, settings, and one id where a list is expected."""
    criteria = load_criteria(project.criteria(GOOD))
    assert [e.kind for some in criteria.stages.values() for e in some] == [
        "loss_decreases",
        "match_published",
        "claim_holds",
        "ablation_gap",
        "all_done",
    ]
    assert criteria.stages["M1"][0].runs == ("R002",)  # type: ignore[attr-defined]
    assert (criteria.alpha, criteria.higher_is_better) == (0.01, {"loss": False})
    assert criteria.sha256 and len(criteria.sha256) == 64
    assert criteria.lines["M1", 0] == 8


def claim(text: str) -> str:
    return "stages:\n  M2:\n    - kind: claim_holds\n      metric: accuracy\n" + text


BAD = {
    "unknown key": (
        claim("      method: [a]\n      baseline: [b]\n      margn: 0.1\n"),
        10,
        "did you mean `margin`",
    ),
    "unknown kind": ("stages:\n  M2:\n    - kind: claim_hold\n", 6, "did you mean `claim_holds`"),
    "no kind": ("stages:\n  M2:\n    - metric: accuracy\n", 6, "no known `kind`"),
    "run on both sides": (claim("      method: [a, b]\n      baseline: [b]\n"), 6, "b stands on both sides"),
    "run twice": (claim("      method: [a, a]\n      baseline: [b]\n"), 6, "a is listed twice"),
    "missing side": (claim("      method: [a]\n"), 6, "baseline"),
    "empty side": (claim("      method: []\n      baseline: [b]\n"), 8, "method"),
    "margin below 0": (claim("      method: [a]\n      baseline: [b]\n      margin: -1\n"), 10, "-1"),
    "margin as text": (claim('      method: [a]\n      baseline: [b]\n      margin: "1"\n'), 10, "number"),
    "margin infinite": (claim("      method: [a]\n      baseline: [b]\n      margin: .inf\n"), 10, "finite"),
    "alpha of 1": ("alpha: 1\nstages: {}\n", 4, "alpha"),
    "id as number": (claim("      method: [7]\n      baseline: [b]\n"), 8, 'write "7" in quotes'),
    "key twice": ("stages: {}\nalpha: 0.05\nalpha: 0.5\n", 6, "twice (first in line 5)"),
    "broken": ("stages: [\n", 5, "not valid YAML"),
    "no mapping": ("- a\n", 4, "not a mapping"),
    "two of a name": (
        "stages:\n  M4: [{kind: all_done}, {kind: all_done}]\n",
        4,
        "two criteria named all_done",
    ),
    "neither std nor tolerance": (
        "stages:\n  M1:\n    - {kind: match_published, runs: a, metric: m, value: 1, source: s}\n",
        6,
        "`std`",
    ),
    "no noise floor": (
        "stages:\n  E1:\n    - {kind: baseline_verdict, study: s, baseline: [a, b], runs: c, metric: m}\n",
        6,
        "`noise_floor`",
    ),
    "expression outside the language": (
        'stages:\n  M2:\n    - {kind: custom, expression: "open(1)"}\n',
        6,
        "only these functions",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_say_file_line_and_what_to_do(project: Project, name: str) -> None:
    """The line counts from the top of the Markdown file."""
    text, line, words = BAD[name]
    path = project.criteria("x")
    path.write_text(f"# What we accept\n\n```yaml\n{text}```\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_criteria(path)
    shown = str(caught.value)
    assert f"verdict-criteria.md:{line}:" in shown, shown
    assert words in shown, shown
    assert caught.value.exit_code == 2


def test_all_problems_come_at_once(project: Project) -> None:
    """Three mistakes in two criteria are three problems."""
    text = claim("      method: [7]\n      baseline: [b]\n      margin: -1\n    - kind: all_don\n")
    with pytest.raises(UserError) as caught:
        load_criteria(project.criteria(text))
    assert len(caught.value.problems) == 3


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "verdict-criteria.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_exactly_one_block_is_wanted(tmp_path: Path) -> None:
    """None, two, or one without an end: each its own words; blocks of another language do not count."""
    for text, words in [
        ("only prose", "no fenced yaml block"),
        ("```yaml\nstages: {}\n```\n~~~yml\nstages: {}\n~~~\n", "2 fenced yaml blocks (lines 1, 4)"),
        ("```yaml\nstages: {}\n", "never ends"),
    ]:
        with pytest.raises(UserError, match=words.replace("(", r"\(").replace(")", r"\)")):
            load_criteria(write(tmp_path, text))
    mixed = "```text\n```yaml\n```\n````yaml\nstages: {}\n````\n"
    assert load_criteria(write(tmp_path, mixed)).stages == {}


def test_a_missing_or_unreadable_file_is_the_users_to_mend(tmp_path: Path) -> None:
    """No traceback for a wrong path or a wrong encoding."""
    with pytest.raises(UserError, match="is missing"):
        load_criteria(tmp_path / "nowhere.md")
    path = tmp_path / "latin.md"
    path.write_bytes("Größe".encode("latin-1"))
    with pytest.raises(UserError, match="cannot be read"):
        load_criteria(path)


def test_a_yaml_file_is_taken_whole(tmp_path: Path) -> None:
    """Criteria may also stand in a file of their own."""
    path = tmp_path / "criteria.yaml"
    path.write_text("stages: {M4: [{kind: all_done}]}\n", encoding="utf-8")
    assert list(load_criteria(path).stages) == ["M4"]


def test_an_alias_bomb_is_read_in_no_time(tmp_path: Path) -> None:
    """Aliases share their nodes: nine levels of nine are eighty-one, not nine to the ninth."""
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    path = tmp_path / "criteria.yaml"
    path.write_text("\n".join(lines) + "\nstages: {}\n", encoding="utf-8")
    with pytest.raises(UserError, match="unknown key"):
        load_criteria(path)
