"""Curves are read whole or not at all, thinned without losing their ends, and drawn inside the frame."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd.report.curves import MAX_POINTS, Curve, chart, read_curve, sparkline


def curve_of(tmp_path: Path, text: str) -> Curve | None:
    path = tmp_path / "curve.jsonl"
    path.write_text(text, encoding="utf-8")
    return read_curve(path)


def test_points_come_in_order_and_a_repeated_step_counts_once(tmp_path: Path) -> None:
    """After a resume the later line of a step holds."""
    lines = '{"step":20,"loss":1.0}\n{"step":10,"loss":2.0}\n{"step":20,"loss":0.5}\n'
    assert curve_of(tmp_path, lines) == Curve("loss", ((10.0, 2.0), (20.0, 0.5)))


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    """A torn last line and lines without the metric leave the others."""
    lines = '{"step":1,"loss":2}\n{"step":1,"eval":5}\nnot json\n[1]\n{"step":2,"loss":1}\n{"step":3,"lo'
    found = curve_of(tmp_path, lines)
    assert found is not None
    assert found.points == ((1.0, 2.0), (2.0, 1.0))


def test_the_first_value_that_is_not_finite_is_named(tmp_path: Path) -> None:
    """NaN is not drawn, but its step is kept and the page warns of it."""
    found = curve_of(
        tmp_path, '{"step":1,"loss":2}\n{"step":2,"loss":1}\n{"step":3,"loss":NaN}\n{"step":4,"loss":1e999}\n'
    )
    assert found is not None
    assert found.bad_step == 3
    drawn = chart([("a", "R001", found)])
    assert drawn is not None
    assert drawn.warnings == ("R001: loss is not a finite number at step 3",)


def test_without_a_loss_the_first_metric_is_drawn(tmp_path: Path) -> None:
    """Positions such as epoch and learning rate are no metric."""
    found = curve_of(
        tmp_path, '{"step":1,"epoch":1,"lr":0.1,"reward":3}\n{"step":2,"epoch":1,"lr":0.1,"reward":4}\n'
    )
    assert found is not None
    assert found.metric == "reward"


@pytest.mark.parametrize("text", ["", "\n", "[]\n", '{"step": 1}\n', '{"step": 1, "name": "x"}\n'])
def test_nothing_to_draw_is_no_curve(tmp_path: Path, text: str) -> None:
    """A file without numbers gives None, as a missing one does."""
    assert curve_of(tmp_path, text) is None
    assert read_curve(tmp_path / "missing.jsonl") is None


def test_long_curves_are_thinned_with_their_ends_kept(tmp_path: Path) -> None:
    """Fifty thousand points become few, from the first to the last."""
    found = curve_of(tmp_path, "".join(f'{{"step":{s},"loss":{1 / (s + 1)}}}\n' for s in range(50_000)))
    assert found is not None
    assert len(found.points) == MAX_POINTS
    assert found.points[0] == (0.0, 1.0)
    assert found.points[-1][0] == 49_999


POINT = st.tuples(
    st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.lists(st.lists(POINT, min_size=2, max_size=6, unique_by=lambda p: p[0]), min_size=1, max_size=9))
def test_every_point_lies_inside_the_frame(curves: list[list[tuple[float, float]]]) -> None:
    """Whatever finite numbers there are, paths and ticks are finite and inside."""
    series = [(f"g{i % 8}", f"R{i}", Curve("loss", tuple(sorted(points)))) for i, points in enumerate(curves)]
    drawn = chart(series)
    assert drawn is not None
    for line in drawn.lines:
        pairs = re.findall(r"(-?[\d.]+) (-?[\d.]+)", line.path)
        assert len(pairs) >= 2
        assert all(drawn.left <= float(x) <= drawn.right for x, _ in pairs)
        assert all(drawn.top <= float(y) <= drawn.bottom for _, y in pairs)
    assert all(math.isfinite(at) for at, _ in (*drawn.x_ticks, *drawn.y_ticks))
    assert len(drawn.x_ticks) <= 12
    for _, _, curve in series:
        assert "nan" not in sparkline(curve)


def test_runs_of_one_system_share_a_colour_and_late_systems_are_grey() -> None:
    """Six systems have colours of their own; the seventh is grey."""
    falling = Curve("loss", ((0.0, 2.0), (1.0, 1.0)))
    drawn = chart([(f"s{i // 2}", f"R{i}", falling) for i in range(14)])
    assert drawn is not None
    assert [line.colour for line in drawn.lines] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 0, 0]


def test_a_loss_over_decades_gets_a_logarithmic_axis() -> None:
    """From 2 to 0.0001 the axis is logarithmic with a tick per decade; with zero in it, linear."""
    wide = chart([("a", "R1", Curve("loss", ((0.0, 2.0), (1.0, 1e-4))))])
    zero = chart([("a", "R1", Curve("loss", ((0.0, 2.0), (1.0, 0.0))))])
    assert wide is not None
    assert zero is not None
    assert wide.logarithmic
    assert [label for _, label in wide.y_ticks] == ["0.0001", "0.001", "0.01", "0.1", "1"]
    assert not zero.logarithmic
