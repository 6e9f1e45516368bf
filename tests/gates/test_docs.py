"""The examples of docs/gates.md are read by the program that they explain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runherd.gates.criteria import KINDS, parse_criteria

DOCS = Path(__file__).resolve().parents[2] / "docs" / "gates.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_example_loads(block: str) -> None:
    """A block of bare criteria is put under a stage."""
    whole = (
        block if "stages:" in block else "stages:\n  M2:\n" + re.sub("^", "    ", block, flags=re.MULTILINE)
    )
    assert parse_criteria(whole, Path("criteria.yaml")).stages


def test_every_kind_is_explained() -> None:
    """One heading a kind."""
    headings = re.findall(r"^### (\w+)$", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings == list(KINDS)
