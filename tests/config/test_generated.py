"""The generated files are in step with the models, and the schema accepts what the models accept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runherd.config import jsonschema, reference
from runherd.config.check import all_keys

ROOT = Path(__file__).parents[2]


def test_schema_file_is_in_step() -> None:
    """`configs/schema.json` is what `runherd config schema` prints now."""
    assert (ROOT / "configs" / "schema.json").read_text() == jsonschema.text(), (
        "run `runherd config schema --write`"
    )


def test_configuration_page_is_in_step() -> None:
    """The tables of the page are what `runherd config reference` prints now."""
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert reference.document_with_tables(text) == text, "run `runherd config reference --write`"


def test_the_page_names_every_key() -> None:
    """No key of a run's closed sections is missing from the page, and every key says what it means."""
    text = reference.markdown()
    sections = {key.rpartition(".")[0] for key in all_keys()}
    for key in all_keys():
        assert f"`{key}`" in text or key in sections, key
    assert "|  |\n" not in text


def test_the_schema_closes_sections_and_knows_second_names() -> None:
    """Unknown keys are refused by editors too; `params` stays open; `n` is known."""
    schema = json.loads(jsonschema.text())
    run = schema["$defs"]["RunSettings"]
    assert run["additionalProperties"] is False
    assert schema["$defs"]["Execution"]["additionalProperties"] is False
    assert {"n", "python", "activate", "validate"} <= set(run["properties"])
    assert run["properties"]["params"]["anyOf"][0]["additionalProperties"] is True
    assert {"GlobalLayer", "ModelLayer", "ProjectFile"} <= set(schema["$defs"])
    assert run["properties"]["seed"]["description"] == "Random seed."


def test_a_page_without_marks_is_refused() -> None:
    """A page that lacks the marks is not overwritten by guesswork."""
    with pytest.raises(ValueError, match="marks"):
        reference.document_with_tables("# Page\n")
