"""Build hook: the wheel carries the workflow itself, so that a user's repo needs no clone of ours.

Left out of editable installs, where `src/runherd` finds the files of the checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: What ships, and is found again by `runherd.workflow.parse.shipped` and `runherd.config`.
SHIPPED = ("Snakefile", "rules", "scripts", "profiles", "configs/_defaults", "configs/schema.json")


class WorkflowHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        for name in SHIPPED:
            source = Path(self.root) / name
            if source.exists():
                build_data["force_include"][str(source)] = f"runherd/_workflow/{name}"
