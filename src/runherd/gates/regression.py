"""What to look at when a run of a series is worse than its baseline."""

from __future__ import annotations

import json
from collections import defaultdict

from runherd.gates.evidence import RunEvidence
from runherd.gates.sameness import differences, provenance_notes, shown
from runherd.words import listing

WORST_TASKS = 3


def look_at(run: RunEvidence, baseline: RunEvidence) -> list[str]:
    """Clues from the records: changed keys, code, validation, and the tasks that lost most."""
    clues = []
    if changed := differences(baseline, run):
        clues.append(f"configuration against {baseline.run_id}: {shown(changed)}")
    clues += provenance_notes([baseline, run])
    clues += _validation(run)
    clues += _tasks(run, baseline)
    return clues or ["the records of both runs show no difference: read the log, and run the baseline again"]


def _validation(run: RunEvidence) -> list[str]:
    found = run.validation.get("findings") if run.validation else None
    messages = [
        str(f.get("message") or f.get("rule"))
        for f in (found if isinstance(found, list) else [])
        if isinstance(f, dict) and f.get("level") not in (None, "PASS", "INFO")
    ]
    return [f"validation of {run.run_id}: {listing(messages, most=3)}"] if messages else []


def _tasks(run: RunEvidence, baseline: RunEvidence) -> list[str]:
    now, before = _by_task(run), _by_task(baseline)
    lost = sorted((now[t] - before[t], t) for t in now.keys() & before.keys() if now[t] < before[t])
    if len(now) < 2 or not lost:
        return []
    return ["tasks that lost most: " + listing([f"{t} ({100 * d:+.1f} pp)" for d, t in lost[:WORST_TASKS]])]


def _by_task(run: RunEvidence) -> dict[str, float]:
    """Share of right answers per task; empty where the items do not tell."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    try:
        lines = run.items.read_text(encoding="utf-8").splitlines() if run.items else []
        for line in lines:
            item = json.loads(line)
            if item.get("task_type") is not None:
                cell = counts[str(item["task_type"])]
                cell[0] += bool(item.get("correct"))
                cell[1] += 1
    except (OSError, ValueError, AttributeError):
        return {}
    return {task: right / n for task, (right, n) in counts.items()}
