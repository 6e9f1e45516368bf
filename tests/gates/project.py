"""A project on disk, built run by run, under a path with a space, a quote and a letter beyond ASCII."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runherd import files
from runherd.gates import CriteriaGit, Verdict, judge, load_criteria, load_runs

NOW = "2026-01-02T03:04:05Z"
COMMITTED = CriteriaGit(True, True, False, "0" * 40, "2026-01-01T00:00:00Z")


class Project:
    """Writes the records that a finished run leaves."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.layout = files.Layout(root)

    def run(
        self,
        run_id: str,
        metrics: Mapping[str, Any] | None = None,
        *,
        stage: str = "M2",
        seed: int | None = None,
        items: Sequence[Mapping[str, Any]] | None = None,
        curve: Sequence[Mapping[str, Any]] | None = None,
        validation: str | None = "PASS",
        spec: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Write result, validation, spec, items and curve of one run."""
        result = {"schema": 1, "run_id": run_id, "status": "done", "stage": stage, "seed": seed}
        result |= {"metrics": dict(metrics or {}), "identity": f"v1:{run_id}", **more}
        self.write(run_id, "result.json", json.dumps(result))
        if validation is not None:
            found = [{"rule": "leak", "level": validation, "message": "answers leak"}]
            self.write(run_id, "validation.json", json.dumps({"verdict": validation, "findings": found}))
        frozen = {
            "run_id": run_id,
            "identity": f"v1:{run_id}",
            "data": dict(spec or {"seed": seed, "params": {"variant": run_id[0]}}),
        }
        self.write(run_id, "spec.json", json.dumps(frozen))
        if items is not None:
            self.write(run_id, "items.jsonl", "".join(json.dumps(i) + "\n" for i in items))
        if curve is not None:
            self.write(run_id, "curve.jsonl", "".join(json.dumps(c) + "\n" for c in curve))

    def answers(self, run_id: str, correct: Sequence[Any], *, seed: int | None = None, **more: Any) -> None:
        """A run with one right or wrong answer per item, and the accuracy that follows."""
        groups = more.pop("groups", [None] * len(correct))
        rows = [
            {"id": f"q{i:04d}", "correct": None if c is None else bool(c), "group": g}
            for i, (c, g) in enumerate(zip(correct, groups, strict=True))
        ]
        accuracy = sum(bool(c) for c in correct) / len(correct)
        self.run(run_id, more.pop("metrics", {"accuracy": accuracy}), seed=seed, items=rows, **more)

    def scores(self, run_id: str, values: Sequence[float], *, seed: int | None = None, **more: Any) -> None:
        """A run with one score per item, and its mean as the metric `score`."""
        groups = more.pop("groups", [None] * len(values))
        rows = [
            {"id": f"q{i:04d}", "score": float(v), "group": g}
            for i, (v, g) in enumerate(zip(values, groups, strict=True))
        ]
        self.run(run_id, {"score": float(sum(values) / len(values))}, seed=seed, items=rows, **more)

    def write(self, run_id: str, name: str, text: str) -> None:
        path = self.layout.run_dir(run_id) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def criteria(self, yaml: str) -> Path:
        """Write verdict-criteria.md around the block `yaml`."""
        path = self.root / "tracker" / "verdict-criteria.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"# What we accept\n\n```yaml\n{textwrap.dedent(yaml).strip()}\n```\n", encoding="utf-8"
        )
        return path

    def judge(self, stage: str, yaml: str, git: CriteriaGit = COMMITTED) -> Verdict:
        return judge(
            stage, load_criteria(self.criteria(yaml)), load_runs(self.layout), now=NOW, git_facts=git
        )
