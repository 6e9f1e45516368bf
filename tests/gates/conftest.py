"""The `project` fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from .project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "it's a Größe"
    root.mkdir()
    return Project(root)
