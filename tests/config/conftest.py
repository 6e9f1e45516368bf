"""A project in a folder whose name holds a space, a quote and letters beyond ASCII."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from runherd.config import ProjectConfig, RowInput, Spec, load_project, resolve

settings.register_profile("config", deadline=None, derandomize=True)
settings.load_profile("config")

Write = Callable[[Mapping[str, str]], ProjectConfig]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "pröject 'ö' 实验"
    folder.mkdir()
    return folder


@pytest.fixture
def write(root: Path) -> Write:
    """Write files (relative name to text) and load the project."""

    def do(files: Mapping[str, str]) -> ProjectConfig:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return load_project(root)

    return do


@pytest.fixture
def run(write: Write) -> Callable[..., Spec]:
    """Resolve one run from the text of its YAML and other files."""

    def do(
        text: str,
        files: Mapping[str, str] | None = None,
        row: RowInput | None = None,
        command_line: Mapping[str, Any] | None = None,
        **keywords: Any,
    ) -> Spec:
        project = write({"configs/runs/R001.yaml": text, **(files or {})})
        return resolve(project, row or RowInput("R001", "M0"), command_line, **keywords)

    return do
