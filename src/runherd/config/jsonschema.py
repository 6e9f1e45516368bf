"""The JSON schema of the layer files, for editors; generated from the models."""

from __future__ import annotations

import json
from typing import Any

_SECOND_NAMES = {
    "n": ("limit", "Another name for `limit`."),
    "python": ("execution.python", "Another name for `execution.python`."),
    "activate": ("execution.activate", "Another name for `execution.activate`."),
}


def schema() -> dict[str, Any]:
    """The schema: its root describes run files, `$defs` holds those of the other files."""
    from pydantic.json_schema import models_json_schema

    from runherd.config.schema import GlobalLayer, ModelLayer, ProjectFile, RunSettings

    kinds = [(model, "validation") for model in (RunSettings, GlobalLayer, ModelLayer, ProjectFile)]
    _, combined = models_json_schema(kinds, by_alias=True)  # type: ignore[arg-type]
    definitions = combined["$defs"]
    for name in ("RunSettings", "GlobalLayer", "ModelLayer"):
        properties = definitions[name]["properties"]
        for second, (target, words) in _SECOND_NAMES.items():
            section, _, key = target.rpartition(".")
            source = definitions[section.capitalize()]["properties"] if section else properties
            properties[second] = {**source[key], "description": words, "title": second.capitalize()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "runherd configuration",
        "description": "Run files; other files: #/$defs/GlobalLayer, ModelLayer, ProjectFile.",
        "$ref": "#/$defs/RunSettings",
        "$defs": definitions,
    }


def text() -> str:
    """The content of `configs/schema.json`."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"
