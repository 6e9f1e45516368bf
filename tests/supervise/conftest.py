"""Live projects for the tests of supervision; whatever a test leaves alive in them is ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "flow"), str(TESTS / "supervise")]

from live import Live  # noqa: E402


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Live]]:
    """Make projects whose runs are launched without Snakemake: `live({run_id: settings}, ...)`."""
    made: list[Live] = []

    def factory(runs: dict[str, Any], **settings: Any) -> Live:
        made.append(Live.make_live(tmp_path_factory.mktemp("live"), runs, **settings))
        return made[-1]

    yield factory
    for project in made:
        project.close()
