"""Records are read as JSON objects, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from runherd.files import read_object, write_json


@pytest.mark.parametrize("text", ["", "{", '{"a": 1', "[1]", "3", "null", '"text"', "[" * 100_000, "\udcff"])
def test_what_is_no_whole_object_is_none(tmp_path: Path, text: str) -> None:
    """A torn file, another kind of JSON, nesting without end, or bytes that are no text: none of them is a record."""
    path = tmp_path / "reçord.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert read_object(path) is None


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    """A missing file, and one below a file, are no record; a whole object is."""
    assert read_object(tmp_path / "none.json") is None
    write_json(tmp_path / "a.json", {"é": [1]})
    assert read_object(tmp_path / "a.json") == {"é": [1]}
    assert read_object(tmp_path / "a.json" / "b.json") is None
