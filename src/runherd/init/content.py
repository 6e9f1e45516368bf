"""The text of every file that `init` may write. Pure: takes what was found, returns text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runherd.init import rows
from runherd.init.naming import Names

if TYPE_CHECKING:
    from runherd.tracker import Row
    from runherd.tracker.comparators import Comparator

_YAML_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
EXAMPLE_COMMAND = "python train.py --seed {{ seed }} --out {{ result }}"


def snakefile(tracker: str) -> str:
    return f"""\
# runherd carries the runs of {tracker} through. The rules come with the
# installed package, so that an upgrade by pip needs no change here.
from runherd.workflow import snakefile


module herd:
    snakefile:
        snakefile()
    config:
        config


use rule * from herd
"""


def project(tracker: str, names: Names, ids: Sequence[str], needy: int, *, claude_md: bool) -> str:
    """project.yaml: the tracker, moved folders, and a pattern to fill in."""
    lines = [
        "# What holds for the whole project. Every key is optional: docs/configuration.md explains each.",
        f"tracker: {_text(tracker)}",
    ]
    if names.moved:
        lines += ["", "# Folders of this repository have these names already, so that runherd uses its own."]
        lines += ["paths:", *(f"  {kind}: {name}" for kind, name in names.moved.items())]
    if claude_md:
        said = "# Settings in CLAUDE.md (gpu, wandb, conda, code dir) can be the lowest layer:"
        lines += ["", said, "# claude_md: CLAUDE.md"]
    many = f": {needy} have no command yet" if needy > rows.MOST_STUBS else ""
    lines += [
        "",
        f"# How runs are started, many at once{many}.",
        "# Words in {{ }} are filled in and quoted: run_id, seed, result, workdir, checkpoint, resume,",
        '# limit, gpus, workers, params.NAME, row["Column of the tracker"].',
        '# The program writes its result, a JSON object with "metrics", to {{ result }}.',
        "# patterns:",
        f"#   {_text(rows.glob(ids))}:",
        f'#     command: "{EXAMPLE_COMMAND}"',
        "#     dryrun:",
        "#       limit: 2 # how many items a trial before the launch takes: the command needs {{ limit }} for it",
    ]
    return "\n".join(lines) + "\n"


def run(row: Row) -> str:
    """A run's own file: what the tracker says about it, and a command to fill in."""
    said = [row.cells.get(role) for role in ("purpose", "system", "split", "metric")]
    about = " · ".join(" ".join(text.split()) for text in [row.stage, *said] if text)
    return f"""\
# {row.id}{": " + about if about else ""}
# Fill in how it is started, and take the # away.
# command: "{EXAMPLE_COMMAND}"
# seed: 0
# expected: 100 # how many items its result must hold
"""


@dataclass(frozen=True)
class Gate:
    """What a plan says about a stage's gate: its words, and criteria that they suggest (one line of YAML each)."""

    text: str
    suggestions: tuple[str, ...] = ()


def suggestion(found: Comparator, runs: Sequence[str], plan: str) -> str:
    """A criterion that a clear comparator of the plan suggests; a person decides about it."""
    percent = {"unit": "percent"} if found.unit == "%" else {}
    lower = {"higher_is_better": "false"} if found.operator.startswith("<") else {}
    parts = {
        "kind": "match_published", "runs": f"[{', '.join(map(_text, runs)) or 'R001'}]", "metric": _text(found.metric),
        "value": f"{found.value:g}", "tolerance": f"{abs(found.value) * 0.01 or 0.01:g}", "at_least": "true", **percent,
        **lower, "source": _text(plan),
    }  # fmt: skip
    return "{" + ", ".join(f"{k}: {v}" for k, v in parts.items()) + "}"


def criteria(stages: Sequence[str], gates: Mapping[str, Gate], ids: Mapping[str, list[str]]) -> str:
    """verdict-criteria.md: every stage waits for its MUST runs; what else it should show is for a person to write."""
    quoted = [f"- **{_prose(stage)}**: {_prose(gate.text)}" for stage, gate in gates.items()]
    plan = ["What the plan says about each gate, as written there:", "", *quoted, ""] if quoted else []
    blocks = []
    for stage in stages:
        blocks += [f"  {_text(stage)}:", "    - kind: all_done"]
        suggested = gates[stage].suggestions if stage in gates else ()
        blocks += [f"    # suggested by the plan; is it meant so? - {line}" for line in suggested]
    first = next((i for i in ids.values() if i), ["R001"])
    return "\n".join(
        [
            "# Verdict criteria",
            "",
            "What each stage has to show before the next one starts. Write and commit the thresholds before the runs "
            "that they judge; `docs/gates.md` explains every kind.",
            "",
            *plan,
            "```yaml",
            "alpha: 0.05",
            "stages:",
            *blocks,
            "# More kinds, to be put under a stage:",
            f"#   - {{kind: loss_decreases, runs: [{_text(first[0])}]}}",
            "#   - {kind: match_published, runs: [R002], metric: accuracy, value: 0.97, std: 0.01, source: paper}",
            "#   - {kind: claim_holds, method: [R005], baseline: [R004], metric: accuracy, margin: 0.01}",
            "#   - {kind: ablation_gap, full: [R005], ablations: {part: [R006]}, metric: accuracy}",
            "```",
            "",
        ]
    )


def ignore_lines(names: Names) -> list[str]:
    """What git should not see. Published results, verdicts and the criteria are small, and worth committing.

    The pass file of a gate is Snakemake's output: a checkout must not make one appear or look new.
    """
    paths = names.paths
    return [".snakemake/", ".runherd/", f"/{paths['runs']}/", f"/{paths['report']}/", f"/{paths['gates']}/*.passed"]


def _text(value: str) -> str:
    """A YAML scalar that is read back as this text, plain where it can be."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_./-]*", value) and value.lower() not in _YAML_WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


def _prose(text: str) -> str:
    return " ".join(text.split()).replace("```", "'''")
