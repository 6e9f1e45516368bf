"""A project with invented but realistic records: done, blocked, running, foreign and open runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from runherd import files

NOW = "2031-05-04T09:00:00Z"
Rows = list[dict[str, Any]]

TRACEBACK = """Traceback (most recent call last):
  File "model.py", line 61, in build_model
    size = options["width"]
KeyError: 'width'"""


class Project:
    """A layout, the rows of its plan, and short ways to write its records."""

    def __init__(self, root: Path) -> None:
        self.layout = files.Layout(root)
        self.rows: Rows = []

    def row(self, run_id: str, stage: str, status: str, **more: Any) -> None:
        self.rows.append({"id": run_id, "stage": stage, "status": status, "priority": "MUST", **more})

    def record(self, run_id: str, kind: str, **fields: Any) -> None:
        files.write_json(self.layout.record(run_id, kind), {"schema": 1, "run_id": run_id, **fields})

    def gate(self, stage: str, verdict: str, checks: list[dict[str, Any]], **more: Any) -> None:
        criteria = {
            "file": "tracker/verdict-criteria.md",
            "sha256": "ab" * 32,
            "committed": True,
            "dirty": False,
        }
        sentence = "; ".join(f"{c['name']}: {c['sentence']}" for c in checks)
        record = {
            "schema": 1,
            "stage": stage,
            "verdict": verdict,
            "sentence": f"{stage} {verdict}: {sentence}",
            "judged_at": "2031-05-04T08:40:00Z",
            "criteria": criteria,
            "checks": checks,
            **more,
        }
        files.write_json(self.layout.gate_verdict(stage), record)

    def curve(self, run_id: str, first: float, rate: float, steps: int = 4000) -> None:
        lines = [
            {"step": s, "loss": first * math.exp(-rate * s) + 0.02 + 0.004 * math.sin(s)}
            for s in range(20, steps + 1, 20)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        files.write_atomic(self.layout.run_dir(run_id) / "curve.jsonl", text)

    def done(self, run_id: str, stage: str, accuracy: float, **row: Any) -> None:
        """A finished run with all its records."""
        self.row(run_id, stage, "DONE", **row)
        self.record(
            run_id,
            "result",
            status="done",
            metrics={"final_loss": 0.0231, "accuracy": accuracy},
            n_items=899,
            expected=899,
            attempts=1,
            seed=0,
            git={"revision": "0123456789abcdef", "dirty": False},
        )
        self.record(run_id, "validation", verdict="PASS", findings=[])
        self.record(run_id, "cost", status="completed", wall_clock_seconds=3720.4, gpu_hours=1.03)


def check(name: str, kind: str, verdict: str, sentence: str, **more: Any) -> dict[str, Any]:
    evidence = [{"path": "runs/R001/result.json", "sha256": "cd" * 32}]
    return {
        "name": name,
        "kind": kind,
        "verdict": verdict,
        "sentence": sentence,
        "evidence": evidence,
        **more,
    }


def invent(root: Path) -> Project:
    """Runs in three stages: M0 passed, M1 not decided, M2 with a blocked, a running and open runs."""
    root.mkdir()
    p = Project(root)
    p.done("R001", "M0", 0.8911, purpose="sanity: the loss falls", system="method, 400 steps")
    p.curve("R001", 2.2, 0.008, 400)
    p.gate(
        "M0",
        "PASS",
        [check("the loss falls", "loss_decreases", "PASS", "the loss of R001 falls from 1.9 to 0.1")],
    )
    for i, (accuracy, name) in enumerate(
        [(0.936, "baseline"), (0.937, "baseline"), (0.966, "method"), (0.969, "method")]
    ):
        run_id = f"R{i + 2:03d}"
        p.done(run_id, "M1", accuracy, purpose=f"{name}, seed {i % 2}", system=f"{name}: 2 hidden layers")
        p.curve(run_id, 2.2, 0.002 + 0.001 * (name == "method"))
    p.record(
        "R003",
        "validation",
        verdict="WARN",
        findings=[{"rule": "429", "level": "WARN", "message": "2.4 % of the calls were answered 429"}],
    )
    p.record(
        "R003", "result", status="done", metrics={"accuracy": 0.937}, n_items=899, expected=899, attempts=3
    )
    p.gate(
        "M1",
        "INCONCLUSIVE",
        [
            check(
                "the method beats the baseline",
                "claim_holds",
                "INCONCLUSIVE",
                "accuracy: method 0.9675 against baseline 0.9365, "
                "gain +0.0310 (95 % interval −0.002 to +0.064): not significant",
                numbers={"gain": 0.031, "margin": 0.02, "p": 0.07},
                interval={"low": -0.002, "high": 0.064, "level": 0.95},
                action="diagnose the runs before changing the method",
            ),
            check("all MUST runs done", "all_done", "PASS", "all 4 runs done and valid"),
        ],
    )
    blocked(p)
    p.row("R007", "M2", "RUNNING", purpose="ablation: no augmentation", system="method − distortions")
    p.record("R007", "cost", status="running", started_at="2031-05-04T07:48:30Z")
    p.curve("R007", 2.0, 0.002, 1800)
    p.row(
        "R008",
        "M2",
        "DONE",
        purpose="from last year",
        system="method",
        priority="SHOULD",
        notes="acc 0.95, see the old log",
    )
    p.row(
        "R009",
        "M2",
        "TODO",
        purpose="消融实验：没有隐藏层",
        system="softmax",
        notes="waits for a person",
        priority="NICE",
    )
    return p


def blocked(p: Project) -> None:
    p.row("R006", "M2", "BLOCKED", purpose="ablation: no hidden layers", system="method − hidden layers")
    p.record("R006", "result", status="blocked", metrics={}, attempts=2, diagnosis="KeyError: 'width'")
    p.record("R006", "cost", status="failed", wall_clock_seconds=64.2, gpu_hours=0.02)
    p.record(
        "R006",
        "diagnosis",
        **{
            "class": "CODE_BUG",
            "signature": "python-traceback",
            "confidence": 0.98,
            "summary": "KeyError 'width' in build_model, examples/model.py:61",
            "exception": {"type": "KeyError", "message": "'width'", "file": "examples/model.py", "line": 61},
            "evidence": [
                {
                    "file": "runs/R006/attempts/2/log.txt",
                    "line": 184,
                    "text": TRACEBACK,
                }
            ],
            "first_cause": "the option was renamed from `hidden` in the last commit",
            "checks": [
                {"check": "data", "answer": "899 items read"},
                {"check": "gradients", "answer": "not checked"},
            ],
            "suggestion": "Give `params.width`, or read the option with a default",
            "restart_can_help": False,
        },
    )
