"""A diagnosis as a page to read."""

from __future__ import annotations

from typing import Any


def page(record: dict[str, Any]) -> str:
    """Return the text of one diagnosis.json."""
    sure = f"{record['confidence'] * 100:.0f} %"
    restart = {True: "yes", False: "no", None: "perhaps"}[record["restart_can_help"]]
    lines = [
        f"{record.get('run_id') or 'run'}: {record['class']} ({record['signature']}, {sure} sure)",
        f"  {record['summary']}",
    ]
    exception = record.get("exception")
    if exception and exception.get("file"):
        lines.append(f"  at {exception['file']}:{exception['line']} in {exception['function']}")
    for row in record["evidence"]:
        place = f"{row['file']}:{row['line']}" if row.get("line") else row["file"]
        lines.append(f"  {place}: {row['text']}")
    lines.append(f"  do: {record['suggestion']}" if record["suggestion"] else "  do: read the lines above")
    lines.append(f"  a restart can help: {restart}")
    for change in record.get("changed_since_good") or ():
        lines.append(f"  changed: {change['what']} {change['key']}: {change['old']!r} -> {change['new']!r}")
    lines.append("  checks:")
    lines += [f"    {row['check']}: {row['answer']}" for row in record["checks"]]
    return "\n".join(lines)
