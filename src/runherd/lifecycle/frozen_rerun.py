"""Repeat a finished run from its frozen spec and recorded commit, in a record of its own, and compare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runherd import git
from runherd.config import ProjectConfig, Spec
from runherd.errors import fail
from runherd.files import Layout, encode_id, read_object
from runherd.lifecycle.frozen import frozen_spec
from runherd.steps.launch_spec import launch_spec
from runherd.supervise.place import Place


@dataclass(frozen=True)
class Comparison:
    """Metrics of the first run and of its repetition; `equal` only when all of them are the same."""

    run_id: str
    again_id: str
    rows: tuple[tuple[str, Any, Any], ...]
    notes: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return bool(self.rows) and all(a == b for _, a, b in self.rows)


def rerun_frozen(project: ProjectConfig, run_id: str) -> Comparison:
    """Run it again; waits for the end. Raises `UserError` when there is nothing to repeat, or no such commit."""
    layout = project.layout
    place = Place(layout, run_id)
    ended = place.history().ended
    if ended is None or ended.status != "done":
        raise fail(f"{run_id} has no finished record to repeat", hint="runherd status")
    record = frozen_spec(place)
    result = read_object(layout.record(run_id, "result")) or {}
    again = next(f"{run_id}@frozen{i}" for i in range(1, 1000) if not layout.run_dir(f"{run_id}@frozen{i}").exists())
    code = result.get("git") or {}
    notes = []
    if code.get("dirty"):
        notes.append(f"the tree had uncommitted changes when {run_id} ran: the commit alone is repeated")
    _refuse_the_same_file(layout, run_id, record["data"], at_a_commit=bool(code.get("revision")))
    tree = _checkout(layout, run_id, str(code.get("revision") or ""), notes)
    data = {**record["data"], "output": {**(record["data"].get("output") or {}), "checkpoint": None}}
    spec = replace(Spec.from_json({**record, "data": data}), run_id=again)  # resumes from nothing of the first one
    try:
        launch_spec(spec, project, code_root=str(tree) if tree else None)
    finally:
        if tree is not None:
            _git(layout.root, "worktree", "remove", "--force", str(tree))
    new = read_object(layout.record(again, "result")) or {}
    old_metrics, new_metrics = result.get("metrics") or {}, new.get("metrics") or {}
    keys = sorted(old_metrics.keys() | new_metrics.keys())
    rows = tuple((k, old_metrics.get(k), new_metrics.get(k)) for k in keys)
    if new.get("status") != "done":
        notes.append(f"the repetition ended {new.get('status')}: {new.get('note')}")
    return Comparison(run_id, again, rows, tuple(notes))


def _refuse_the_same_file(layout: Layout, run_id: str, data: dict[str, Any], *, at_a_commit: bool) -> None:
    """Raise `UserError` where the repetition would write its result over the file that the first run wrote.

    A name with a placeholder differs by run, a relative one lies in the checkout of the commit.
    """
    named = str((data.get("output") or {}).get("result") or "")
    path = layout.root / Path(named).expanduser()
    if "{" in named or not named or not path.exists() or (at_a_commit and not Path(named).expanduser().is_absolute()):
        return
    raise fail(
        "the repetition would overwrite the result file of the first run", where="output.result", value=named,
        allowed="a path that differs by run, as {{ work }}/result.json",
        hint=f"move {path} aside first; what {run_id} came to stays in its record",
    )  # fmt: skip


def _checkout(layout: Layout, run_id: str, revision: str, notes: list[str]) -> Path | None:
    """A worktree of the recorded commit for the program alone; None where none was recorded."""
    if not revision:
        notes.append("no commit was recorded: the present code is used")
        return None
    tree = layout.state / "frozen" / f"{encode_id(run_id)}-{revision[:12]}"
    if not tree.exists():
        _git(layout.root, "worktree", "prune")
        done = _git(layout.root, "worktree", "add", "--detach", "--force", str(tree), revision)
        if not done.ok:
            raise fail(
                "the recorded commit cannot be checked out", value=revision, where=str(layout.root),
                hint=done.error.splitlines()[-1] if done.error else "git fetch",
            )  # fmt: skip
    prefix = _git(layout.root, "rev-parse", "--show-prefix").output.strip()
    return tree / prefix


def _git(root: Path, *words: str) -> git.Answer:
    return git.ask(root, *words, timeout_s=120)
