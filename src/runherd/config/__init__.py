"""Layered configuration: resolve a run with the origin of every value, its identity and its command.

Importing this package loads the standard library only.
"""

from __future__ import annotations

from runherd.config.commandline import set_values
from runherd.config.contentkey import content_key
from runherd.config.grid import expand
from runherd.config.identity import compare_identity, is_identity_key, is_same
from runherd.config.project import ProjectConfig, load_project, save_cache, shipped_defaults_dir
from runherd.config.render import Command, CommandValues, check_command, render_command, steps
from runherd.config.resolve import resolve
from runherd.config.spec import Difference, Origin, RowInput, Setting, Spec

__all__ = [
    "Command",
    "CommandValues",
    "Difference",
    "Origin",
    "ProjectConfig",
    "RowInput",
    "Setting",
    "Spec",
    "check_command",
    "compare_identity",
    "content_key",
    "expand",
    "is_identity_key",
    "is_same",
    "load_project",
    "render_command",
    "resolve",
    "save_cache",
    "set_values",
    "shipped_defaults_dir",
    "steps",
]
