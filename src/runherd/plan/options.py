"""What the command line of Snakemake may say to runherd: `--config key=value`, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runherd.errors import Problem, UserError, did_you_mean

KEYS = ("tracker", "stage", "set", "rerun", "stale", "accept_drift")
STALE = ("stop", "keep", "rerun")
VALUES = {
    "tracker": "the tracker's file", "stage": "one stage", "set": "key=value; key=value", "rerun": "run ids, with commas",
    "stale": ", ".join(STALE), "accept_drift": "keys, with commas",
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """The last layer, as far as it concerns the plan."""

    tracker: str | None = None
    stage: str | None = None
    rerun: tuple[str, ...] = ()
    rerun_gens: Mapping[str, int] = field(default_factory=dict)  #: generation that each rerun opened, once it is known
    stale: str = "stop"  #: what to do with DONE rows whose identity has changed
    accept_drift: tuple[str, ...] = ()
    sets: dict[str, Any] = field(default_factory=dict)  #: dotted key -> value


def from_config(config: Mapping[str, Any]) -> Options:
    """Read Snakemake's `config`; raises `UserError` for a value of the wrong kind or a misspelt key.

    Keys of other owners (a user's own workflow around ours) are left alone
    unless they look like one of ours.
    """
    problems = []
    for key in config:
        near = did_you_mean(key, KEYS) if key not in KEYS else None
        if near:
            problems.append(
                Problem(
                    "unknown key in --config", value=key, allowed=", ".join(KEYS), hint=f"did you mean `{near}`?"
                )
            )
    for key in KEYS:
        value = config.get(key)
        if key in config and (value is None or value == ""):
            problems.append(Problem(f"--config {key}= has no value", allowed=VALUES[key], hint="give one, or leave it out"))
        if value is not None and not isinstance(value, str):
            problems.append(
                Problem(
                    f"--config {key} was read as {type(value).__name__}, not as text", value=repr(value),
                    allowed=f"text; Snakemake reads --config values as YAML, so quote it: --config '{key}=\"…\"'",
                )
            )
    stale = config.get("stale") or "stop"
    if stale not in STALE:
        problems.append(Problem("unknown value of --config stale", value=str(stale), allowed=", ".join(STALE)))
    if problems:
        raise UserError(problems)
    return Options(
        tracker=config.get("tracker"),
        stage=config.get("stage"),
        rerun=_names(config.get("rerun")),
        stale=str(stale),
        accept_drift=_names(config.get("accept_drift")),
        sets=parse_sets(config.get("set")),
    )


def parse_sets(text: str | None) -> dict[str, Any]:
    """Parse ``a.b=1; c.d=text`` into dotted keys; values are YAML scalars."""
    sets: dict[str, Any] = {}
    for part in (text or "").split(";"):
        if not part.strip():
            continue
        key, eq, value = part.partition("=")
        if not eq or not key.strip():
            raise UserError(Problem("a setting has the form key=value", value=part.strip(), where="--config set"))
        sets[key.strip()] = _scalar(value.strip())
    return sets


def _scalar(text: str) -> Any:
    import yaml

    return yaml.safe_load(text) if text else ""


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(n.strip() for n in (text or "").split(",") if n.strip())
