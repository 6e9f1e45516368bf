"""A run by what a person types: its id, or its folder."""

from __future__ import annotations

from pathlib import Path

from runherd.errors import UserError, did_you_mean
from runherd.files import Layout, decode_id
from runherd.supervise.place import Place


def find_place(root: Path, name: str) -> Place | None:
    """The run that is named; None where there is no folder of that id, and the name is no run's folder either."""
    layout = layout_of(root)
    if layout.run_dir(name).is_dir():
        return Place(layout, name)
    folder = Path(name).absolute()
    if not any((folder / record).is_file() for record in ("events.jsonl", "spec.json")):
        return None
    run_id = decode_id(folder.name)
    if layout.run_dir(run_id).resolve() == folder.resolve():
        return Place(layout, run_id)
    return Place(Layout(folder.parent.parent, runs=folder.parent.name), run_id)


def layout_of(root: Path) -> Layout:
    """Where the project keeps its runs; the usual places where its configuration cannot be read."""
    from runherd.config import load_project

    try:
        return load_project(root).layout
    except UserError:
        return Layout(root)


def near(folder: Path, name: str) -> str | None:
    """A hint for a name that no run below `folder` has: the sub-runs of a grid row, else the run most like it."""
    known = sorted(decode_id(p.name) for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []
    parts = [run_id for run_id in known if run_id.startswith(f"{name}[")]
    if parts:
        return "it is several runs; name one: " + ", ".join(parts[:8])
    like = did_you_mean(name, known)
    return f"did you mean {like!r}?" if like else None
