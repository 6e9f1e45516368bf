"""A validation as a page to read."""

from __future__ import annotations

from typing import Any

from runherd.validate.verdict import Validation
from runherd.words import counted


def page(validation: Validation, form: str) -> str:
    """Return the numbers, the table per task type, and what is wrong."""
    counts, metrics = validation.counts, validation.metrics
    lines = []
    if counts.get("items"):
        reasons = ", ".join(f"{k}={v}" for k, v in counts["null_reasons"].items()) or "none"
        rate = 100 * counts["nulls"] / counts["items"]
        expected = f" of {counts['expected']} expected" if counts.get("expected") else ""
        nulls = f"{counts['nulls']} ({rate:.1f}%) [{reasons}]"
        told = nulls if metrics.get("null_rate") is not None else "not known, no item has a response"
        lines.append(f"Items: {counts['items']}{expected} | Nulls: {told}")
        shown = [("Raw Acc", metrics.get("raw_accuracy")), ("Valid Acc", metrics.get("valid_accuracy"))]
        if any(value is not None for _, value in shown):
            lines.append(" | ".join(f"{name}: {100 * value:.1f}%" for name, value in shown if value is not None))
    if validation.per_task:
        width = max(len(_one_line(row["task"])) for row in validation.per_task)
        lines.append("Per-task:")
        for row in validation.per_task:
            lines.append(f"  {_one_line(row['task']):<{width}}: {_reached(row)}")
    lines += [f"{f.level:<8} {f.rule}: {f.message}" for f in validation.findings]
    if validation.files:
        more = f" and {len(validation.files) - 1} more" if len(validation.files) > 1 else ""
        lines.append(f"Read: {_one_line(validation.files[0])}{more}")
    lines.append(f"[Validate] {validation.verdict} ({form})")
    return "\n".join(lines)


def _reached(row: dict[str, Any]) -> str:
    """How many of a task type's items are right, or how many there are where nobody judged them."""
    if row["correct"] is None:
        return f"{counted(row['items'], 'item')}, not judged"
    accuracy = "" if row["accuracy"] is None else f" ({100 * row['accuracy']:.1f}%)"
    return f"{row['correct']}/{row['valid']}{accuracy}"


def _one_line(text: str) -> str:
    """The text without characters that would break the table."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
