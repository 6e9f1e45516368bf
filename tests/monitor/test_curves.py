"""A training against its baseline's curve and its configured learning rate."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runherd.monitor import tick
from runherd.monitor.classify import classify
from runherd.monitor.curves import Schedule, at_step, leaves_baseline, off_schedule
from runherd.monitor.evidence import Evidence, Point
from runherd.monitor.scan import LOSSES

CURVE = [(step, 2.0 / (1 + step / 10)) for step in range(0, 200, 10)]


def losses(factor: float, steps: range = range(5, 150, 5)) -> list[Point]:
    """Reports whose loss is `factor` times the baseline's."""
    return [(s, factor * at_step(CURVE, s), None, None) for s in steps]


@pytest.mark.parametrize(
    ("points", "settings", "told"),
    [
        (losses(1.0), {}, False),
        (losses(1.4), {}, False),
        (losses(1.6), {}, True),
        (losses(1.6), {"above": 0.7}, False),
        (losses(9.0), {"above": None}, False),  # losses that cannot be compared
        (losses(1.6), {"above": 0.5, "points": None}, True),
        (losses(0.2), {}, False),  # better than the baseline is no sign
        (losses(1.6)[:4], {}, False),
        (losses(1.6)[:4], {"points": 4}, True),
        ([*losses(1.6)[:-1], losses(1.0)[-1]], {}, False),  # the last one is back
        (losses(1.6, range(300, 400, 5)), {}, False),  # beyond what the baseline ran
        ([*losses(1.0), (150, math.nan, None, None)], {}, False),
        ([], {}, False),
    ],
)
def test_leaving_the_baseline(points: list[Point], settings: dict[str, Any], told: bool) -> None:
    """Only so many reports in a row above the bound are a sign, at steps that the baseline reached."""
    said = leaves_baseline(points, CURVE, settings)
    assert (said is not None) == told, said
    if said:
        assert "left the baseline's curve" in said and f"at step {points[-1][0]}" in said


def test_a_small_loss_differs_by_chance() -> None:
    """Near the end of the fall twice the baseline's loss is within the floor; without it that would be a sign."""
    curve = [(0, 2.0), (10, 0.01), (100, 0.01)]
    assert leaves_baseline([(s, 0.02, None, None) for s in range(20, 90, 10)], curve, {}) is None
    assert leaves_baseline([(s, 0.2, None, None) for s in range(20, 90, 10)], curve, {}) is not None


def test_no_curve_no_sign() -> None:
    """Without a baseline's curve nothing is said."""
    assert leaves_baseline(losses(9.0), [], {}) is None


COSINE = {"schedule": "cosine", "peak": 1e-3, "warmup": 10, "total": 110}


@pytest.mark.parametrize(
    ("settings", "step", "rate"),
    [
        (COSINE, 5, 5e-4),
        (COSINE, 10, 1e-3),
        (COSINE, 60, 5e-4),
        (COSINE, 110, 0.0),
        (COSINE, 200, 0.0),
        ({**COSINE, "end": 1e-4}, 110, 1e-4),
        ({**COSINE, "warmup": 0.5}, 55, 1e-3),
        ({"schedule": "linear", "peak": 1e-3, "total": 100}, 25, 7.5e-4),
        ({"schedule": "linear", "peak": 1e-3, "warmup": 20, "total": 100}, 60, 5e-4),
        ({"schedule": "constant", "peak": 1e-3, "warmup": 10}, 500, 1e-3),
    ],
)
def test_schedule(settings: dict[str, Any], step: int, rate: float) -> None:
    """The rates of the schedules as their formulas give them by hand."""
    schedule = Schedule.of(settings)
    assert schedule is not None and schedule.at(step) == pytest.approx(rate, abs=1e-12)


def rates(settings: dict[str, Any], shift: int = 0, factor: float = 1.0) -> list[Point]:
    schedule = Schedule.of(settings)
    assert schedule is not None
    return [(s, None, factor * schedule.at(s + shift), None) for s in range(1, 80)]


def test_a_schedule_that_is_followed() -> None:
    """The configured rates, also told one step early or late as tools do, are no sign."""
    for shift in (-1, 0, 1):
        assert off_schedule(rates(COSINE, shift), COSINE) is None


def test_a_schedule_that_is_not_followed() -> None:
    """Another kind, another peak, a warm-up that is missing: a sign with both numbers."""
    linear = {**COSINE, "schedule": "linear"}
    said = off_schedule(rates(linear)[:40], COSINE)
    assert said == "the learning rate is 0.0007 at step 40, the configured cosine schedule says 0.000794"
    assert off_schedule(rates(COSINE, factor=2.0), COSINE) is not None
    assert off_schedule(rates({**COSINE, "warmup": 0})[:8], COSINE) is not None
    assert off_schedule(rates(linear)[:4], COSINE) is None  # too few reports
    assert off_schedule(rates(linear)[:40], {**COSINE, "tolerance": 0.2}) is None
    empty = {"warmup": None, "end": None, "tolerance": None, "points": None}
    assert off_schedule(rates({**COSINE, "warmup": 0}), {**COSINE, **empty}) is None
    assert off_schedule(rates(linear)[:40], {"schedule": "cosine", "peak": 1e-3}) is None  # its end is not known


