"""From what was found to the files to write. Reads, decides, writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runherd.files import encode_id
from runherd.init import content, naming, rows
from runherd.init.content import Gate
from runherd.init.naming import Names
from runherd.init.survey import Survey, is_ignored
from runherd.plan import stages
from runherd.workflow import shipped

if TYPE_CHECKING:
    from runherd.tracker import Row


@dataclass(frozen=True)
class Planned:
    """One file to write, relative to the repository; `append` adds lines to what is there."""

    path: str
    text: str
    append: bool = False


@dataclass(frozen=True)
class Proposal:
    """What `init` proposes: new files, files that stay as they are, and what a person should know."""

    names: Names
    files: tuple[Planned, ...]
    kept: tuple[str, ...]
    needy: tuple[Row, ...]  #: rows that still need a command
    remarks: tuple[str, ...]


def propose(survey: Survey) -> Proposal:
    names = naming.choose(survey.taken, survey.config_dir, survey.snakefile)
    needy = rows.without_command(survey, names.config_dir)
    wanted = [*_workflow_files(survey, names), *_config_files(survey, names, needy)]
    files = [f for f in wanted if not survey.exists(f.path)]
    kept = [f.path for f in wanted if survey.exists(f.path)]
    if (ignore := _gitignore(survey, names)) is not None:
        files.append(ignore)
    return Proposal(names, tuple(files), tuple(kept), tuple(needy), tuple(_remarks(survey, names)))


def _workflow_files(survey: Survey, names: Names) -> list[Planned]:
    profile = (shipped("profiles") / "default" / "config.yaml").read_text()
    return [
        Planned(names.snakefile, content.snakefile(survey.tracker)),
        Planned(f"{names.profile}/config.yaml", profile),
    ]


def _config_files(survey: Survey, names: Names, needy: Sequence[Row]) -> list[Planned]:
    ids = [r.id for r in needy] or [r.id for r in survey.document.rows]
    text = content.project(survey.tracker, names, ids, len(needy), claude_md=survey.claude_md)
    files = [Planned(f"{names.config_dir}/project.yaml", text)]
    if len(needy) <= rows.MOST_STUBS:
        files += [Planned(f"{names.config_dir}/runs/{encode_id(r.id)}.yaml", content.run(r)) for r in needy]
    order = [name for series in _series(survey) for name in series]
    ids_of = {s: [r.id for r in survey.document.rows if (r.stage or stages.UNNAMED) == s] for s in order}
    files.append(Planned(survey.criteria, content.criteria(order, gates_of_plan(survey, order), ids_of)))
    return files


def _series(survey: Survey) -> list[list[str]]:
    return stages.order(r.stage or stages.UNNAMED for r in survey.document.rows)


def gates_of_plan(survey: Survey, order: Sequence[str]) -> dict[str, Gate]:
    """What the plan says about the gate of each stage; a plan that cannot be read says nothing."""
    from runherd.errors import UserError
    from runherd.tracker.plan_document import read_plan

    if survey.plan is None:
        return {}
    try:
        plan = read_plan(survey.root / survey.plan)
    except UserError:
        return {}
    found = {stage: plan.milestone(stage) for stage in order}
    return {
        stage: Gate(m.gate, tuple(content.suggestion(c, m.runs, str(survey.plan)) for c in m.criteria))
        for stage, m in found.items() if m is not None and m.gate
    }  # fmt: skip


def _gitignore(survey: Survey, names: Names) -> Planned | None:
    """Lines for .gitignore that are not there and would change something; None outside of git."""
    if not survey.in_git:
        return None
    path = survey.root / ".gitignore"
    old = path.read_text(errors="replace") if path.is_file() else ""
    present = {line.strip() for line in old.splitlines()}
    wanted = [line for line in content.ignore_lines(names) if line not in present]
    lines = [line for line in wanted if not is_ignored(survey.root, _example(line))]
    if not lines:
        return None
    gap = "\n" if old and not old.endswith("\n") else ""
    return Planned(".gitignore", gap + "\n".join(["# runherd", *lines]) + "\n", append=True)


def _example(line: str) -> str:
    """A file that the line would make git ignore."""
    return line.strip("/") + "/x" if line.endswith("/") else line.strip("/").replace("*", "x")


def _remarks(survey: Survey, names: Names) -> list[str]:
    said = []
    if survey.snakefile:
        said.append(
            f"{survey.snakefile} is a workflow of your own and stays as it is; start runherd's with: {names.start}"
        )
    if "configs" in survey.taken:
        said.append(f"configs/ is in use here, so that runherd's own files go to {names.config_dir}/")
    for kind, name in names.moved.items():
        said.append(f"{kind}/ is in use here, so that runherd writes to {name}/ (paths: in project.yaml)")
    if not survey.in_git:
        said.append("this folder is not in git: criteria cannot be shown to be older than the runs. git init")
    return said
