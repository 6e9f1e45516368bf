"""What is wrong with a `collect:` section, before a program is run for it. Pure."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from runherd.collect import formats
from runherd.errors import Problem, UserError, did_you_mean


def problems(spec_data: Mapping[str, Any]) -> list[Problem]:
    """All that is wrong with the `collect:` section of a run's settings; nothing where there is none."""
    section = spec_data.get("collect")
    if not section:
        return []
    if not isinstance(section, Mapping):
        return [Problem("`collect` is no mapping", "collect", repr(section), "keys and values")]
    wanted = str(section.get("format") or "auto")
    if wanted != "auto" and not formats.is_known(wanted):
        known = ["auto", *formats.names()]
        near = did_you_mean(wanted, known)
        hint = f"did you mean `{near}`?" if near else None
        return [Problem("unknown result format", "collect.format", wanted, ", ".join(known), hint)]
    if wanted not in ("jmespath", "stdout"):
        return []
    declared = importlib.import_module("runherd.collect.declared")
    try:
        declared.check(section)
    except UserError as error:
        return error.problems
    return []
