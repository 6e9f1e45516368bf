"""The catalogue: every example is a test, and the quick form is kept in step."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import regex_texts

from runherd.diagnose.catalogue import COMPILED, from_json, load
from runherd.diagnose.compile import compiled, read_source
from runherd.errors import UserError

ROWS = read_source()
LINES = [row for row in ROWS if row.get("scope", "line") == "line"]
FAMILIES = [row for row in ROWS if row.get("scope") == "exception"]
SHOWS = [(row["id"], text) for row in LINES for text in row["shows"]]
SHOWS_NOT = [(row["id"], text) for row in LINES for text in row["shows_not"]]


def test_quick_form_is_in_step() -> None:
    """signatures.json holds what signatures.yaml says."""
    assert COMPILED.read_text() == compiled(ROWS)


def test_size_and_names() -> None:
    """There are many causes, each named once and with examples both ways."""
    assert len(ROWS) >= 60
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(row["shows"] and row["shows_not"] and row["remedy"] for row in ROWS)
    assert all(row["words"] for row in LINES)


@pytest.mark.parametrize(("name", "text"), SHOWS)
def test_example_is_recognised(name: str, text: str) -> None:
    """A positive example is recognised, and no other root cause stands before it."""
    found = [s.id for s in load().of_line(text)]
    assert found and found[0] == name


@pytest.mark.parametrize(("name", "text"), SHOWS_NOT)
def test_harmless_line_is_not(name: str, text: str) -> None:
    """A negative example shows no cause at all."""
    assert [s.id for s in load().of_line(text)] == []


@pytest.mark.parametrize(("name", "text"), [(row["id"], text) for row in FAMILIES for text in row["shows"]])
def test_family_is_recognised(name: str, text: str) -> None:
    """An exception that no line signature need know falls to its family."""
    found = load().of_exception(text)
    assert found is not None and found.id == name


@pytest.mark.parametrize("text", [text for row in FAMILIES for text in row["shows_not"]])
def test_no_family(text: str) -> None:
    """An exception that only shares a word with a family is in none."""
    assert load().of_exception(text) is None


def test_finder_finds_what_each_line_shows() -> None:
    """Lines of one shape are searched once, and each still shows its own causes."""
    lines = [text for _, text in (*SHOWS, *SHOWS_NOT)]
    lines += ["status 429 now", "status 418 now", "status 500 now", "o1om"]
    find = load().finder()
    for text in (*lines, *lines):
        assert [s.id for s in find(text)] == [s.id for s in load().of_line(text)]


@pytest.mark.parametrize("row", LINES, ids=[row["id"] for row in LINES])
def test_words_cover_the_patterns(row: dict[str, Any]) -> None:
    """Each text that a pattern matches holds a word, else its line would never be looked at."""
    rng = random.Random(row["id"])
    made = [(pattern, text) for pattern in row["match"] for text in regex_texts.texts(pattern, rng, 100)]
    assert len({pattern for pattern, _ in made}) > 0.4 * len(row["match"])
    assert [text for _, text in made if not any(word in text.lower() for word in row["words"])] == []


def bad(**change: Any) -> dict[str, Any]:
    return {"id": "x", "class": "OOM", "cause": "c", "match": ["a"], **change}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "x"}, "needs id, class, cause and match"),
        (bad(**{"class": "BAD"}), "unknown class"),
        (bad(match=["("]), "not a regular expression"),
        (bad(matches=1), "unknown key"),
        (bad(scope="page"), "unknown scope"),
        (bad(restart="perhaps"), "unknown answer for restart"),
    ],
)
def test_users_catalogue_is_checked(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    """A mistake in a user's own catalogue is named with its file."""
    import yaml

    path = tmp_path / "eigene 'ü'.yaml"
    path.write_text(yaml.safe_dump([row]))
    with pytest.raises(UserError, match=said) as raised:
        read_source(path)
    assert "eigene 'ü'.yaml" in str(raised.value)


def test_minimal_row_is_enough() -> None:
    """A user's row of four keys works, and without words it looks at every line."""
    signature = from_json([bad(match=["gamma ray"], words=[""])])[0]
    assert signature.matches("hit by a gamma ray") and signature.restart == "no"
