"""The schema of verdict-criteria.md: one closed model per gate kind.

Imported late (pydantic); everything outside uses the plain attributes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)


def _as_list(value: Any) -> Any:
    """Accept one id where a list is expected."""
    return [value] if isinstance(value, str) else value


def _no_bool(value: Any) -> Any:
    if isinstance(value, (bool, str)):
        raise ValueError("a number is wanted")
    return value


Number = Annotated[FiniteFloat, BeforeValidator(_no_bool)]
Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(gt=0, lt=1)]
UpToOne = Annotated[Number, Field(gt=0, le=1)]
Ids = Annotated[tuple[StrictStr, ...], BeforeValidator(_as_list), Field(min_length=1)]
Names = Annotated[tuple[StrictStr, ...], BeforeValidator(_as_list)]
Count = Annotated[StrictInt, Field(ge=1)]


class Closed(BaseModel):
    """Frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Entry(Closed):
    """What every criterion has."""

    name: StrictStr | None = None
    kind: str

    @property
    def label(self) -> str:
        return self.name or self.kind


class AllDone(Entry):
    """Every MUST run is done and valid: those of the stage, of `runs`, or of the whole project."""

    kind: Literal["all_done"]
    runs: Ids | None = None
    scope: Literal["stage", "project"] = "stage"


class LossDecreases(Entry):
    """The training curve falls and holds no NaN and no infinity."""

    kind: Literal["loss_decreases"]
    runs: Ids
    metric: StrictStr = "loss"
    min_drop: Annotated[Number, Field(ge=0, lt=1)] = 0.0  #: least fall, as a share of the first level
    min_points: Annotated[StrictInt, Field(ge=3)] = 5
    alpha: Share | None = None


class Measured(Entry):
    """A criterion on one metric."""

    metric: StrictStr
    higher_is_better: StrictBool | None = None
    unit: Literal["auto", "fraction", "percent", "number"] = "auto"


class MatchPublished(Measured):
    """A reproduced value agrees with a published one."""

    kind: Literal["match_published"]
    runs: Ids
    value: Number
    std: Positive | None = None
    k: Positive = 1.0
    tolerance: Positive | None = None
    source: StrictStr
    at_least: StrictBool = False  #: better than published is also a match
    test: Literal["within", "equivalence"] = "within"
    alpha: Share | None = None
    min_seeds: Count = 1

    @model_validator(mode="after")
    def _one_width(self) -> MatchPublished:
        if (self.std is None) == (self.tolerance is None):
            raise ValueError("give either `std` (of the published value) or `tolerance`, one of the two")
        return self


class Comparison(Measured):
    """How two groups of runs are compared; `docs/gates.md` explains each key."""

    alpha: Share | None = None
    pair_on: Literal["auto", "items", "seeds", "none"] = "auto"
    test: Literal["auto", "welch", "permutation"] = "auto"
    item_value: Literal["auto", "correct", "score"] = "auto"
    cluster_on: Literal["auto", "group", "none"] = "auto"
    seeds: Literal["random", "fixed"] = "random"
    interval: Literal["auto", "bootstrap"] = "auto"  #: bootstrap: over items, or over whole groups
    min_seeds: Count | None = None
    min_items: Count = 2
    min_overlap: UpToOne = 1.0
    changes: Names | None = None  #: the only configuration keys in which the two sides may differ


class ClaimHolds(Comparison):
    """The method is better than the baseline, by the margin and with significance."""

    kind: Literal["claim_holds"]
    method: Ids
    baseline: Ids
    margin: NotNegative = 0.0
    decide_by: Literal["gain", "interval"] = "gain"
    planned_items: Count | None = None  #: for `runherd plan`
    planned_sd: Positive | None = None  #: for `runherd plan`: sd over seeds
    planned_item_sd: Positive | None = None  #: for `runherd plan`: sd of the items' differences in score
    planned_discordance: UpToOne | None = None  #: for `runherd plan`: share of items on which they differ

    @model_validator(mode="after")
    def _sides_differ(self) -> ClaimHolds:
        _distinct("method", self.method)
        _distinct("baseline", self.baseline)
        if both := sorted(set(self.method) & set(self.baseline)):
            raise ValueError(f"{', '.join(both)} stands on both sides of the claim")
        return self


class AblationGap(Comparison):
    """The full method is better than each version with one part removed."""

    kind: Literal["ablation_gap"]
    full: Ids
    ablations: Annotated[dict[StrictStr, Ids], Field(min_length=1)]
    min_gap: NotNegative = 0.0

    @model_validator(mode="after")
    def _sides_differ(self) -> AblationGap:
        _distinct("full", self.full)
        for part, runs in self.ablations.items():
            _distinct(part, runs)
            if part in ("full", "gain", "p"):
                raise ValueError(f"an ablation cannot be named {part}: name the part that is removed")
            if both := sorted(set(self.full) & set(runs)):
                raise ValueError(f"{', '.join(both)} is both the full method and the ablation {part}")
        return self


