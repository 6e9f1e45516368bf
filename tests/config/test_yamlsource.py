"""Reading YAML: types without surprises, true line numbers, errors that quote nothing."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runherd.config import yamlsource
from runherd.config.merge import DELETE, Replacing
from runherd.config.spec import leaves, split


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("-2.5e-4", -0.00025),
        (".5", 0.5),
        ("1_000", 1000),
        ("0x10", 16),
        ("0o17", 15),
        ("012", "012"),
        ("1:30", "1:30"),
        ("2026-04-22", "2026-04-22"),
        ("1.2.3", "1.2.3"),
        ("e5", "e5"),
        ("yes", True),
        ("off", False),
        ("~", None),
        ("", None),
        ("'1'", "1"),
        ("[1, {a: b}]", [1, {"a": "b"}]),
        ("C'", "C'"),
    ],
)
def test_types(text: str, value: Any) -> None:
    """Numbers with an exponent are numbers; octals, times and dates stay text."""
    assert yamlsource.parse_value(text) == value
    assert type(yamlsource.parse_value(text)) is type(value)


# PyYAML itself does not write controls and line separators so that they can be read again.
printable = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp", "Cf", "Co", "Cn"))
names = st.text(printable, min_size=1, max_size=8)
values = st.recursive(
    st.integers() | st.booleans() | st.none() | st.text(printable, max_size=12),
    lambda inner: st.dictionaries(names, inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(names, values, max_size=5), st.booleans())
def test_values_and_lines_are_those_of_the_file(data: dict[str, Any], flow: bool) -> None:
    """What YAML wrote is read back, and every key stands on the line that is told."""
    text = yaml.safe_dump(data, allow_unicode=True, default_flow_style=None if flow else False)
    document = yamlsource.parse(text.encode(), "x.yaml")
    assert not document.problems
    assert document.data == data
    lines = yaml.compose(text)
    for key, _ in leaves(data):
        assert document.lines[key] == _line(lines, split(key))


def _line(node: Any, path: list[str]) -> int:
    for part in path:
        found = next(pair for pair in node.value if pair[0].value == part)
        line, node = found[0].start_mark.line + 1, found[1]
    return int(line)


def test_lines_name_the_text() -> None:
    """Line numbers are true against the file, also after comments, blocks and CRLF."""
    text = "# c\r\na: |\r\n  x\r\n  y\r\nb:\r\n  c: 1\r\n\r\n  d: [1,\r\n    2]\r\n"
    document = yamlsource.parse(text.encode(), "x")
    lines = text.split("\r\n")
    for key in ("a", "b", "b.c", "b.d"):
        assert lines[document.lines[key] - 1].strip().startswith(key[-1] + ":")
    assert document.lines["b.d.1"] == 9
    assert document.data["a"] == "x\ny\n"


def test_markers() -> None:
    """!delete and !replace make the markers of a merge."""
    data = yamlsource.parse(b"a: !delete\nb: !replace {c: 1}\n", "x").data
    assert data["a"] is DELETE
    assert isinstance(data["b"], Replacing)


def test_anchors_and_merge_keys() -> None:
    """Anchors and `<<` work; the lines are those of the written text."""
    text = b"base: &b {x: 1, y: 2}\nrun:\n  <<: *b\n  y: 3\n"
    document = yamlsource.parse(text, "x")
    assert document.data["run"] == {"x": 1, "y": 3}
    assert (document.lines["run.x"], document.lines["run.y"]) == (1, 4)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        (b"a: 1\nb: 2\na: 3\n", 3, "twice"),
        (b"a: [1\nb: 2\n", 2, "YAML"),
        (b"a: 1\n\tb: 2\n", 2, "YAML"),
        (b"- a\n", 1, "mapping"),
        (b"a: .nan\n", 1, "JSON"),
        (b"a:\n  b: .inf\n", 2, "JSON"),
        (b"a: !!python/object:os.system x\n", 1, "tag"),
        (b"a: 1\nb: \xff\n", 2, "UTF-8"),
        (b"? [1, 2]\n: x\n", 1, "key"),
    ],
)
def test_problems_have_a_place(text: bytes, line: int, word: str) -> None:
    """Whatever is wrong with a file is told with its line, never raised."""
    problems = yamlsource.parse(text, "x.yaml").problems
    assert problems[0].where == f"x.yaml:{line}"
    assert word in problems[0].what


def test_a_syntax_error_quotes_nothing() -> None:
    """The text of a broken file may hold a secret; none of it is shown."""
    problems = yamlsource.parse(b"api_key: sk-verysecret123456789: [\n", "x").problems
    assert problems
    assert "verysecret" not in str(problems)


def test_many_aliases_are_refused() -> None:
    """A file of aliases of aliases ends with a problem, not with a full memory."""
    text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
    for i in range(1, 9):
        text += f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n"
    problems = yamlsource.parse(text.encode(), "x").problems
    assert "aliases" in problems[0].what


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    """Arbitrary bytes give a document or problems, never an exception."""
    yamlsource.parse(data, "x")
