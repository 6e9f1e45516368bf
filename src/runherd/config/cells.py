"""What a tracker row's own cells set: benchmark, mode, model, seed, command, needs and so on."""

from __future__ import annotations

import re
from typing import Any

from runherd.config.merge import Layer
from runherd.config.spec import RowInput, input_columns

_EMPTY = frozenset({"", "-", "–", "—", "n/a", "na", "none", "tbd", "?", "无", "…", "..."})
_TEXT_ROLES = ("benchmark", "mode", "model", "protocol", "command", "config_file", "baseline", "priority")
_ID = re.compile(r"[^\s,;，；、]+")


def cell(row: RowInput, role: str) -> str | None:
    """Text of a cell; None when it is missing or holds a placeholder such as a dash."""
    text = row.cells.get(role, "").strip()
    return None if text.lower() in _EMPTY else text


def tracker_layer(row: RowInput, file: str, aliases: dict[str, str]) -> Layer:
    """The settings in a row's cells. Cells that hold prose where a number is due set nothing."""
    data: dict[str, Any] = {}
    for role in _TEXT_ROLES:
        if (text := cell(row, role)) is not None:
            data[role] = text
    seeds = seed_list(cell(row, "seed"))
    if len(seeds) == 1:
        data["seed"] = seeds[0]
    elif seeds:
        data["grid"] = {"seed": seeds}
    if (text := cell(row, "needs")) is not None:
        data["needs"] = _ID.findall(text)
    if (text := cell(row, "expected")) is not None and text.isascii() and text.isdigit():
        data["expected"] = int(text)
    columns = input_columns(row, aliases)
    if columns:
        data["row"] = columns
    if row.stage is not None:
        data["stage"] = row.stage
    return Layer("tracker", file, data, {}, row.line)


def seed_list(text: str | None) -> list[int]:
    """Seeds named in a cell: "42" or "0, 1, 2"; empty for anything else."""
    parts = [part.strip() for part in re.split(r"[,，;/]", text or "")]
    if all(re.fullmatch(r"(seed\s*=?\s*)?\d{1,9}", part, re.IGNORECASE) for part in parts):
        return [int(re.sub(r"\D", "", part)) for part in parts]
    return []


def config_cell(row: RowInput) -> str | None:
    """The YAML file that the row names, if its config cell is a path."""
    text = cell(row, "config")
    return text if text and re.fullmatch(r"[^\n|]+\.ya?ml", text) else None
