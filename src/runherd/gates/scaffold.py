"""Write a first verdict-criteria.md from a tracker's stages and the gates that the plan names in prose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_KINDS = (
    ("loss_decreases", r"loss\b.*(decrease|decreasing|fall|drop)|sanity|损失"),
    ("match_published", r"publish|reproduc|match|reported|±|复现"),
    ("ablation_gap", r"ablat|component|bloat|remov|消融"),
    ("claim_holds", r"beat|outperform|claim|significant|significance|margin|improv|better|超过"),
)
_TEMPLATES = {
    "loss_decreases": "- {{name: loss falls, kind: loss_decreases, runs: [{runs}]}}",
    "match_published": (
        "- {{name: reference value, kind: match_published, runs: [{runs}], metric: accuracy, "
        "value: ?, std: ?, source: ?}}"
    ),
    "claim_holds": (
        "- {{name: main claim, kind: claim_holds, method: [?], baseline: [?], metric: accuracy, "
        "margin: ?}}  # of {runs}"
    ),
    "ablation_gap": (
        "- {{name: each part is needed, kind: ablation_gap, full: [?], ablations: {{no-part: [?]}}, "
        "metric: accuracy}}  # of {runs}"
    ),
}


@dataclass(frozen=True)
class Milestone:
    """One line of a plan's table of milestones."""

    stage: str
    gate: str


def read_milestones(plan: str) -> list[Milestone]:
    """Find the table with a milestone and a gate column; an empty list when the plan has none."""
    found: list[Milestone] = []
    columns: tuple[int, int] | None = None
    for line in plan.splitlines():
        cells = [c.strip().strip("*`") for c in line.strip().strip("|").split("|")]
        if not line.strip().startswith("|"):
            columns = None
        elif columns is None:
            columns = _columns(cells)
        elif max(columns) < len(cells) and not set(cells[0]) <= set("-: "):
            found.append(Milestone(cells[columns[0]].split(" ")[0].rstrip(":"), cells[columns[1]]))
    return found


def scaffold_criteria(stages: Mapping[str, Sequence[str]], milestones: Sequence[Milestone] = ()) -> str:
    """Text of a criteria file that loads as it is.

    `stages` maps each stage to its run ids. Where a threshold is needed that
    nobody has written down yet, the criterion is a comment to be filled in
    and the stage asks for its MUST runs meanwhile.
    """
    gates = {m.stage: m.gate for m in milestones}
    lines = ["alpha: 0.05", "stages:"]
    for stage, runs in stages.items():
        gate = gates.get(stage, "")
        lines += [f"  # {stage}: {_one_line(gate)}"] if gate else []
        lines += [f"  {_quoted(stage)}:", *_entries(gate, [_quoted(r) for r in runs])]
    block = "\n".join(lines) if stages else "alpha: 0.05\nstages: {}"
    return _PROSE.format(block=block)


_PROSE = """# Verdict criteria

What each stage must show before the next one starts. Written before the results, and committed:
a verdict says when this file was changed after a result was in. Question marks are thresholds that
only you can set; take the `#` away when you have.

```yaml
{block}
```
"""


def _columns(header: Sequence[str]) -> tuple[int, int] | None:
    lower = [c.lower() for c in header]
    stage = next(
        (i for i, c in enumerate(lower) if "milestone" in c or c in ("stage", "phase", "里程碑")), None
    )
    gate = next((i for i, c in enumerate(lower) if "gate" in c or "criteri" in c or "判据" in c), None)
    return None if stage is None or gate is None else (stage, gate)


def _entries(gate: str, runs: Sequence[str]) -> list[str]:
    kind = next((k for k, pattern in _KINDS if re.search(pattern, gate, re.IGNORECASE)), None)
    done = "    - {kind: all_done}"
    if kind is None:
        return [done]
    line = _TEMPLATES[kind].format(runs=", ".join(runs))
    return [f"    {line}", done] if "?" not in line and runs else [f"    # {line}", done]


def _quoted(text: str) -> str:
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", text) and text.lower() not in (
        "y",
        "n",
        "yes",
        "no",
        "on",
        "off",
    )
    return text if plain and text.lower() not in ("true", "false", "null") else '"' + _escape(text) + '"'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
