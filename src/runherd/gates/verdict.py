"""Judge a stage: every criterion of the file, and always the runs that the gate waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from runherd import clock
from runherd.gates import kinds
from runherd.gates.committed import CriteriaGit
from runherd.gates.context import CannotJudge, Context
from runherd.gates.criteria import Criteria
from runherd.gates.evidence import RunEvidence, evidence_files
from runherd.gates.kinds.all_done import holding, waits_for_person
from runherd.gates.outcome import INCONCLUSIVE, Check, EvidenceFile, Verdict, worst
from runherd.gates.series import BaselineVariance
from runherd.words import listing


def judge(
    stage: str,
    criteria: Criteria,
    runs: Sequence[RunEvidence],
    *,
    now: str,
    git_facts: CriteriaGit,
    variances: Mapping[str, BaselineVariance] | None = None,
) -> Verdict:
    """Judge `stage` by `criteria` on the evidence `runs` (every run of the project); writes nothing.

    `now` is a UTC time; `variances` are the saved baseline variances of the
    studies (`judge_stage` reads and writes them). Never raises on bad
    evidence: what cannot be judged is INCONCLUSIVE, with a sentence. A stage
    that the criteria do not name asks only that its MUST runs are done and
    valid; a stage that they name asks that too, unless it has an `all_done`.
    """
    context = Context(stage, criteria, {run.run_id: run for run in runs}, variances or {})
    entries = criteria.stages.get(stage, ())
    checks = [_check(entry, context) for entry in entries]
    held = holding(context.stage_runs)
    if not entries or (held and not any(entry.kind == "all_done" for entry in entries)):
        checks.append(_check(_MUST_RUNS, context))
    notes = criteria_notes(stage, criteria, git_facts, _runs_of(entries, context))
    notes += [
        f"{r.run_id} is conditional and waits for a person" for r in context.stage_runs if waits_for_person(r)
    ]
    word = worst([check.verdict for check in checks])
    return Verdict(
        stage=stage,
        verdict=word,
        sentence=_sentence(stage, word, checks, notes),
        judged_at=now,
        criteria=_criteria_json(stage, criteria, git_facts),
        checks=checks,
        runs=[_run_json(run) for run in sorted(context.stage_runs, key=lambda run: run.run_id)],
        notes=notes,
    )


_MUST_RUNS = SimpleNamespace(kind="all_done", label="all MUST runs done", runs=None, scope="stage")


def _check(entry: Any, context: Context) -> Check:
    try:
        return kinds.check(entry, context)
    except CannotJudge as e:
        return _inconclusive(entry, context, e.sentence, e.action, dict(e.numbers))
    except Exception as e:  # a fault of ours must not pass a gate, nor stop the other checks
        return _inconclusive(
            entry, context, f"the check could not be computed ({type(e).__name__}: {e})", None, {}
        )


def _inconclusive(
    entry: Any, context: Context, sentence: str, action: str | None, numbers: dict[str, Any]
) -> Check:
    return Check(
        entry.label,
        entry.kind,
        INCONCLUSIVE,
        sentence,
        numbers=numbers,
        action=action,
        evidence=_files_named(entry, context),
    )


def _files_named(entry: Any, context: Context) -> list[EvidenceFile]:
    return evidence_files(context.runs[i] for i in named_runs(entry) if i in context.runs)


def named_runs(entry: Any) -> list[str]:
    """Every run that a criterion names, once."""
    named: list[str] = []
    for key in ("runs", "method", "baseline", "full"):
        named += getattr(entry, key, None) or ()
    for runs in (getattr(entry, "ablations", None) or {}).values():
        named += runs
    return list(dict.fromkeys(named))


def _runs_of(entries: Sequence[Any], context: Context) -> list[RunEvidence]:
    """The runs of the stage and those that its criteria name."""
    ids = [*(run.run_id for run in context.stage_runs), *(i for e in entries for i in named_runs(e))]
    return [context.runs[i] for i in dict.fromkeys(ids) if i in context.runs]


def _sentence(stage: str, word: str, checks: Sequence[Check], notes: Sequence[str]) -> str:
    told = [c for c in checks if c.verdict == word]
    head = f"{stage} {word}: " + "; ".join(f"{c.name}: {c.sentence}" for c in told)
    return head + "".join(f". Note: {note}" for note in notes)


def criteria_notes(
    stage: str, criteria: Criteria, git: CriteriaGit, runs: Sequence[RunEvidence]
) -> list[str]:
    """Say whatever makes the criteria less than written down before the results."""
    if criteria.path is None:
        return []
    name = criteria.path.name
    if not git.in_repository:
        since, doubt = (
            git.modified_at,
            f"{name} is not under version control: nothing proves when it was written",
        )
    elif not git.committed:
        since, doubt = git.modified_at, f"{name} is not committed"
    elif git.dirty:
        since, doubt = git.modified_at, f"{name} has uncommitted changes"
    else:
        since, doubt = git.changed_at.get(stage, git.committed_at), ""
    notes = [doubt] if doubt else []
    if stage in criteria.stages and (late := _ended_before(since, runs)):
        what = (
            f"the criteria of {stage} were changed on {since}" if not doubt else f"it was changed on {since}"
        )
        notes.append(f"{what}, after {listing(late, most=3)} had ended")
    return notes


def _ended_before(since: str | None, runs: Sequence[RunEvidence]) -> list[str]:
    """Runs whose result is older than the criteria."""
    changed = clock.moment(since)
    ended = {run.run_id: clock.moment((run.result or {}).get("ended_at")) for run in runs}
    return sorted(run_id for run_id, when in ended.items() if changed and when and when < changed)




def _criteria_json(stage: str, criteria: Criteria, git: CriteriaGit) -> dict[str, Any]:
    name = criteria.path.name if criteria.path else None
    lines = {e.label: criteria.lines.get((stage, i)) for i, e in enumerate(criteria.stages.get(stage, ()))}
    return {"file": name, "sha256": criteria.sha256, "lines": lines, **git.to_json()}


def _run_json(run: RunEvidence) -> dict[str, Any]:
    validation = run.validation.get("verdict") if run.validation else None
    return {"run_id": run.run_id, "status": run.status, "priority": run.priority, "validation": validation}
