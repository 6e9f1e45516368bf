"""Validate 1,000,000 items as JSONL and as JSON, beside a plain `json` program that computes the same.

Run: PYTHONPATH=src python benchmarks/validate.py [ITEMS]
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PLAIN = """
import json, sys
from collections import Counter, defaultdict
if sys.argv[1].endswith(".jsonl"):
    with open(sys.argv[1]) as f:
        items = [json.loads(line) for line in f]
else:
    with open(sys.argv[1]) as f:
        items = json.load(f)["per_item"]
nulls = [i for i in items if i.get("response") is None]
reasons = Counter(i.get("null_reason", "unknown") for i in nulls)
valid = [i for i in items if i.get("response") is not None]
raw = sum(1 for i in items if i.get("correct")) / len(items)
good = sum(1 for i in valid if i.get("correct")) / len(valid)
answers = Counter(i.get("response", "") for i in items if i.get("response"))
ids = Counter(i.get("id") for i in items)
double = sum(n - 1 for n in ids.values())
empty = sum(1 for i in valid if not i["response"].strip())
tasks = defaultdict(lambda: [0, 0])
for i in valid:
    t = tasks[i.get("task_type", "unknown")]
    t[1] += 1
    t[0] += bool(i.get("correct"))
leak = sum(1 for i in items if i.get("task_type") == "EPM" and i.get("max_time") is None)
print(len(items), len(nulls), raw, good, answers.most_common(1), double, empty, leak, dict(tasks))
"""
OURS = """
import sys
from pathlib import Path
from runherd.validate import validate_file
from runherd.validate.page import page
got, form = validate_file(Path(sys.argv[1]), section={"leak": ["EPM"]})
print(page(got, form))
"""
MEASURE = """
import resource, subprocess, sys, time
begin = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - begin, used.ru_maxrss / 1024, code, used.ru_utime + used.ru_stime)
"""


def write(count: int, folder: Path) -> list[Path]:
    """Write the same items in both forms."""
    rng = random.Random(7)
    jsonl, plain = folder / "items.jsonl", folder / "items.json"
    with jsonl.open("w") as a, plain.open("w") as b:
        b.write('{"per_item": [')
        for i in range(count):
            item = {
                "id": f"question-{i}",
                "task_type": ("EPM", "OCR", "ACT", "ASI")[i % 4],
                "response": None if rng.random() < 0.01 else rng.choice("ABCD"),
                "correct": rng.random() < 0.6,
                "max_time": 12.5,
                "realtime": 12.5,
                "prompt": "What happens in the scene before the person turns to the left?",
            }
            text = json.dumps(item)
            a.write(text + "\n")
            b.write((", " if i else "") + text)
        b.write("]}")
    return [jsonl, plain]


def measure(program: str, path: Path) -> tuple[float, float, float]:
    """Return (CPU seconds, MiB at the peak, seconds), the middle of three by CPU time."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    runs = []
    for _ in range(3):
        command = [sys.executable, "-c", MEASURE, sys.executable, "-c", program, str(path)]
        out = subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout.split()
        assert out[2] == "0"
        runs.append((float(out[3]), float(out[1]), float(out[0])))
    return sorted(runs)[1]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        for path in write(count, Path(folder)):
            ours, plain = measure(OURS, path), measure(PLAIN, path)
            print(
                f"{path.suffix:<6} {count} items, {path.stat().st_size / 2**20:.0f} MiB: "
                f"runherd {ours[0]:.2f} s CPU, {ours[1]:.0f} MiB; "
                f"plain {plain[0]:.2f} s CPU, {plain[1]:.0f} MiB; "
                f"{plain[0] / ours[0]:.2f} times as fast"
            )


if __name__ == "__main__":
    main()
