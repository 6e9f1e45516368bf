"""What configuration costs: a no-op over unchanged runs, and resolving runs that all changed.

    PYTHONPATH=src python benchmarks/config.py [--runs 1000]

Prints CPU seconds: the cheap keys of all rows (no YAML parser, pydantic or
Jinja2 may be loaded), the first resolve of all rows in a fresh process, and
how often each YAML file was parsed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_RUN = """\
command: python train.py --seed {{{{ seed }}}} --lr {{{{ params.lr }}}} --out {{{{ result }}}}
seed: {seed}
params:
  lr: {lr}
  width: 128
  layers: [64, 64, {seed}]
execution:
  workers: 4
  wall_time: "ceil(expected / workers) * 2 + 120"
expected: 360
"""


def make_project(root: Path, runs: int) -> None:
    (root / "configs" / "runs").mkdir(parents=True)
    project = "stages: [M0, M1]\npatterns:\n  'R*':\n    params: {a: 1}\n"
    (root / "configs" / "project.yaml").write_text(project)
    for i in range(runs):
        path = root / "configs" / "runs" / f"R{i:04}.yaml"
        path.write_text(_RUN.format(seed=i, lr=1 / (i + 1)))


_CHILD = """
import json, sys, time
from pathlib import Path
started = time.process_time()
from runherd.config import RowInput, content_key, load_project, resolve, save_cache
imported = time.process_time()
root, runs, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
project = load_project(root)
rows = [RowInput(f"R{i:04}", "M0", {"seed": str(i)}, {"System": f"s{i}"}, i) for i in range(runs)]
parsed = 0
if what == "keys":
    keys = [content_key(project, row) for row in rows]
    loaded = [m for m in ("yaml", "pydantic", "jinja2") if m in sys.modules]
else:
    from runherd.config import yamlsource
    parse = yamlsource.parse
    def counted(*args):
        global parsed
        parsed += 1
        return parse(*args)
    yamlsource.parse = counted
    save_cache(project)
    specs = [resolve(project, row) for row in rows]
    loaded = []
cpu_s = time.process_time() - imported
found = {"cpu_s": cpu_s, "import_s": imported - started, "loaded": loaded, "parsed": parsed}
print(json.dumps(found))
"""


def measure(root: Path, runs: int, what: str) -> dict[str, object]:
    command = [sys.executable, "-c", _CHILD, str(root), str(runs), what]
    out = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, object] = json.loads(out.stdout)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_project(root, args.runs)
        started = time.perf_counter()
        measure(root, args.runs, "resolve")  # also leaves the parsed project.yaml behind
        for what in ("keys", "resolve"):
            found = [measure(root, args.runs, what) for _ in range(3)]
            best = min(found, key=lambda f: float(str(f["cpu_s"])))
            print(f"{what:8} {args.runs} runs: {best}")
        print(f"in all {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
