"""The standard library alone reads the same: values, NaN, cut lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys
if sys.argv[1] == "without":
    sys.modules["orjson"] = None
from pathlib import Path
from runherd.collect import collect
for name in sys.argv[3:]:
    path = Path(sys.argv[2]) / name
    got = collect({}, path.parent, path.parent / "log", 0.0, path, record_dir=path.parent / "records")
    items = got.items.read_text() if got.items else ""
    print(json.dumps([name, got.metrics, got.n_items, got.missing, got.findings_json(), items]))
"""


def test_same_without_orjson(tmp_path: Path) -> None:
    """Items, metrics, findings and refusals do not depend on the quick reader."""
    items = [
        {"id": f"é{i}", "response": "A", "correct": i % 2 == 0, "n": [i, {"x": None}]} for i in range(5000)
    ]
    lines = [json.dumps(i) for i in items]
    odd = [*lines[:9], '{"id": "nan", "response": "A", "correct": true, "score": NaN}', *lines[9:]]
    files = {
        "a.json": json.dumps({"per_item": items}),
        "nan.json": '{"metrics": {"x": NaN}, "per_item": [' + ", ".join(odd) + "]}",
        "a.jsonl": "\n".join(lines) + "\n",
        "nan.jsonl": "\n".join(odd) + "\n",
        "cut.jsonl": "\n".join(lines)[:-9],
        "bad.jsonl": "\n".join([*lines[:4], "{bad", *lines[4:]]) + "\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    outs = []
    for how in ("with", "without"):
        command = [sys.executable, "-c", PROGRAM, how, str(tmp_path), *files]
        outs.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())
    pairs = [(json.loads(a), json.loads(b)) for a, b in zip(*outs, strict=True)]
    for quick, plain in pairs:
        rows = [[json.loads(line) for line in record[5].splitlines()] for record in (quick, plain)]
        assert quick[:5] == plain[:5] and rows[0] == rows[1]
    got = {record[0]: record for record, _ in pairs}
    assert got["nan.json"][2] == 5001 and got["nan.json"][4][0]["evidence"] == {"count": 2}
    assert "last line (5000) is cut" in got["cut.jsonl"][3] and "not JSON: 5" in got["bad.jsonl"][3]
