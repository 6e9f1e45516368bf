"""What stops further launches: the budget, as a table of what is spent, promised and next."""

from __future__ import annotations

import pytest

from runherd.lifecycle.campaign import most
from runherd.plan.brakes import Estimate, over_budget

HOUR = 3600.0


@pytest.mark.parametrize(
    ("spent", "promised", "following", "said"),
    [
        (4.0, 0.0, 0.0, None),
        (4.0, 0.0, 6.0, None),  # just fits
        (4.0, 0.0, 6.1, "4.00 of 10 GPU hours are spent, the next run may take 6.10: no"),
        (4.0, 3.0, 3.1, "spent, runs at work may take 3.00 more, the next run may take 3.10: no"),
        (4.0, 3.0, 3.0, None),
        (4.0, 7.0, 0.0, None),  # the next one has no GPU: what others may take is not its matter
        (4.0, 5.0, None, None),  # has GPUs and no limit: some is left
        (4.0, 6.0, None, "spent, runs at work may take 6.00 more: no further launch"),
        (10.0, 0.0, 0.0, "10.00 of 10 GPU hours are spent: no further launch"),
        (12.0, 3.0, 2.0, "12.00 of 10 GPU hours are spent: no further launch"),
    ],
)
def test_gpu_hours(spent: float, promised: float, following: float | None, said: str | None) -> None:
    """What is spent, promised to runs at work and may be taken next stay within the budget."""
    costs = [{"gpu_seconds": spent * HOUR / 2, "usd": None}] * 2
    found = over_budget(costs, {"gpu_hours": 10}, Estimate(following), Estimate(promised))
    assert found is None if said is None else said in (found or "")


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({}, None), ({"runs": 3}, None), ({"runs": 2}, "2 of 2 runs have been launched"), ({"usd": 5.1}, None),
        ({"usd": 5}, "5.00 of 5 USD are spent"), ({"gpu_hours": 0}, "0.00 of 0 GPU hours are spent"),
    ],
)  # fmt: skip
def test_runs_and_dollars(budget: dict[str, float], said: str | None) -> None:
    """A number of runs and a sum of dollars stop the next launch once they are reached."""
    costs = [{"gpu_seconds": 0.0, "usd": 5.0}, {"gpu_seconds": 0.0, "usd": None}]
    found = over_budget(costs, budget)
    assert found is None if said is None else said in (found or "")


@pytest.mark.parametrize(
    ("promised", "following", "said"),
    [
        (0.0, 5.0, None),
        (0.0, 5.1, "5.00 of 10 USD are spent, the next run may take 5.10: no"),
        (3.0, 2.1, "5.00 of 10 USD are spent, runs at work may take 3.00 more, the next run may take 2.10: no"),
        (7.0, 0.0, None),  # no price is known for the next one
    ],
)
def test_dollars_that_are_promised(promised: float, following: float, said: str | None) -> None:
    """A price that the runs name counts for what they may still take."""
    found = over_budget([{"gpu_seconds": 0.0, "usd": 5.0}], {"usd": 10}, Estimate(1.0, following), Estimate(1.0, promised))
    assert found is None if said is None else said in (found or "")


@pytest.mark.parametrize(
    ("execution", "estimate"),
    [
        ({}, Estimate()), ({"wall_time": "1h"}, Estimate()), ({"gpus": 2}, Estimate(None)),
        ({"gpus": 2, "wall_time": "1h30m"}, Estimate(3.0)), ({"gpus": 1, "wall_time": "n * 3600"}, Estimate(None)),
        ({"gpus": 2, "wall_time": 3600, "usd_per_gpu_hour": 1.5}, Estimate(2.0, 3.0)),
    ],
)  # fmt: skip
def test_what_a_run_may_take(execution: dict[str, object], estimate: Estimate) -> None:
    """By GPUs, time limit and the run's own price; without a limit nobody knows, without GPUs nothing."""
    assert most({"execution": execution}) == estimate
