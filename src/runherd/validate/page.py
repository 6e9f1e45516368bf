"""A validation as a page to read."""

from __future__ import annotations

from runherd.validate.verdict import Validation


def page(validation: Validation, form: str) -> str:
    """Return the numbers, the table per task type, and what is wrong."""
    counts, metrics = validation.counts, validation.metrics
    lines = []
    if counts.get("items"):
        reasons = ", ".join(f"{k}={v}" for k, v in counts["null_reasons"].items()) or "none"
        rate = 100 * counts["nulls"] / counts["items"]
        expected = f" of {counts['expected']} expected" if counts.get("expected") else ""
        lines.append(
            f"Items: {counts['items']}{expected} | Nulls: {counts['nulls']} ({rate:.1f}%) [{reasons}]"
        )
        shown = [("Raw Acc", metrics.get("raw_accuracy")), ("Valid Acc", metrics.get("valid_accuracy"))]
        told = [f"{name}: {100 * value:.1f}%" for name, value in shown if value is not None]
        if told:
            lines.append(" | ".join(told))
    if validation.per_task:
        width = max(len(row["task"]) for row in validation.per_task)
        lines.append("Per-task:")
        for row in validation.per_task:
            accuracy = "" if row["accuracy"] is None else f" ({100 * row['accuracy']:.1f}%)"
            lines.append(f"  {row['task']:<{width}}: {row['correct']}/{row['valid']}{accuracy}")
    lines += [f"{f.level:<8} {f.rule}: {f.message}" for f in validation.findings]
    lines.append(f"[Validate] {validation.verdict} ({form})")
    return "\n".join(lines)