FORMS = {
    "log": lambda s, rate: f"step {s}/100 loss 0.5 lr {rate:.3e}\n",
    "Trainer's log": lambda s, rate: (
        f" {s}%|#   | {s}/100 [00:01<00:02]\n{{'loss': 0.5, 'learning_rate': {rate}, 'epoch': {s / 100}}}\n"
    ),
    "progress.jsonl": lambda s, rate: json.dumps({"step": s, "loss": 0.5, "lr": rate}) + "\n",
}


@pytest.mark.parametrize("form", [*FORMS, "trainer_state.json"])
@pytest.mark.parametrize("follows", [True, False])
def test_measured_where_it_is_told(tmp_path: Path, form: str, follows: bool) -> None:
    """Rates from a log, a Trainer's log, JSON lines or a Trainer's state against `monitor.lr`; peak from params."""
    run = tmp_path / "rüns 'x'" / "R001"
    (run / "attempts" / "1").mkdir(parents=True)
    (run / "work").mkdir()
    lr = {"schedule": "linear", "total": 100}
    data = {"monitor": {"lr": lr}, "params": {"lr": 1e-3}}
    (run / "spec.json").write_text(json.dumps({"run_id": "R001", "data": data}))
    told = [(s, 1e-3 * (1 - s / 100) if follows else 1e-3) for s in range(2, 60, 2)]
    log, files = run / "attempts" / "1" / "log.txt", {"progress.jsonl": run / "work" / "progress.jsonl"}
    log.write_text("")
    if form == "trainer_state.json":
        history = [{"step": s, "loss": 0.5, "learning_rate": rate} for s, rate in told]
        state = {"global_step": 58, "max_steps": 100, "log_history": history}
        (run / "work" / form).write_text(json.dumps(state))
    else:
        files.get(form, log).write_text("".join(FORMS[form](s, rate) for s, rate in told))
    said = tick(str(run), alive=True)["signs"]
    wrong = ["the learning rate is 0.001 at step 58, the configured linear schedule says 0.00042"]
    assert said == ([] if follows else wrong)


def test_the_baselines_own_record(tmp_path: Path) -> None:
    """A run whose `baseline:` has a curve in its record is compared with it; one that follows it is not told."""
    base, run = (tmp_path / "rüns 'x'" / name for name in ("B%2F1", "R001"))
    base.mkdir(parents=True)
    rows = [{"step": s, "train/loss": 1.0 - s / 200, "eval/loss": 9.0} for s in range(100)]
    (base / "curve.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (run / "attempts" / "1").mkdir(parents=True)
    data = {"baseline": "B/1", "monitor": {"baseline": {"above": 0.2, "points": 3}}}
    (run / "spec.json").write_text(json.dumps({"run_id": "R001", "data": data}))
    log = run / "attempts" / "1" / "log.txt"
    log.write_text("".join(f"step {s}/100 loss {1.0 - s / 200}\n" for s in range(40)))
    assert tick(str(run), alive=True)["signs"] == []
    with log.open("a") as f:
        f.write("".join(f"step {s}/100 loss 1.9\n" for s in (40, 41, 42)))
    [said] = tick(str(run), alive=True)["signs"]
    assert said == "the loss has left the baseline's curve: 1.9 at step 42, the baseline had 0.79, 2.4 times"


FIRST = tuple(0.5 * 0.9**i for i in range(17))  # down to 0.09


@pytest.mark.parametrize(
    ("after", "ill"),
    [
        ([4.0, 3.9, 3.8], False),  # a second phase with another loss
        ([4.0 * 0.97**i for i in range(15)], False),
        ([4.0 * 0.995**i for i in range(40)], False),
        ([4.0 * 0.9**i for i in range(8)] + [1.9, 1.91, 1.9] * 10, False),  # it has fallen, and stays there
        ([4.0, 4.1, 3.95, 3.9, 3.96, 3.8, 3.7], False),
        ([4.0, 4.0, 4.0], True),
        ([4.0, 9.0, 40.0], True),
        ([7.5, 7.4, 7.6, 7.5, 7.4, 7.6] * 4, True),
        ([90.0] + [7.5, 7.6, 7.5] * 8, True),  # one spike before it stays high
        ([4.0, 3.9, 3.8, 5.0, 8.0, 9.0], True),  # fell at first
        ([4.0, 3.9, math.nan, math.nan, math.nan], True),  # NaN stays what it is
    ],
)
def test_a_loss_that_falls_again_has_not_blown_up(after: list[float], ill: bool) -> None:
    """After a jump to a multiple only losses that do not fall since are DIVERGED, at the second look."""
    losses = [None if math.isnan(x) else x for x in (*FIRST, *after)][-LOSSES:]
    signs = Evidence(now=0.0, process="alive", log_age_s=1.0, losses=tuple(losses))
    first = classify(signs, None)
    second = classify(replace(signs, now=30.0), first)
    assert second.state == ("DIVERGED" if ill else "HEALTHY"), second.sentence
