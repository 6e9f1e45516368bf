"""How long it takes to read a tracker of 10,000 rows, and to write one cell of it.

    python benchmarks/tracker.py [--rows N] [--repeat N] [--json]

Beside it the same file is read by a naive regular expression (which knows
neither escapes, nor fences, nor headers) and by markdown-it-py's table parser,
where that is installed. Times are the best of the repeats, in seconds; the exit code
is 1 when a limit on the wall time is passed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from runherd.tracker import Status, Update, parse, update

PARSE_LIMIT_S = 0.5
UPDATE_LIMIT_S = 0.1


HEADER = (
    "Run ID",
    "Milestone",
    "Purpose",
    "System / Variant",
    "Split",
    "Metrics",
    "Priority",
    "Status",
    "Notes",
)
STATUSES = ("TODO", "DONE", "RUNNING", "BLOCKED by R00001", "done", "**DONE**")


def make_tracker(rows: int) -> bytes:
    """Return a tracker in the nine-column template with some code, bold and escapes in it."""
    lines = ["# Grid", "", "| " + " | ".join(HEADER) + " |", "|---" * len(HEADER) + "|"]
    for i in range(rows):
        priority = "MUST" if i % 3 else "NICE"
        system, notes = (
            f"`probe-{i % 7}` lr=0.{i % 9}",
            f"see log {i}" + (" (a \\| b)" if i % 50 == 0 else ""),
        )
        cells = (
            f"R{i:05d}",
            f"M{i // 2500}",
            f"seed {i % 10} of the grid",
            system,
            "val",
            "acc, f1",
            priority,
        )
        lines.append("| " + " | ".join((*cells, STATUSES[i % 6], notes)) + " |")
    return ("\n".join(lines) + "\n").encode()


NAIVE = re.compile(r"^\|([^|\n]*)\|([^|\n]*)\|.*\|([^|\n]*)\|([^|\n]*)\|$", re.M)


def naive(data: bytes) -> int:
    """Count the rows that a one-line regular expression finds: id, stage, status, notes."""
    return sum(1 for m in NAIVE.finditer(data.decode()) if m[1].strip().startswith("R0"))


def markdown_it(data: bytes) -> int | None:
    """Count the rows that markdown-it-py finds; None where it is not installed."""
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        return None
    tokens = MarkdownIt("commonmark").enable("table").parse(data.decode())
    return sum(token.type == "tr_open" for token in tokens) - 1


def best(call: Callable[[], Any], repeat: int) -> dict[str, float]:
    """Return the best wall and CPU time; on a busy machine the two differ."""
    wall, cpu = [], []
    for _ in range(repeat):
        began, used = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - used)
    return {"wall": min(wall), "cpu": min(cpu)}


def measure(rows: int, repeat: int) -> dict[str, Any]:
    """Return the times and what each reader found."""
    data = make_tracker(rows)
    found = {"runherd": len(parse(data).rows), "naive regex": naive(data), "markdown-it": markdown_it(data)}
    times = {"parse": best(lambda: parse(data), repeat), "naive regex": best(lambda: naive(data), repeat)}
    if found["markdown-it"] is not None:
        times["markdown-it"] = best(lambda: markdown_it(data), max(1, repeat // 3))
    with tempfile.TemporaryDirectory(prefix="run herd ") as folder:
        path = Path(folder) / "TRACKER.md"
        path.write_bytes(data)
        turn = iter(range(10**9))
        run_id = f"R{rows // 2:05d}"
        times["update"] = best(
            lambda: update(path, [Update(run_id, Status.RUNNING, note=f"attempt {next(turn)}")]), repeat
        )
    return {"schema": 1, "rows": rows, "bytes": len(data), "found": found, "seconds": times}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = measure(arguments.rows, arguments.repeat)
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        seconds = result["seconds"]
        print(f"{result['rows']} rows, {result['bytes'] / 1e6:.1f} MB; found: {result['found']}")
        for name, value in seconds.items():
            ratio = value["wall"] / seconds["naive regex"]["wall"]
            times = f"{value['wall']:7.3f} s wall {value['cpu']:7.3f} s cpu"
            print(f"  {name:12} {times} {ratio:6.1f} x naive regex")
        print(f"  limits: parse {PARSE_LIMIT_S} s, update {UPDATE_LIMIT_S} s")
    walls = {name: value["wall"] for name, value in result["seconds"].items()}
    return 0 if walls["parse"] < PARSE_LIMIT_S and walls["update"] < UPDATE_LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
