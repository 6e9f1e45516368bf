"""Laws: reading never raises, nothing asked changes nothing, an update changes one row's own cells."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runherd.tracker import Status, Update, apply, parse
from runherd.tracker.reading import decode, interpret
from runherd.tracker.scan import scan, split_lines

FIXTURES = [path.read_bytes() for path in sorted((Path(__file__).parent / "fixtures").glob("*.md"))]
SETTINGS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)

markdown = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "| Run ID | Status | Notes |", "|---|---|---|", "| R1 | TODO | x |", "| R2 | DONE |",
                "# M1", "```",
                "~~~", "<!--", "-->", "---", "| R`3|` | TODO | `a|b` |", "- [ ] R4: go",
                "  | R5 | TODO | |", "|", "||",
                "> | R6 | RUNNING | q |", "**R7**", "- **Status**: DONE", "\\|", "| Field | Value |",
                "| Status | TODO |",
                "===", "| R1 | FAILED | again [runherd: x] |", "\ufeff", "| R8-R9 | TODO | |",
                "状态：✅ 完成 ⬜ 未开始",
            ]
        ),
        st.text(alphabet="|`\\-: #*_~[]()<!>aR1é状✅\t", max_size=30),
        st.text(max_size=20),
    ),
    max_size=14,
)  # fmt: skip
documents = st.builds(
    lambda lines, ends: "".join(a + b for a, b in zip(lines, ends, strict=False)),
    markdown,
    st.lists(st.sampled_from(["\n", "\r\n", "\n\n", "\r", ""]), min_size=14, max_size=14),
)
texts = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)
cells = st.text(alphabet="ab1 |`\\$*[]<!-é状✅", max_size=12).map(
    lambda s: s.replace("|", "\\|").replace("\\\\|", "|")
)
updates = st.builds(
    Update,
    st.sampled_from(["R1", "R2", "R4", "R5", "R6", "R7", "nobody"]),
    st.one_of(st.none(), st.sampled_from([s for s in Status if s is not Status.UNKNOWN])),
    st.one_of(st.none(), texts),
    st.one_of(st.none(), texts),
)


@given(st.one_of(st.binary(max_size=300), documents.map(str.encode)))
@SETTINGS
def test_reading_never_raises(data: bytes) -> None:
    """Any bytes give a document; what is wrong with them is reported, not raised."""
    document = parse(data)
    error = decode(data)[1]
    assert (error is None) or all(row.readonly for row in document.rows)
    assert all(1 <= row.line <= row.end_line for row in document.rows)
    assert document.rows or document.problems


@given(st.sampled_from(FIXTURES), st.data())
@SETTINGS
def test_reading_mangled_trackers_never_raises(data: bytes, source: st.DataObject) -> None:
    """A tracker with a piece cut out or noise put in still gives a document."""
    at = source.draw(st.integers(0, len(data)))
    size = source.draw(st.integers(0, 40))
    noise = source.draw(st.binary(max_size=6))
    parse(data[:at] + noise + data[at + size :])


@given(documents)
@SETTINGS
def test_round_trip_is_the_identity(text: str) -> None:
    """With nothing to write a text is itself byte for byte, and every span holds its cell."""
    data = text.encode()
    assert apply(data, []).data == data
    decoded, _ = decode(data)
    lines, starts, _ = split_lines(decoded)
    assert all(decoded[s : s + len(line)] == line for line, s in zip(lines, starts, strict=True))
    for table in scan(decoded).tables:
        for row in [table.header, *table.rows]:
            for index, cell in enumerate(row.cells):
                start, end = row.span(index)
                assert decoded[start:end] == cell


@given(documents, st.lists(updates, max_size=3))
@SETTINGS
def test_an_update_changes_only_its_own_cells(text: str, wanted: list[Update]) -> None:
    """Outside the status, result and notes spans of the written rows every byte stays."""
    data = text.encode()
    applied = apply(data, wanted)
    if decode(data)[1]:
        assert applied.data == data
        return
    old_text, new_text = decode(data)[0], decode(applied.data)[0]
    reading = interpret(old_text)
    owned = sorted(
        span
        for site in reading.sites
        if site.id in applied.written
        for role in ("status", "result", "notes")
        if (span := site.span(role)) is not None
    )
    outside, at = [], 0
    for start, end in owned:
        outside.append(old_text[at:start])
        at = end
    outside.append(old_text[at:])
    position = 0
    for piece in outside[:-1]:
        found = new_text.find(piece, position)
        assert found >= 0
        position = found + len(piece)
    assert new_text.startswith(outside[0]) and new_text.endswith(outside[-1])
    assert [site.id for site in interpret(new_text).sites] == [site.id for site in reading.sites]


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6), st.data())
@SETTINGS
def test_one_row_of_an_ordinary_table(rows: list[tuple[str, str, str]], source: st.DataObject) -> None:
    """In an ordinary table the target's status and notes change and every other line is the same."""
    head = "| Run ID | System | Status | Split | Notes |\n|---|---|---|---|---|\n"
    lines = [f"| R{i} | {a} | TODO | {b} | {c} |" for i, (a, b, c) in enumerate(rows)]
    data = (head + "\n".join(lines) + "\n").encode()
    target = source.draw(st.integers(0, len(rows) - 1))
    note = source.draw(texts)
    applied = apply(data, [Update(f"R{target}", Status.RUNNING, note=note)])
    after = applied.data.decode().split("\n")
    assert [a for i, a in enumerate(after) if i != target + 2] == [
        b for i, b in enumerate(data.decode().split("\n")) if i != target + 2
    ]
    if applied.written:
        row = next(r for r in parse(applied.data).rows if r.id == f"R{target}")
        assert row.status is Status.RUNNING
        assert applied.data.count(b"\n") == data.count(b"\n")


@given(texts, texts)
@SETTINGS
def test_a_note_is_replaced_not_stacked(first: str, second: str) -> None:
    """Two notes one after the other leave the same bytes as the second alone."""
    data = b"| Run ID | Status | Notes |\n|---|---|---|\n| R1 | TODO | by hand |\n"
    once = apply(data, [Update("R1", note=second)]).data
    twice = apply(apply(data, [Update("R1", note=first)]).data, [Update("R1", note=second)]).data
    assert once == twice
    assert apply(twice, [Update("R1", note="")]).data == data
