"""Compare two sides whose units are the runs themselves, one per seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runherd.gates.arms import Arms
from runherd.gates.compared import Compared
from runherd.gates.context import CannotJudge, Context
from runherd.gates.sentences import number
from runherd.words import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def seed_test(arms: Arms, entry: Any) -> dict[str, Any]:
    """Test across seeds alone, paired where both sides ran the same seeds; p is None without any spread."""
    import numpy as np

    from runherd.gates.stats.paired import paired_t
    from runherd.gates.stats.spread import constant
    from runherd.gates.stats.unpaired import welch

    a, b = arms.first.values, arms.second.values
    if arms.seeds_paired and entry.pair_on != "none":
        gains = arms.direction.sign * (a - b)
        p = None if constant(gains, float(np.abs(a).max())) else paired_t(gains).p
        return {"name": "paired t test", "units": counted(gains.size, "shared seed"), "p": p}
    spread = not (constant(a) and constant(b))
    units = f"{a.size} and {counted(b.size, 'seed')}"
    return {"name": "Welch's t test", "units": units, "p": welch(a, b).p if spread else None}


def over_seeds(arms: Arms, entry: Any, level: float, context: Context) -> Compared:
    from runherd.gates.stats.spread import constant

    a, b = arms.first.values, arms.second.values
    for arm in (arms.first, arms.second):
        if arm.values.size < 2:
            raise CannotJudge(
                f"{arm.label} has one seed, and a test across seeds needs several",
                action="run more seeds, or record per-item results so that items can be paired",
            )
    if constant(a) and constant(b):
        raise CannotJudge(
            f"all seeds of {arms.first.label} give {number(float(a[0]))} and all seeds of "
            f"{arms.second.label} give {number(float(b[0]))} (zero variance): the seed has no effect, "
            "or one result was copied",
            action="look whether the seed reaches the program",
        )
    if entry.pair_on == "seeds":
        return _paired_seeds(arms, level)
    return _unpaired_seeds(arms, entry, level, context)


def _paired_seeds(arms: Arms, level: float) -> Compared:
    import numpy as np

    from runherd.gates.stats.intervals import standard_error, t_interval
    from runherd.gates.stats.paired import paired_t
    from runherd.gates.stats.spread import constant

    if not arms.seeds_paired:
        raise CannotJudge("the two sides did not run with the same seeds, so seeds cannot be paired")
    gains = arms.direction.sign * (arms.first.values - arms.second.values)
    if constant(gains, float(np.abs(arms.first.values).max())):
        raise CannotJudge("every seed gives the same difference (zero variance): nothing can be tested")
    found = paired_t(gains)
    se, df = standard_error(gains)
    test = {
        "name": found.name,
        "units": counted(gains.size, "shared seed"),
        "why": "pair_on: seeds",
        "t": found.statistic,
    }
    return Compared(
        arms,
        arms.gain,
        found.p,
        t_interval(arms.gain, se, df, level),
        level,
        "t interval over paired seeds",
        test,
        {"name": "Cohen's d_z over seeds", "value": float(gains.mean() / gains.std(ddof=1))},
        {"seeds": int(gains.size)},
        [_normality(gains)],
    )


def _unpaired_seeds(arms: Arms, entry: Any, level: float, context: Context) -> Compared:
    from runherd.gates.stats.effects import hedges_g
    from runherd.gates.stats.intervals import t_interval
    from runherd.gates.stats.unpaired import permutation_splits, welch

    a, b = arms.first.values, arms.second.values
    found = welch(a, b)
    p, name, extra = found.p, "Welch's t test", {"t": arms.direction.sign * found.t, "df": found.df}
    if entry.test == "permutation":
        settings = context.criteria
        p, exact = permutation_splits(a, b, resamples=settings.resamples, seed=settings.random_seed)
        name, extra = ("exact " if exact else "") + "permutation test", {"p_welch": found.p, "exact": exact}
    test = {
        "name": name,
        "units": f"{a.size} and {counted(b.size, 'seed')}",
        "why": "no shared items: seeds are the units",
    }
    return Compared(
        arms,
        arms.gain,
        p,
        t_interval(arms.gain, found.standard_error, found.df, level),
        level,
        "Welch's t interval over seeds",
        {**test, **extra},
        {"name": "Hedges' g", "value": arms.direction.sign * hedges_g(a, b)},
        {"seeds_" + arms.first.label: int(a.size), "seeds_" + arms.second.label: int(b.size)},
        [_normality(a - a.mean(), arms.first.label), _normality(b - b.mean(), arms.second.label)],
    )


def _normality(values: NDArray[np.float64], label: str = "differences") -> dict[str, Any]:
    """Shapiro-Wilk where there are three or more values; with so few it can refute, never prove."""
    from scipy import stats

    from runherd.gates.stats.spread import constant

    name = f"{label}: normal over seeds"
    if values.size < 3 or constant(values):
        return {"name": name, "holds": None, "detail": f"{counted(values.size, 'value')}, not checked"}
    p = float(stats.shapiro(values).pvalue)
    return {"name": name, "holds": p >= 0.01, "detail": f"Shapiro-Wilk p = {p:.3g}"}
