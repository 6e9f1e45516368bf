"""A factory of small projects; whatever a test leaves alive in them is ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flowkit import Project, Row


@pytest.fixture
def make(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Project]]:
    """Make projects: `make([Row(...), ...], runs={glob: settings}, **project settings)`."""
    made: list[Project] = []

    def factory(rows: list[Row], **settings: Any) -> Project:
        made.append(Project.make(tmp_path_factory.mktemp("flow"), rows, **settings))
        return made[-1]

    yield factory
    for project in made:
        project.close()
    for project in made:
        assert project.two() == ""
