"""Check layers and merged settings; every problem is located."""

from __future__ import annotations

from collections.abc import Sequence

from runherd.config.merge import Folded, Layer
from runherd.config.project import ProjectConfig
from runherd.config.yamlsource import Document
from runherd.errors import Problem


def run_problems(folded: Folded, project: ProjectConfig) -> list[Problem]:
    return []


def project_problems(document: Document) -> list[Problem]:
    return []


def secret_problems(layers: Sequence[Layer]) -> list[Problem]:
    return []
