"""A mistake in a project's own signatures: refused before a launch, and no more than a warning at night."""

from __future__ import annotations

import sys
from collections.abc import Callable

from flowkit import Project, Row

Make = Callable[..., Project]

GOOD = "- {id: licence, class: ENVIRONMENT, cause: no licence, match: ['LicenseError: none left']}\n"
BAD = "- {id: licence, class: LICENSE, cause: no licence, match: ['Lic(']}\n"
#: Spoils its project's signatures, runs out of memory once, then goes on to a result.
PROGRAM = """\
import json, pathlib, sys
root, run_id, out = pathlib.Path.cwd(), sys.argv[1], pathlib.Path(sys.argv[2])
(root / "causes 'ü'.yaml").write_text((root / "bad.txt").read_text())
print("step 1/2", flush=True)
first = root / f"control/{run_id}.first"
if run_id != "R001" or not first.exists():
    first.write_text("")
    raise SystemExit("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB." if run_id == "R001" else "KeyError: 'a'")
out.parent.mkdir(parents=True, exist_ok=True)
out.write_text(json.dumps({"metrics": {"accuracy": 0.9}, "complete": True}))
"""


def test_spoilt_at_night_nothing_stops_for_it(make: Make) -> None:
    """The file is spoilt while the runs are at work: memory is healed, a bug is told, each with a warning."""
    command = [sys.executable, "own.py", "{{ run_id }}", "{{ result }}"]
    settings = {
        "command": command, "heal": {"oom_wait_s": 0}, "dryrun": {"skip": "it is short"},
        "execution": {"python": sys.executable}, "monitor": {"interval_s": 1, "signatures": "causes 'ü'.yaml"},
    }  # fmt: skip
    project = make([Row("R001"), Row("R002")], runs={"*": settings})
    (project.root / "own.py").write_text(PROGRAM)
    (project.root / "bad.txt").write_text(BAD)
    (project.root / "causes 'ü'.yaml").write_text(GOOD)
    said = project.snakemake().failed().text
    assert project.cell("R001") == "DONE" and project.cell("R002") == "BLOCKED", said
    assert [e["cls"] for e in project.kinds("R001", "judged")] == ["OOM", ""]
    warning = "causes 'ü'.yaml:1: licence: unknown class (LICENSE)"
    assert warning in project.log("R001") and "what ships is used" in project.log("R001")
    assert warning in project.notes("R002") and "UNSETTLED" not in project.notes("R002")
    record = project.record("R002", "diagnosis")
    assert record["class"] == "CODE_BUG" and len(record["warnings"]) == 1 and warning in record["warnings"][0]
    page = project.runherd("diagnose", "R002")
    assert page.code == 1 and f"  warning: monitor.signatures: {project.root}/{warning}" in page.text
    for run_id, code in (("R001", 0), ("R002", 4)):
        looked = project.runherd("monitor", run_id)
        assert looked.code == code and warning in looked.text, looked.text
    project.set_cell("R002", "TODO")
    refused = project.runherd("preflight")
    assert refused.code == 2 and "STOP: causes 'ü'.yaml:1: licence: unknown class" in refused.text, refused.text
