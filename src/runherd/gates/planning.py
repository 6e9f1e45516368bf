"""Power before spending: what difference each claim's planned items and seeds can detect."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import RunEvidence
from runherd.gates.sentences import given, number, percent
from runherd.gates.stats.power import (
    detectable,
    power_of_answers,
    power_of_scores,
    power_of_seeds,
    sample_size_of_answers,
)
from runherd.gates.stats.student import normal_quantile
from runherd.gates.usable import metric_of
from runherd.words import counted

POWER = 0.8
ASSUMED_DISCORDANCE = 0.2


@dataclass(frozen=True)
class PlannedPower:
    """One comparison of the plan; `detectable` is in units of the metric, None where nothing can be said."""

    stage: str
    name: str
    margin: float
    alpha: float
    seeds: tuple[int, int]
    items: int | None
    detectable: float | None
    basis: str
    warning: str | None

    def sentence(self) -> str:
        size = f"{self.seeds[0]} and {counted(self.seeds[1], 'seed')}" + (f", {counted(self.items, 'item')}" if self.items else "")
        if self.detectable is None:
            return f"{self.stage} {self.name}: {size}: {self.basis}"
        found = (
            f"can detect {number(self.detectable)} with {percent(POWER)} power at alpha {given(self.alpha)}"
        )
        text = f"{self.stage} {self.name}: {size}: {found} ({self.basis})"
        return text + (f". WARNING: {self.warning}" if self.warning else "")


def plan_power(context: Context) -> list[PlannedPower]:
    """Look at every claim and every removal; alpha is that of the hardest step of Holm."""
    claims = [
        (stage, entry)
        for stage, entries in context.criteria.stages.items()
        for entry in entries
        if entry.kind in ("claim_holds", "ablation_gap")
    ]
    family = sum(entry.kind == "claim_holds" for _, entry in claims)
    found: list[PlannedPower] = []
    for stage, entry in claims:
        settings: Any = entry
        alpha = settings.alpha or context.criteria.alpha
        if entry.kind == "claim_holds":
            sides = [(entry.label, settings.method, settings.baseline, settings.margin, alpha / family)]
        else:
            corrected = alpha / len(settings.ablations)
            sides = [
                (f"{entry.label}: {part}", settings.full, runs, settings.min_gap, corrected)
                for part, runs in settings.ablations.items()
            ]
        found += [_planned(context, stage, settings, *side) for side in sides]
    return found


def _planned(
    context: Context,
    stage: str,
    entry: Any,
    name: str,
    first: Sequence[str],
    second: Sequence[str],
    margin: float,
    alpha: float,
) -> PlannedPower:
    seeds = (len(first), len(second))
    items = None if entry.pair_on in ("seeds", "none") else _items(context, entry, [*first, *second])
    values = _finished(context, entry, second)
    spread = _item_spread(entry, values)
    smallest, basis = _smallest(entry, seeds, items, _sd(entry, values), alpha, spread)
    warning = _warning(smallest, margin, items, alpha, spread.share)
    return PlannedPower(stage, name, margin, alpha, seeds, items, smallest, basis, warning)


@dataclass(frozen=True)
class ItemSpread:
    """How much single items differ: `share` answered differently (None for scores), and the variance."""

    share: float | None
    variance: float
    basis: str


def _smallest(
    entry: Any,
    seeds: tuple[int, int],
    items: int | None,
    sd: float | None,
    alpha: float,
    spread: ItemSpread,
) -> tuple[float | None, str]:
    if items is not None:
        return _by_items(seeds, items, sd, alpha, spread)
    if entry.pair_on == "items":
        return None, "the number of items is not known: write `planned_items`, or `expected` in the runs"
    if min(seeds) < 2:
        return None, "one seed and no items on record: no test is possible; plan more seeds, or items"
    if sd is None:
        return None, "the spread over seeds is not known: write `planned_sd`, or run the baseline first"
    found = detectable(lambda d: power_of_seeds(d, sd, *seeds, alpha), 100.0 * sd, power=POWER)
    return found, f"Welch's t test, sd over seeds {number(sd)}"


def _by_items(
    seeds: tuple[int, int], items: int, sd: float | None, alpha: float, spread: ItemSpread
) -> tuple[float | None, str]:
    """McNemar as if with one seed (averaging can only help); a known sd over seeds is added."""
    if min(seeds) >= 2 and sd is not None:
        error = math.sqrt(spread.variance / items + sd**2 / seeds[0] + sd**2 / seeds[1])
        smallest = (normal_quantile(1.0 - alpha / 2.0) + normal_quantile(POWER)) * error
        return smallest, f"items and seeds, normal approximation; {spread.basis}; sd over seeds {number(sd)}"
    if spread.share is None:
        item_sd = math.sqrt(spread.variance)
        scores = detectable(lambda d: power_of_scores(d, item_sd, items, alpha), 100.0 * item_sd, power=POWER)
        return scores, f"paired t test over items; {spread.basis}"
    share = spread.share
    found = detectable(lambda d: power_of_answers(d, share, items, alpha), share, power=POWER)
    if found is None:
        return None, f"exact McNemar test: so few items that no difference is detectable; {spread.basis}"
    return found, f"exact McNemar test; {spread.basis}"


def _item_spread(entry: Any, baseline: Sequence[float]) -> ItemSpread:
    """As the criterion says; else as if both sides erred independently, as often as the finished baseline.

    Sides that share their items agree more than that, so 20 % is the most that is assumed.
    """
    if (sd := getattr(entry, "planned_item_sd", None)) is not None:
        return ItemSpread(None, float(sd) ** 2, f"sd of the items' differences {given(sd)}")
    share, source = getattr(entry, "planned_discordance", None), ""
    if share is None:
        share, source = ASSUMED_DISCORDANCE, ", assumed"
        mean = statistics.fmean(baseline) if baseline else 0.5
        if 0.0 < mean < 1.0 and 2.0 * mean * (1.0 - mean) < share:
            share, source = 2.0 * mean * (1.0 - mean), ", from the baseline's own errors"
    return ItemSpread(share, share, f"{percent(share)} of the items answered differently{source}")


def _warning(
    smallest: float | None, margin: float, items: int | None, alpha: float, share: float | None
) -> str | None:
    if smallest is None or margin <= 0 or margin >= smallest:
        return None
    more = ""
    if items is not None and share is not None and margin < share:
        more = f"; about {counted(sample_size_of_answers(margin, share, alpha, POWER), 'item')} would do"
    missed = "smaller than that, so a true gain of that size may well be missed"
    return f"the margin {given(margin)} is {missed}{more}"


def _items(context: Context, entry: Any, ids: Sequence[str]) -> int | None:
    """Planned number of items: the criterion, else what the runs expect or have."""
    if (planned := getattr(entry, "planned_items", None)) is not None:
        return int(planned)
    counts = [n for i in ids if (run := context.runs.get(i)) and (n := _expected(run))]
    return min(counts) if counts else None


def _expected(run: RunEvidence) -> int | None:
    data = (run.spec or {}).get("data")
    for record, key in ((data, "expected"), (run.result, "expected"), (run.result, "n_items")):
        value = record.get(key) if isinstance(record, dict) else None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _finished(context: Context, entry: Any, baseline: Sequence[str]) -> list[float]:
    """The metric of the baseline runs that have one already."""
    values = []
    for run_id in baseline:
        try:
            values.append(metric_of(context.runs[run_id], entry.metric))
        except (KeyError, CannotJudge):
            continue
    return values


def _sd(entry: Any, baseline: Sequence[float]) -> float | None:
    """Spread over seeds: the criterion's, else what two or more finished baseline runs show."""
    if (planned := getattr(entry, "planned_sd", None)) is not None:
        return float(planned)
    return (statistics.stdev(baseline) or None) if len(baseline) > 1 else None
