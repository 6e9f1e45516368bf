"""Ten questions to a failed run, each answered from evidence or "not checked".

The questions are those that people ask of a training that did not do what it
should: from the data over the code to the hypothesis itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median, stdev
from typing import Any

from runherd.diagnose.cause import Cause

NOT_CHECKED = "not checked"
DATA_RULES = ("count", "duplicates", "missing_ids", "nulls", "empties", "placeholders", "leak", "bad_lines")
DATA_SIGNATURES = (
    *("checkpoint-corrupt", "file-missing", "rule-input-missing", "data-resource-missing"),
    *("json-decode", "unicode", "download-broken"),
)
EXPLODED = 100.0  #: times the median gradient norm
VANISHED = 1e-7


@dataclass(frozen=True)
class Known:
    """What the questions may look at; everything may be missing."""

    cause: Cause
    spec: Mapping[str, Any]
    validation: Mapping[str, Any] | None
    result: Mapping[str, Any] | None
    baseline: Mapping[str, Any] | None  #: the baseline's result record
    siblings: Sequence[Mapping[str, Any]]  #: result records of the same run with other seeds
    curve: Sequence[Mapping[str, Any]]

    def findings(self, *rules: str) -> list[str]:
        rows = (self.validation or {}).get("findings") or ()
        return [f["message"] for f in rows if f.get("rule") in rules and f.get("level") != "INFO"]

    def series(self, *names: str) -> list[float]:
        """Return the finite values of the first of `names` that the curve has."""
        for name in names:
            values = [p[name] for p in self.curve if isinstance(p.get(name), int | float)]
            if values:
                return [float(v) for v in values]
        return []


def answer(cause: Cause, spec_data: Mapping[str, Any], evidence: Mapping[str, Any]) -> list[dict[str, str]]:
    """Answer the ten; `evidence` may hold validation, result, baseline, siblings and curve (points)."""
    known = Known(
        cause,
        spec_data,
        evidence.get("validation"),
        evidence.get("result"),
        evidence.get("baseline"),
        evidence.get("siblings") or (),
        evidence.get("curve") or (),
    )
    return [{"check": name, "answer": question(known) or NOT_CHECKED} for name, question in CHECKS.items()]


def _data(k: Known) -> str | None:
    if k.cause.signature in DATA_SIGNATURES or k.cause.cls == "HIGH_NULL_RATE":
        return f"suspect: {k.cause.summary[:160]}"
    bad = k.findings(*DATA_RULES)
    if bad:
        return "suspect: " + "; ".join(bad)
    if k.validation and (k.validation.get("counts") or {}).get("items"):
        return "fine: count, ids, nulls and leak check are in order"
    return None


def _metric_code(k: Known) -> str | None:
    bad = k.findings("reported_accuracy")
    if bad:
        return "suspect: " + bad[0]
    items = ((k.validation or {}).get("counts") or {}).get("items")
    told = {"accuracy", "acc"} & set((k.result or {}).get("metrics") or {})
    return "fine: the reported accuracy is the one that the items give" if items and told else None


def _gradients(k: Known) -> str | None:
    if k.cause.cls == "DIVERGED":
        return f"suspect: {k.cause.summary[:160]}"
    norms = k.series("grad_norm", "gradient_norm", "train/grad_norm")
    if not norms:
        return None
    middle = median(norms)
    if middle > 0 and max(norms) > EXPLODED * middle:
        return f"suspect: the gradient norm reached {max(norms):.3g}, {max(norms) / middle:.0f} times its median"
    if middle < VANISHED:
        return f"suspect: the gradient norm is {middle:.1g} in the middle"
    return f"fine: the gradient norm stays between {min(norms):.3g} and {max(norms):.3g}"


def _hyperparameters(k: Known) -> str | None:
    if k.cause.signature in ("arguments", "program-config"):
        return f"suspect: {k.cause.summary[:160]}"
    rates = k.series("learning_rate", "lr", "train/lr", "train/learning_rate")
    losses = k.series("loss", "train_loss", "train/loss")
    if rates and max(rates) == 0:
        return "suspect: the learning rate is 0 all the time"
    if len(losses) >= 10 and min(losses[len(losses) // 2 :]) > losses[0]:
        rate = f" at a learning rate of {max(rates):.3g}" if rates else ""
        return f"suspect: the loss rose from {losses[0]:.4g} to {losses[-1]:.4g}{rate}"
    if len(losses) >= 10 and abs(losses[-1] - losses[0]) < 0.01 * abs(losses[0]):
        return f"suspect: the loss stays at {losses[0]:.4g}"
    return f"fine: the loss went from {losses[0]:.4g} to {losses[-1]:.4g}" if len(losses) >= 10 else None


def _baseline(k: Known) -> str | None:
    pairs = list(_against(k))
    if not pairs:
        return None
    return "compared: " + "; ".join(f"{name} {mine:.4g}, baseline {other:.4g}" for name, mine, other in pairs[:3])


def _against(k: Known) -> list[tuple[str, float, float]]:
    mine, other = (k.result or {}).get("metrics") or {}, (k.baseline or {}).get("metrics") or {}
    both = [n for n in mine if isinstance(mine[n], int | float) and isinstance(other.get(n), int | float)]
    return [(n, float(mine[n]), float(other[n])) for n in both]


def _implementation(k: Known) -> str | None:
    frame = k.cause.frame
    if frame is not None and k.cause.cls == "CODE_BUG":
        return f"suspect: it fails at {frame.file}:{frame.line} in {frame.name}"
    if k.cause.cls in (
        "OOM",
        "API_QUOTA",
        "PROXY_DOWN",
        "NETWORK",
        "ENVIRONMENT",
        "HARDWARE",
        "DEAD",
        "STOPPED",
        "WALL_TIME",
        "CANCELLED",
    ):
        return f"no fault of the code is seen: it ended for another reason ({k.cause.signature})"
    return None


def _seeds(k: Known) -> str | None:
    values: dict[str, list[float]] = {}
    for record in (*k.siblings, *([k.result] if k.result else [])):
        for name, value in (record.get("metrics") or {}).items():
            if isinstance(value, int | float):
                values.setdefault(name, []).append(float(value))
    many = {n: v for n, v in values.items() if len(v) >= 2}
    if not many or not k.siblings:
        return None
    name, series = next(iter(many.items()))
    return f"{len(series)} seeds: {name} {mean(series):.4g} ± {stdev(series):.2g}"


def _task(k: Known) -> str | None:
    bad = k.findings("bias", "all_alike")
    if bad:
        return "suspect: " + "; ".join(bad)
    items = ((k.validation or {}).get("counts") or {}).get("items")
    return "fine: answers are spread, some are right and some are wrong" if items else None


def _overfitting(k: Known) -> str | None:
    train = k.series("loss", "train_loss", "train/loss")
    held = k.series("eval_loss", "val_loss", "eval/loss", "valid_loss")
    if len(train) < 4 or len(held) < 3:
        return None
    best = min(held)
    if held[-1] > 1.1 * best and train[-1] < train[len(train) // 2]:
        at = held.index(best) + 1
        return f"suspect: the held-out loss rose from {best:.4g} (evaluation {at}) to {held[-1]:.4g}"
    return f"fine: the held-out loss ends at {held[-1]:.4g}, its best is {best:.4g}"


def _hypothesis(k: Known) -> str | None:
    """Only a run that ended well, with data in order, can speak about its hypothesis."""
    good = k.cause.cls == "COMPLETE" and (k.validation or {}).get("verdict") in ("PASS", "NA")
    pairs = list(_against(k)) if good else []
    if not pairs:
        return None
    name, mine, other = pairs[0]
    return f"no fault was found before it: {name} differs from the baseline by {mine - other:+.4g}"


CHECKS: dict[str, Callable[[Known], str | None]] = {
    "data": _data,
    "metric code": _metric_code,
    "gradients": _gradients,
    "hyperparameters": _hyperparameters,
    "baseline": _baseline,
    "implementation": _implementation,
    "seeds": _seeds,
    "task": _task,
    "overfitting": _overfitting,
    "hypothesis": _hypothesis,
}
