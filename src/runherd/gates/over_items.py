"""Compare two sides on the items that they share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runherd.gates.arms import Arms
from runherd.gates.compared import Compared
from runherd.gates.context import CannotJudge, Context
from runherd.gates.items import Shared
from runherd.gates.over_seeds import seed_test
from runherd.gates.sentences import signed
from runherd.words import counted, form

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def over_items(arms: Arms, entry: Any, shared: Shared, level: float, context: Context) -> Compared:
    from runherd.gates.stats.spread import without_rounding

    cut = len(arms.first.runs)
    sign = arms.direction.sign
    first, second = sign * shared.values[:cut], sign * shared.values[cut:]
    gains = without_rounding(first.mean(axis=0) - second.mean(axis=0), shared.values)
    _check_items(gains, shared, entry, level)
    single = len(arms.runs) == 2
    units, p, name, extra = _item_test(gains, shared, single, context)
    interval, method = _item_interval(gains, shared, level, sign, _Asked(single, entry.interval, context))
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


@dataclass(frozen=True)
class _Asked:
    """What decides the kind of interval."""

    single: bool  #: one run on each side
    interval: str
    context: Context


def _item_interval(
    gains: NDArray[np.float64], shared: Shared, level: float, sign: float, asked: _Asked
) -> tuple[tuple[float, float], str]:
    import numpy as np

    from runherd.gates.stats.intervals import (
        bootstrap_interval,
        newcombe_paired,
        standard_error,
        t_interval,
    )

    if asked.interval == "bootstrap":
        draws, seed = asked.context.criteria.resamples, asked.context.criteria.random_seed
        units = "items" if shared.clusters is None else "groups"
        found = bootstrap_interval(gains, shared.clusters, level, resamples=draws, seed=seed)
        return found, f"percentile bootstrap over {units}, {draws} resamples"
    if asked.single and shared.binary and shared.clusters is None:
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
        detail = f"{counted(shared.nulls, 'null')} {form(shared.nulls, 'counts', 'count')} as 0"
        found.append({"name": "every item answered", "holds": False, "detail": detail})
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
    seeds_test = seed_test(arms, entry)
    found = crossed(first, second, clusters=shared.clusters)
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
