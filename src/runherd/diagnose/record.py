"""The diagnosis of a run, as it is written to `diagnosis.json` and as a page to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runherd.diagnose import checks, exits, logcurve, ownfiles
from runherd.diagnose.cause import Cause
from runherd.diagnose.changes import changes
from runherd.diagnose.decide import LAST_LINES, NO_FAILURE, decide
from runherd.diagnose.lines import Line, tail
from runherd.diagnose.losses import from_the_first

EVIDENCE_CHARS = 300
#: Signatures of ends that no line tells; a line may tell the later ones too.
BY_EXIT = frozenset({"unknown", "no-failure-seen", "timeout-command", *(end.signature for end in exits.NEVER_RAN.values())})
SILENT = "Its log is empty: start the command by hand and see what it says, or mend where its output goes."


@dataclass(frozen=True)
class Diagnosis:
    """Why a run ended. `cls` is a state of the healing table or one of `catalogue.CLASSES`."""

    run_id: str | None
    cls: str
    signature: str  #: equal for equal failures: the same twice in a row stops the healing
    confidence: float
    summary: str
    evidence: list[dict[str, Any]] = field(default_factory=list)  #: {file, line, text}
    exception: dict[str, Any] | None = None  #: {type, message, file, line, function}
    first_cause: str = ""
    checks: list[dict[str, str]] = field(default_factory=list)
    suggestion: str = ""
    restart_can_help: bool | None = None  #: None: perhaps
    changed_since_good: list[dict[str, Any]] = field(default_factory=list)  #: {what, key, old, new}
    last_good: dict[str, Any] | None = None  #: {run_id, ended_at} of the run that it is compared with
    warnings: tuple[str, ...] = ()  #: what was wrong with the project's own causes, a sentence each

    def to_json(self) -> dict[str, Any]:
        """Return the content of diagnosis.json."""
        return {
            "schema": 1,
            "run_id": self.run_id,
            "class": self.cls,
            "signature": self.signature,
            "confidence": self.confidence,
            "summary": self.summary,
            "evidence": self.evidence,
            "exception": self.exception,
            "first_cause": self.first_cause,
            "checks": self.checks,
            "suggestion": self.suggestion,
            "restart_can_help": self.restart_can_help,
            "changed_since_good": self.changed_since_good,
            "last_good": self.last_good,
            "warnings": list(self.warnings),
        }


def diagnose(
    log: Path,
    exit_facts: Mapping[str, Any],
    spec_data: Mapping[str, Any],
    *,
    run_id: str | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Diagnosis:
    """Diagnose a run from its log and its exit.

    `exit_facts`: code, signal (number or name), oom_kill, sent_by, timed_out;
    all optional. `evidence` feeds the ten checks: validation, result, baseline
    (result records), siblings (result records of other seeds), curve (points);
    and "now" and "last_good" ({spec, git, environment} each, the latter with
    run_id and ended_at) tell what changed.
    A log that is missing or unreadable is an empty one. A user's catalogue that
    cannot be used is left out, and `warnings` says so: nothing is raised.
    """
    try:
        lines = tail(log)
    except OSError:
        lines = []
    return of_lines(lines, str(log), exit_facts, spec_data, run_id=run_id, evidence=evidence)


def of_lines(
    lines: Sequence[Line],
    log_name: str,
    exit_facts: Mapping[str, Any],
    spec_data: Mapping[str, Any],
    *,
    run_id: str | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Diagnosis:
    """Diagnose from the last lines of a log that has been read already; as `diagnose` else."""
    known = ownfiles.catalogue(spec_data)
    cause = from_the_first(decide(lines, exit_facts, known), lines)
    found = dress(cause, lines, log_name, run_id, spec_data, evidence or {})
    return replace(found, warnings=known.faults)


def dress(
    cause: Cause,
    lines: Sequence[Line],
    log_name: str,
    run_id: str | None,
    spec_data: Mapping[str, Any],
    evidence: Mapping[str, Any],
) -> Diagnosis:
    """Give a cause its evidence lines, its checks and its record."""
    shown = [evidence_row(lines[i], log_name) for i in cause.lines]
    exception = None
    if cause.raised:
        exception = {
            "type": cause.raised.type,
            "message": cause.raised.message,
            "file": cause.frame.file if cause.frame else None,
            "line": cause.frame.line if cause.frame else None,
            "function": cause.frame.name if cause.frame else None,
            "rank": cause.raised.label or None,
        }
        shown.insert(0, evidence_row(lines[cause.raised.begin], log_name))
    if not shown and cause.cls not in NO_FAILURE:  # its exit says why; what it did last is worth to see
        last = [line for line in lines if line.text.strip()][-LAST_LINES:]
        shown = [evidence_row(line, log_name) for line in last]
    good = evidence.get("last_good")
    known = {**evidence, "curve": evidence.get("curve") or logcurve.points(lines)}
    told = bool(cause.lines) and not _by_exit_alone(cause)
    first = lines[cause.lines[0]].text.strip()[:EVIDENCE_CHARS] if told else cause.summary
    return Diagnosis(
        run_id,
        cause.cls,
        cause.signature,
        cause.confidence,
        cause.summary,
        shown,
        exception,
        first,
        checks.answer(cause, spec_data, known),
        cause.suggestion if shown or cause.signature != "unknown" else SILENT,
        {"yes": True, "no": False}.get(cause.restart),
        changes(evidence.get("now") or {}, good) if good else [],
        {key: good.get(key) for key in ("run_id", "ended_at")} if good else None,
    )


def _by_exit_alone(cause: Cause) -> bool:
    """Whether its lines are only the last ones, and the exit, or nothing, is all that tells of an end."""
    return cause.signature in BY_EXIT and cause.raised is None and cause.summary.startswith(("ended ", "nothing ", "its exit "))


def evidence_row(line: Line, log_name: str) -> dict[str, Any]:
    """One line of a log as a row of `evidence`."""
    return {"file": log_name, "line": line.number or None, "text": line.text.strip()[:EVIDENCE_CHARS]}
