"""The invented project as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest
from invented_records import Project, invent


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return invent(tmp_path / "Zähl \"Ziffern\" 'x' 数字")
