"""A diagnosis in the words of the judgement: note, record and page of one run name the same class."""

from __future__ import annotations

import shlex
from typing import Any

from runherd.diagnose.decide import LAST_LINES
from runherd.diagnose.lines import tail
from runherd.diagnose.record import evidence_row
from runherd.files import read_object
from runherd.lifecycle.ends import ENDS, advice
from runherd.supervise.place import Place

NO_FAILURE = ("COMPLETE", "HEALTHY", "")
FINDINGS = 5  #: of a validation, that are shown as evidence
LAST_BYTES = 65_536


def as_judged(place: Place, record: dict[str, Any], number: int, cls: str, why: str) -> dict[str, Any]:
    """The content of diagnosis.json for attempt `number`, which was judged to be `cls` for the reason `why`.

    What log and exit tell stays as evidence. The judgement knows more where it names an end that no log tells.
    """
    told = str(record["class"])
    if cls in ("", told):
        return record
    rows, why = _shown(place, cls, number, why, record["evidence"])
    failed = told not in (*NO_FAILURE, "UNKNOWN")
    adds = failed and record["summary"] not in why and not record["signature"].startswith("sig")  # the bare signal is no news
    summary = f"{why}; its log tells {told}: {record['summary']}" if adds else why
    known = advice(cls, shlex.quote(place.run_id))
    first = record["first_cause"] if failed and any(row["text"] == record["first_cause"] for row in rows) else why
    return {
        **record, "class": cls, "signature": cls.lower() if cls in ENDS or not failed else record["signature"], "confidence": 1.0,
        "summary": summary, "first_cause": first, "evidence": rows,
        "suggestion": known.text or record["suggestion"], "restart_can_help": known.restart if known.text else None,
    }  # fmt: skip


def _shown(
    place: Place, cls: str, number: int, why: str, rows: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], str]:
    """Evidence and reason: what validation found, else what the diagnosis shows, else the last lines of the log."""
    path = place.layout.record(place.run_id, "validation")
    if cls == "VALIDATION":
        findings = [f for f in (read_object(path) or {}).get("findings") or () if isinstance(f, dict)]
        bad = [f for f in findings if f.get("level") in ("FAIL", "CRITICAL")]
        shown = [{"file": str(path), "line": None, "text": f"{f['level']} {f.get('rule')}: {f.get('message')}"} for f in bad]
        return shown[:FINDINGS], str(bad[0].get("message")) if bad else why
    if rows:
        return rows, why
    log = place.layout.log(place.run_id, number)
    try:
        lines = [line for line in tail(log, LAST_BYTES) if line.text.strip()]
    except OSError:
        return [], why
    return [evidence_row(line, str(log)) for line in lines[-LAST_LINES:]], why
