"""Judge the data quality of one result."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runherd.collect import checks, formats, jsonl, search
from runherd.collect.findings import Finding, worst
from runherd.collect.gather import Collected
from runherd.collect.reading import Reading, Request
from runherd.collect.recorder import Recorder
from runherd.errors import UserError
from runherd.validate import guardcounts, rules, userrules
from runherd.validate.logcounts import LogCounts, count_logs
from runherd.validate.settings import Settings, read_settings
from runherd.validate.tally import Tally, Task

VERDICTS = {"INFO": "PASS", "WARN": "WARN", "FAIL": "FAIL", "CRITICAL": "CRITICAL"}


@dataclass(frozen=True)
class Validation:
    """The verdict PASS, WARN, FAIL, CRITICAL or NA (no items and nothing to say), and why."""

    run_id: str | None
    verdict: str
    findings: list[Finding]
    counts: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, float | None] = field(default_factory=dict)
    per_task: list[dict[str, Any]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)  #: what was read, the first the one that was chosen

    @property
    def blocks(self) -> bool:
        """Whether a gate must not pass on this."""
        return self.verdict in ("FAIL", "CRITICAL")

    def to_json(self) -> dict[str, Any]:
        """Return the content of validation.json."""
        return {
            "schema": 1,
            "run_id": self.run_id,
            "verdict": self.verdict,
            "findings": [f.to_json() for f in self.findings],
            "counts": self.counts,
            "metrics": self.metrics,
            "per_task": self.per_task,
            **({"files": self.files} if self.files else {}),
        }


def validate(
    collected: Collected,
    spec_data: Mapping[str, Any],
    logs: Sequence[Path] = (),
    *,
    run_id: str | None = None,
    guard: Mapping[str, Any] | None = None,
) -> Validation:
    """Validate what `collect` returned; reads `collected.items` and the logs as streams.

    `guard` is the content of guard.json of a run that went through one. A
    `validate:` section that cannot be used is a finding that fails.
    """
    try:
        settings = read_settings(spec_data.get("validate"))
    except UserError as error:
        settings = Settings()
        told = [Finding("settings", "FAIL", " ".join(str(p).split())) for p in error.problems]
        collected = replace(collected, findings=[*collected.findings, *told])
    tally = Tally(settings.leak, settings.placeholders)
    checker = userrules.Checker(settings.rules)
    if collected.items is not None:
        jsonl.read(collected.items, Request({}, 0.0), _Both(tally, checker, Recorder(None)))
    expected = collected.expected
    log = count_logs(logs)
    if guard:
        log = guardcounts.instead_of_log(guard, log)
        seen = [f for f in guardcounts.findings(guard) if f.rule not in settings.off]
        collected = replace(collected, findings=[*collected.findings, *seen])
    validation = _judge(tally, checker, log, settings, collected, expected, run_id)
    if guard:
        validation.counts["guard"] = guardcounts.counts(guard)
    return validation


def validate_file(
    path: Path,
    *,
    section: Mapping[str, Any] | None = None,
    expected: int | None = None,
    logs: Sequence[Path] = (),
    result_format: str = "auto",
) -> tuple[Validation, str]:
    """Validate a result file, or the one that a folder holds; returns also its format. Nothing is written there.

    Nothing outside `path` is taken instead of it: what is no result is a finding.
    """
    settings = read_settings(section)
    checker = userrules.Checker(settings.rules)
    with tempfile.TemporaryDirectory(prefix="runherd-") if checker.wants_items else nullcontext() as folder:
        both = _Both(Tally(settings.leak, settings.placeholders), checker, Recorder(None if folder is None else Path(folder)))
        return _judge_file(path, both, settings, expected, logs, result_format)


def _judge_file(
    path: Path, both: _Both, settings: Settings, expected: int | None, logs: Sequence[Path], result_format: str
) -> tuple[Validation, str]:
    request = Request({"format": result_format}, not_before=0.0, place=path, exact=True)
    found = search.find(path, path, request)
    if found.path is None:
        lost = Collected(missing=found.refusal)
        return _judge(both.tally, both.checker, LogCounts(), settings, lost, expected, None), "unknown"
    reading = formats.read(found.name, found.path, request, both)
    expected = expected or reading.expected
    collected = Collected(
        metrics=reading.metrics,
        items=both.items(),
        findings=[*reading.findings, *both.of_the_form(reading, request, expected), *search.also_there(found, reading.files)],
        missing=reading.missing or _nothing(found.path, reading, both, expected),
        complete=reading.missing is None,
        extra=reading.extra,
    )
    judged = _judge(both.tally, both.checker, count_logs(logs), settings, collected, expected, None)
    return replace(judged, files=[str(p) for p in reading.files or [found.path]]), found.name


def _nothing(path: Path, reading: Reading, read: _Both, expected: int | None) -> str | None:
    """Why a whole file is no result all the same: it is empty, or has no items where a number of them was asked for."""
    read.tally.finish()
    if read.tally.total:
        return None
    if expected:
        return f"{path.name} holds no items, {expected} expected"
    return None if reading.metrics or read.record.n_points else f"{path.name} holds neither metrics nor items"


class _Both:
    """Feeds the tally, the user's rules and the record of curve and items at once."""

    def __init__(self, tally: Tally, checker: userrules.Checker, record: Recorder) -> None:
        self.tally, self.checker, self.record = tally, checker, record
        if not checker:
            self.item = tally.item  # type: ignore[method-assign]
            self.batch = tally.batch  # type: ignore[method-assign]

    def item(self, item: dict[str, Any]) -> None:
        self.tally.item(item)
        self.checker.item(item)
        if self.checker.wants_items:
            self.record.item(item)

    def batch(self, items: list[Any]) -> bool:
        return False

    def point(self, row: dict[str, Any]) -> None:
        self.record.point(row)

    def items(self) -> Path | None:
        """The items that were written for a rule that reads them."""
        return self.record.commit()[0]

    def of_the_form(self, reading: Reading, request: Request, expected: int | None) -> list[Finding]:
        """What is told of the result of a run in any form: how its curve goes, and whether it shows its end."""
        self.tally.finish()
        self.record.n_items = self.tally.total
        empty = not self.tally.total and self.record.last_step is None
        return [] if empty else checks.findings(reading, self.record, {}, request, is_counted=bool(expected))