class Study(Closed):
    """Settings that all criteria of one serial series share."""

    metric: StrictStr
    baseline: Annotated[Ids, Field(min_length=2)]
    noise_floor: Positive | None = None
    noise_floor_pp: Positive | None = None
    on_noise: Literal["continue", "halt"] = "continue"
    against: Literal["mean", "first"] = "mean"
    conformance: StrictBool = True
    higher_is_better: StrictBool | None = None
    unit: Literal["auto", "fraction", "percent", "number"] = "auto"


class BaselineVerdict(Measured):
    """A run of a serial series against its baseline, beyond the noise that the baseline itself shows."""

    kind: Literal["baseline_verdict"]
    study: StrictStr
    baseline: Ids  #: two or more runs of the baseline
    runs: Ids  #: the phases, in their serial order
    noise_floor: Positive | None = None  #: in units of the metric
    noise_floor_pp: Positive | None = None  #: in percentage points
    on_noise: Literal["continue", "halt"] = "continue"
    against: Literal["mean", "first"] = "mean"  #: the mean of the baseline runs, or the first of them
    conformance: StrictBool = True  #: each phase's plan conformance must have passed

    @model_validator(mode="after")
    def _sound(self) -> BaselineVerdict:
        if (self.noise_floor is None) == (self.noise_floor_pp is None):
            raise ValueError(
                "give `noise_floor` (in units of the metric) or `noise_floor_pp`, one of the two"
            )
        _distinct("baseline", self.baseline)
        _distinct("runs", self.runs)
        if both := sorted(set(self.baseline) & set(self.runs)):
            raise ValueError(f"{', '.join(both)} is both baseline and phase")
        return self


class Custom(Entry):
    """An expression over the metrics table, or a function found by entry point."""

    kind: Literal["custom"]
    expression: StrictStr | None = None
    entry_point: StrictStr | None = None
    runs: Ids | None = None
    options: dict[StrictStr, Any] = Field(default_factory=dict)
    sentence: StrictStr | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Custom:
        if (self.expression is None) == (self.entry_point is None):
            raise ValueError("give either `expression` or `entry_point`, one of the two")
        if self.expression is not None:
            from runherd.gates.expression import parse

            parse(self.expression)
        return self


AnyEntry = Annotated[
    AllDone | LossDecreases | MatchPublished | ClaimHolds | AblationGap | BaselineVerdict | Custom,
    Field(discriminator="kind"),
]


class CriteriaModel(Closed):
    """The whole block."""

    stages: dict[StrictStr, tuple[AnyEntry, ...]]
    alpha: Share = 0.05
    random_seed: Annotated[StrictInt, Field(ge=0)] = 0
    resamples: Annotated[StrictInt, Field(ge=999, le=999_999)] = 9_999
    higher_is_better: dict[StrictStr, StrictBool] = Field(default_factory=dict)
    studies: dict[StrictStr, Study] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _fill_in_studies(cls, data: Any) -> Any:
        """Give each baseline_verdict the settings of its study; its own win."""
        if not isinstance(data, dict) or not isinstance(studies := data.get("studies"), dict):
            return data
        stages = data.get("stages")
        filled = {stage: _filled(entries, studies) for stage, entries in _mapping(stages).items()}
        return {**data, "stages": filled if isinstance(stages, dict) else stages}

    @model_validator(mode="after")
    def _names_once(self) -> CriteriaModel:
        for stage, entries in self.stages.items():
            labels = [e.label for e in entries]
            if twice := sorted({x for x in labels if labels.count(x) > 1}):
                raise ValueError(
                    f"stage {stage} has two criteria named {', '.join(twice)}: give each a `name`"
                )
        return self


def _mapping(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _filled(entries: Any, studies: dict[Any, Any]) -> Any:
    if not isinstance(entries, list):
        return entries
    return [{**_settings(entry, studies), **entry} if isinstance(entry, dict) else entry for entry in entries]


def _settings(entry: dict[Any, Any], studies: dict[Any, Any]) -> dict[Any, Any]:
    if entry.get("kind") != "baseline_verdict" or not isinstance(entry.get("study"), str):
        return {}
    settings = dict(_mapping(studies.get(entry["study"])))
    if "noise_floor" in entry or "noise_floor_pp" in entry:
        settings.pop("noise_floor", None)
        settings.pop("noise_floor_pp", None)
    return settings


def _distinct(side: str, runs: tuple[str, ...]) -> None:
    if twice := sorted({r for r in runs if runs.count(r) > 1}):
        raise ValueError(f"{', '.join(twice)} is listed twice under {side}: one run is one measurement")


ENTRY_MODELS: tuple[type[Entry], ...] = (
    AllDone,
    LossDecreases,
    MatchPublished,
    ClaimHolds,
    AblationGap,
    BaselineVerdict,
    Custom,
)
