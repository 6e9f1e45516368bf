"""Compare two sides of a claim: choose the test, compute it, and keep what it rests on.

Shared items are compared in pairs; without them the seeds are the units.
`docs/gates.md` explains which number decides, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from runherd.gates.arms import Arms, gather
from runherd.gates.context import CannotJudge, Context
from runherd.gates.items import AGREES, Shared, choose_field, share_items
from runherd.gates.outcome import FAIL, INCONCLUSIVE, PASS, Word
from runherd.gates.sentences import counted, number, p_value, percent, signed
from runherd.gates.stats.holm import holm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Compared:
    """The result of one comparison; `gain` and `interval` are positive where the first side is better."""

    arms: Arms
    gain: float
    p: float
    interval: tuple[float, float]
    level: float
    interval_method: str
    test: dict[str, Any]
    effect: dict[str, Any]
    n: dict[str, int]
    assumptions: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def numbers(self) -> dict[str, Any]:
        first, second = self.arms.first, self.arms.second
        return {first.label: first.numbers(), second.label: second.numbers(), "gain": self.gain, "p": self.p}

    def describe(self) -> str:
        """Raw numbers first, then the gain, its interval and the test."""
        first, second = self.arms.first, self.arms.second
        low, high = self.interval
        return (
            f"{first.label} {number(first.mean)} against {second.label} {number(second.mean)}, gain "
            f"{signed(self.gain)} ({percent(self.level)} interval {signed(low)} to {signed(high)}; "
            f"{p_value(self.p)}, {self.test['name']} over {self.test['units']})"
        )


def compare(
    context: Context, entry: Any, first: Sequence[str], second: Sequence[str], labels: tuple[str, str]
) -> Compared:
    """Compare the runs `first` with `second` as the criterion `entry` asks; raises `CannotJudge`."""
    arms = gather(context, entry, first, second, labels)
    level = 1.0 - (entry.alpha or context.criteria.alpha)
    shared, note = _items_for(arms, entry)
    if shared is None:
        compared = over_seeds(arms, entry, level, context)
    else:
        compared = over_items(arms, entry, shared, level, context)
    return replace(compared, notes=[*compared.notes, *([note] if note else []), *arms.notes])


def _items_for(arms: Arms, entry: Any) -> tuple[Shared | None, str | None]:
    """The shared items when the comparison is to be paired on them, and a note when it is not."""
    if entry.pair_on in ("seeds", "none"):
        return None, None
    if entry.pair_on == "auto" and any(run.items is None for run in arms.runs):
        return None, "not every run has per-item results, so the seeds are the units"
    found = choose_field(arms.runs, entry.item_value)
    cluster = entry.cluster_on != "none"
    shared = share_items(arms.runs, found, min_overlap=entry.min_overlap, cluster=cluster)
    scaled = _in_units_of_metric(arms, shared)
    if scaled is not None:
        return scaled, None
    why = f"the mean of the items' `{found}` is not the metric {entry.metric}"
    if entry.pair_on == "items":
        raise CannotJudge(
            f"{why}, so a paired test on items would judge another quantity",
            action="use pair_on: seeds, or name the metric that the items measure",
        )
    return None, f"{why}, so the seeds are the units"


def _in_units_of_metric(arms: Arms, shared: Shared) -> Shared | None:
    """Scale the items so that their means are the metric (a percentage may be 100 times), or None."""
    import numpy as np

    means = shared.values.mean(axis=1)
    reported = np.concatenate([arms.first.values, arms.second.values])
    for scale in (1.0, 100.0):
        if np.all(np.abs(means * scale - reported) <= AGREES * scale):
            return shared if scale == 1.0 else replace(shared, values=shared.values * scale)
    return None


# -- items ---------------------------------------------------------------------


def over_items(arms: Arms, entry: Any, shared: Shared, level: float, context: Context) -> Compared:
    cut = len(arms.first.runs)
    sign = arms.direction.sign
    first, second = sign * shared.values[:cut], sign * shared.values[cut:]
    gains = first.mean(axis=0) - second.mean(axis=0)
    _check_items(gains, shared, entry, level)
    single = len(arms.runs) == 2
    units, p, name, extra = _item_test(gains, shared, single, context)
    interval, method = _item_interval(gains, shared, single, level, sign)
    test = {"name": name, "units": units, "why": _why_items(shared, single), "p_items": p, **extra}
    compared = Compared(
        arms,
        float(gains.mean()),
        p,
        interval,
        level,
        method,
        test,
        _item_effect(gains, first, second, single and shared.binary),
        {
            "items": len(shared.ids),
            "seeds_" + arms.first.label: cut,
            "seeds_" + arms.second.label: len(second),
        },
        _item_assumptions(shared),
    )
    return _with_seeds(compared, entry, first, second, shared)


def _check_items(gains: NDArray[np.float64], shared: Shared, entry: Any, level: float) -> None:
    import numpy as np

    from runherd.gates.stats.spread import constant

    if len(shared.ids) < entry.min_items:
        raise CannotJudge(f"only {counted(len(shared.ids), 'shared item')}, and {entry.min_items} are needed")
    if not np.any(gains):
        raise CannotJudge(
            f"both sides score alike on all {len(shared.ids)} items (all ties): nothing was tested",
            action="look whether the tested change took effect at all",
        )
    if not shared.binary and constant(gains, float(np.abs(shared.values).max())):
        raise CannotJudge(
            f"the scores differ by the same {signed(float(gains[0]))} on every item (zero variance), "
            "as if one had been computed from the other"
        )
    if shared.clusters is not None:
        groups = int(shared.clusters.max()) + 1
        if groups < 2 or 2.0 ** (1 - groups) > 1.0 - level:
            raise CannotJudge(
                f"the items come from {counted(groups, 'group')}, too few for any result to be significant",
                action="evaluate items of more groups",
            )


def _item_test(
    gains: NDArray[np.float64], shared: Shared, single: bool, context: Context
) -> tuple[str, float, str, dict[str, Any]]:
    import numpy as np

    from runherd.gates.stats.paired import mcnemar_exact, sign_flip

    n = len(shared.ids)
    if shared.clusters is not None:
        sums = np.bincount(shared.clusters, weights=gains).astype(np.float64)
        found = sign_flip(sums, resamples=context.criteria.resamples, seed=context.criteria.random_seed)
        units = f"{sums.size} groups of {n} shared items"
        return units, found.p, found.name + " of group sums", {"exact": found.exact}
    units = f"{n} shared items"
    if single and shared.binary:
        better = int(np.count_nonzero(gains > 0))
        worse = int(np.count_nonzero(gains < 0))
        found = mcnemar_exact(better, worse)
        return units, found.p, found.name, {"exact": True, "better": better, "worse": worse}
    found = sign_flip(gains, resamples=context.criteria.resamples, seed=context.criteria.random_seed)
    return units, found.p, found.name, {"exact": found.exact}


def _item_interval(
    gains: NDArray[np.float64], shared: Shared, single: bool, level: float, sign: float
) -> tuple[tuple[float, float], str]:
    import numpy as np

    from runherd.gates.stats.intervals import newcombe_paired, standard_error, t_interval

    if single and shared.binary and shared.clusters is None:
        a, b = shared.values[0] != 0, shared.values[1] != 0
        cells = (int(np.sum(a & b)), int(np.sum(a & ~b)), int(np.sum(~a & b)), int(np.sum(~a & ~b)))
        scale = sign * float(shared.values.max())
        low, high = sorted(scale * end for end in newcombe_paired(*cells, level))
        return (low, high), "Newcombe's score interval for paired proportions"
    se, df = standard_error(gains, shared.clusters)
    method = "t interval" if shared.clusters is None else "t interval, cluster-robust"
    return t_interval(float(gains.mean()), se, df, level), method + " over items"


def _why_items(shared: Shared, single: bool) -> str:
    what = "right or wrong on the same items" if shared.binary else "scores on the same items"
    seeds = "" if single else ", averaged over seeds for each item"
    groups = "" if shared.clusters is None else "; items of one group are not independent"
    return f"{what}{seeds}{groups}"


def _item_effect(
    gains: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64], binary: bool
) -> dict[str, Any]:
    import numpy as np

    better, worse = int(np.count_nonzero(gains > 0)), int(np.count_nonzero(gains < 0))
    if binary:
        return {"name": "odds ratio of discordant pairs", "value": better / worse if worse else None}
    sd = float(gains.std(ddof=1))
    return {"name": "Cohen's d_z over items", "value": float(gains.mean()) / sd if sd > 0 else None}


def _item_assumptions(shared: Shared) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if shared.clusters is not None:
        groups = int(shared.clusters.max()) + 1
        found.append(
            {"name": "items independent", "holds": False, "detail": f"{groups} groups, taken as units"}
        )
    else:
        found.append(
            {"name": "items independent", "holds": None, "detail": "no group is given: taken as independent"}
        )
    if shared.nulls:
        found.append(
            {"name": "every item answered", "holds": False, "detail": f"{shared.nulls} nulls count as 0"}
        )
    return found


def _with_seeds(
    compared: Compared, entry: Any, first: NDArray[np.float64], second: NDArray[np.float64], shared: Shared
) -> Compared:
    """Add what the seeds say. With two or more on each side their spread enters p and interval."""
    from runherd.gates.stats.crossed import crossed
    from runherd.gates.stats.intervals import t_interval

    arms = compared.arms
    if min(first.shape[0], second.shape[0]) < 2:
        few = {
            "name": "spread over seeds known",
            "holds": False,
            "detail": "one seed on a side: the verdict is about these runs, not about the method over seeds",
        }
        return replace(compared, assumptions=[*compared.assumptions, few])
    seeds_test = _seed_test(arms, entry)
    found = crossed(first, second, paired_seeds=arms.seeds_paired, clusters=shared.clusters)
    test = {**compared.test, "p_seeds_and_items": found.p, "p_seeds": seeds_test["p"], "seeds": seeds_test}
    test["variance_items"], test["variance_seeds"] = found.variance_items, found.variance_seeds
    if entry.seeds == "fixed" or found.standard_error == 0.0:
        return replace(compared, test=test)
    low, high = t_interval(found.gain, found.standard_error, found.df, compared.level)
    test["decides"] = "the larger p of the test over items and of the t test over seeds and items"
    return replace(
        compared,
        p=max(compared.p, found.p),
        interval=(low, high),
        interval_method="t interval over seeds and items",
        test=test,
    )


# -- seeds ---------------------------------------------------------------------


def _seed_test(arms: Arms, entry: Any) -> dict[str, Any]:
    """Test across seeds alone, paired where both sides ran the same seeds; p is None without any spread."""
    import numpy as np

    from runherd.gates.stats.paired import paired_t
    from runherd.gates.stats.spread import constant
    from runherd.gates.stats.unpaired import welch

    a, b = arms.first.values, arms.second.values
    if arms.seeds_paired and entry.pair_on != "none":
        gains = arms.direction.sign * (a - b)
        p = None if constant(gains, float(np.abs(a).max())) else paired_t(gains).p
        return {"name": "paired t test", "units": f"{gains.size} shared seeds", "p": p}
    spread = not (constant(a) and constant(b))
    units = f"{a.size} and {b.size} seeds"
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
        "units": f"{gains.size} shared seeds",
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
        "units": f"{a.size} and {b.size} seeds",
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
        return {"name": name, "holds": None, "detail": f"{values.size} values, not checked"}
    p = float(stats.shapiro(values).pvalue)
    return {"name": name, "holds": p >= 0.01, "detail": f"Shapiro-Wilk p = {p:.3g}"}


# -- the decision ----------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """The word on a comparison and the reason in words."""

    word: Word
    reason: str


def decide(compared: Compared, p_adjusted: float, margin: float, *, by_interval: bool = False) -> Decision:
    """Judge a gain against its margin.

    PASS: significant, better, and the gain (with `by_interval` the whole
    interval) is at least the margin. FAIL: the whole interval lies below the
    margin. INCONCLUSIVE: anything between.
    """
    low, high = compared.interval
    alpha = 1.0 - compared.level
    slack = 1e-12 * max(1.0, abs(margin))
    significant = p_adjusted <= alpha and compared.gain > 0
    reaches = (low if by_interval else compared.gain) >= margin - slack
    if significant and reaches:
        return Decision(PASS, f"significant and at least the margin {number(margin)}")
    if high < margin:
        return Decision(FAIL, f"the whole interval lies below the margin {number(margin)}")
    if significant:
        return Decision(INCONCLUSIVE, f"significant, but the interval spans the margin {number(margin)}")
    if low <= margin <= high and margin > 0:
        return Decision(INCONCLUSIVE, f"not significant, and the interval spans the margin {number(margin)}")
    return Decision(INCONCLUSIVE, "not significant: the data decide neither for nor against the claim")


def corrected(p_values: dict[str, float | None]) -> dict[str, float]:
    """Holm-adjusted p-values of those that are known."""
    return {name: p for name, p in holm(p_values).items() if p is not None}
