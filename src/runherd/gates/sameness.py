"""Are two runs comparable? Proven by the difference of their frozen configurations, not by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runherd.gates.context import CannotJudge
from runherd.gates.evidence import RunEvidence
from runherd.words import listing

#: First parts of keys that cannot change what is measured, or that differ by nature.
NOT_COMPARED = frozenset(
    {"run_id", "seed", "stage", "priority", "baseline", "needs", "purpose", "notes", "name", "description"}
    | {"execution", "monitor", "heal", "notify", "report", "paths", "dryrun", "output", "budget", "validate"}
    | {"collect", "guard", "wandb", "preflight", "conformance", "evaluator", "grid", "clamp", "at_most", "ranges"}
    | {"when_dual", "endpoint", "endpoints", "python", "activate", "gpus"}
)
COMPARED = frozenset({"endpoint.model"})  #: exceptions to the above
SEEDS = frozenset({"seed", "random_seed", "random_state"})  #: last parts of keys that hold a seed
WRITTEN_OUT = frozenset({"command", "steps", "row"})  #: texts that may name the run and its seed
#: Keys that say what is measured: they may differ only where the criterion names them.
MEASURED_BY = frozenset({"benchmark", "dataset", "split", "expected", "limit", "n", "protocol", "metric"})

Differences = dict[str, tuple[Any, Any]]


def configuration(run: RunEvidence) -> dict[str, Any] | None:
    """The run's frozen configuration as dotted keys, without those that do not count; None without a spec."""
    data = run.spec.get("data") if run.spec else None
    if not isinstance(data, Mapping):
        return None
    return {
        k: _without_names(v, run) if k.partition(".")[0] in WRITTEN_OUT else v
        for k, v in _flat(data, "")
        if not _set_aside(k) and _reaches_program(k, data)
    }


def _reaches_program(key: str, data: Mapping[str, Any]) -> bool:
    """False for a tracker column that no command uses: purpose, notes and the like are for people."""
    part, _, column = key.partition(".")
    if part != "row":
        return True
    texts = repr((data.get("command"), data.get("steps")))
    return "row[" in texts and column in texts


def _set_aside(key: str) -> bool:
    aside = key.partition(".")[0] in NOT_COMPARED and key not in COMPARED
    return aside or key.rpartition(".")[2].lower() in SEEDS


def _without_names(value: Any, run: RunEvidence) -> Any:
    """A command written out in full names the run and its seed: neither is a difference."""
    if isinstance(value, list):
        return [_without_names(v, run) for v in value]
    if isinstance(value, Mapping):
        return {k: _without_names(v, run) for k, v in value.items()}
    if not isinstance(value, str):
        return value
    named = re.sub(rf"(?<![\w-]){re.escape(run.run_id)}(?![\w-])", "{run_id}", value)
    return re.sub(r"(seed[=\s]+)\d+", r"\1{seed}", named)


def differences(a: RunEvidence, b: RunEvidence) -> Differences | None:
    """Keys in which two runs differ, with both values; None when one has no spec."""
    first, second = configuration(a), configuration(b)
    if first is None or second is None:
        return None
    keys = sorted(first.keys() | second.keys())
    return {k: (first.get(k), second.get(k)) for k in keys if first.get(k) != second.get(k)}


def check_same(label: str, runs: Sequence[RunEvidence]) -> None:
    """Refuse runs of one side that differ in more than their seed."""
    for run in runs[1:]:
        found = differences(runs[0], run)
        if found:
            raise CannotJudge(
                f"{label}: {runs[0].run_id} and {run.run_id} differ in more than the seed: {shown(found)}",
                numbers={"differences": {k: list(v) for k, v in found.items()}},
            )


def check_sides(
    first: Sequence[RunEvidence], second: Sequence[RunEvidence], allowed: Sequence[str] | None
) -> list[str]:
    """Refuse sides that differ in what is not tested, or not at all; return notes on what differs.

    `allowed` names the tested keys (a key covers those below it), or None
    when the criterion leaves them open.
    """
    found = differences(first[0], second[0])
    if found is None:
        return ["a run has no spec.json, so nothing proves that the sides differ only in what is tested"]
    covered = {k for k in found if allowed is not None and _covers(allowed, k)}
    stray = [k for k in found if k not in covered and (allowed is not None or _measures(k))]
    if stray:
        raise CannotJudge(
            f"the sides differ in {shown({k: found[k] for k in stray})}, which is not what is tested",
            action="compare with a baseline of the same configuration, or name the keys under `changes`",
            numbers={"differences": {k: list(v) for k, v in found.items()}},
        )
    if not (covered if allowed is not None else found) and _one_revision([*first, *second]):
        raise CannotJudge(
            "both sides have the same configuration and code"
            + (f", and differ in none of {listing(list(allowed))}" if allowed else "")
            + ": nothing is tested"
        )
    return [f"the sides differ in {shown(found)}"] if found and allowed is None else []


def provenance_notes(runs: Iterable[RunEvidence]) -> list[str]:
    """Say where compared runs differ in code or environment, or ran on uncommitted code."""
    notes, found = [], list(runs)
    revisions = {r for run in found if (r := _git(run).get("revision"))}
    if len(revisions) > 1:
        notes.append(f"the compared runs ran on {len(revisions)} revisions of the code: {_short(revisions)}")
    dirty = sorted(run.run_id for run in found if _git(run).get("dirty"))
    if dirty:
        notes.append(f"the code had uncommitted changes in {listing(dirty)}")
    environments = {
        repr(sorted(e.items())) for run in found if isinstance(e := _result(run, "environment"), dict)
    }
    if len(environments) > 1:
        notes.append(f"the compared runs ran in {len(environments)} different environments")
    return notes


def shown(found: Mapping[str, tuple[Any, Any]]) -> str:
    """`params.lr (0.1, 0.01) and seed (0, 1)`, cut to a readable length."""
    return listing([f"{k} ({_brief(a)}, {_brief(b)})" for k, (a, b) in found.items()], most=5)


def _flat(data: Mapping[str, Any], before: str) -> list[tuple[str, Any]]:
    leaves: list[tuple[str, Any]] = []
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            leaves += _flat(value, f"{before}{key}.")
        else:
            leaves.append((f"{before}{key}", value))
    return leaves


def _covers(allowed: Sequence[str], key: str) -> bool:
    return any(key == a or key.startswith(a + ".") for a in allowed)


def _measures(key: str) -> bool:
    return key.partition(".")[0] in MEASURED_BY


def _one_revision(runs: Sequence[RunEvidence]) -> bool:
    return len({_git(run).get("revision") for run in runs}) < 2


def _git(run: RunEvidence) -> dict[str, Any]:
    git = _result(run, "git")
    return git if isinstance(git, dict) else {}


def _result(run: RunEvidence, key: str) -> Any:
    return run.result.get(key) if run.result else None


def _short(revisions: Iterable[Any]) -> str:
    return listing(sorted(str(r)[:9] for r in revisions), most=4)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