def _judge(
    tally: Tally,
    checker: userrules.Checker,
    log: LogCounts,
    settings: Settings,
    collected: Collected,
    expected: int | None,
    run_id: str | None,
) -> Validation:
    tally.finish()
    findings = [*collected.findings]
    if collected.missing and "complete" not in settings.off:
        findings.append(Finding("complete", "FAIL", collected.missing))
    findings += rules.apply(rules.Facts(tally, log, settings, expected, dict(collected.metrics)))
    counts, metrics = _counts(tally, log, expected), _metrics(tally)
    per_task = _per_task(tally)
    summary = {"counts": counts, "metrics": {**collected.metrics, **metrics}, "per_task": per_task}
    findings += checker.findings(summary, collected.items)
    level = worst([f.level for f in findings])
    verdict = "NA" if not tally.total and level == "INFO" else VERDICTS[level]
    return Validation(run_id, verdict, findings, counts, metrics, per_task)


def _counts(tally: Tally, log: LogCounts, expected: int | None) -> dict[str, Any]:
    return {
        "items": tally.total,
        "expected": expected,
        "nulls": tally.nulls,
        "null_reasons": dict(tally.null_reasons.most_common()),
        "empties": tally.empties,
        "placeholders": tally.placeholders,
        "duplicates": tally.duplicates(),
        "correct": tally.correct_raw,
        "correct_valid": tally.correct_valid,
        "leak_checked": tally.leak_checked,
        "calls": log.calls,
        "rate_limited": log.rate_limited,
        "content_policy": log.content_policy,
        "stale_cache": log.stale_cache,
    }


def _metrics(tally: Tally) -> dict[str, float | None]:
    if not tally.total:
        return {}
    judged = tally.judged > 0
    return {
        "null_rate": tally.null_rate if tally.with_response_key else None,
        "raw_accuracy": tally.raw_accuracy if judged else None,
        "valid_accuracy": tally.valid_accuracy if judged and tally.with_response_key else None,
    }


def _per_task(tally: Tally) -> list[dict[str, Any]]:
    if list(tally.tasks) == ["unknown"]:
        return []
    return [_task_row(name, task, tally) for name, task in sorted(tally.tasks.items())]


def _task_row(name: str, task: Task, tally: Tally) -> dict[str, Any]:
    """Where no item of the result has a response, all count; where nobody judged, none is right or wrong."""
    valid, right = (task.valid, task.correct) if tally.with_response_key else (task.items, task.right)
    accuracy = right / valid if valid and tally.judged else None
    return {
        "task": name, "items": task.items, "valid": valid, "correct": right if tally.judged else None, "accuracy": accuracy
    }  # fmt: skip
