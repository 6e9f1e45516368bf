"""The cheap key: no parser is loaded, and equal keys mean equal identity."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runherd.config import ProjectConfig, RowInput, content_key, layerfiles, load_project, resolve, save_cache

Write = Callable[..., ProjectConfig]

FILES = {
    "configs/project.yaml": "patterns:\n  'R*': {params: {a: 1}}\nclaude_md: CLAUDE.md\n",
    "configs/_defaults/global.yaml": "params: {g: 1}\n",
    "configs/_defaults/rtv.yaml": "params: {b: 1}\n",
    "configs/_defaults/models/qwen.yaml": "params: {m: 1}\n",
    "configs/runs/R001.yaml": "command: x {{ params.a }}\nconfig_file: own/c.yaml  # the program's\n",
    "own/c.yaml": "free: 1\n",
    "CLAUDE.md": "- conda: a\n",
}
ROW = RowInput("R001", "M0", {"benchmark": "rtv", "model": "qwen", "seed": "1"}, {"System": "s"}, 4)


def test_a_no_op_loads_no_parser(write: Write, root: Path) -> None:
    """Loading the project and keying a row imports neither yaml nor pydantic nor Jinja2."""
    save_cache(write(FILES))
    code = (
        "import sys; from pathlib import Path\n"
        "from runherd.config import RowInput, content_key, expand, load_project\n"
        "p = load_project(Path(sys.argv[1])); row = RowInput('R001', 'M0', {'seed': '1'}, {}, 4)\n"
        "assert [r.id for r in expand(p, row)] == ['R001']\n"
        "content_key(p, row)\n"
        "print([m for m in ('yaml', 'pydantic', 'jinja2', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [*FILES, "configs/runs/R001.yaml:delete"])
def test_every_file_that_takes_part_changes_the_key(write: Write, root: Path, name: str) -> None:
    """A change in any layer file, or in the program's own config, gives another key."""
    before = content_key(write(FILES), ROW)
    assert content_key(load_project(root), ROW) == before
    path = root / name.removesuffix(":delete")
    if name.endswith(":delete"):
        path.unlink()
    else:
        path.write_text(path.read_text() + "# changed\n")
    assert content_key(load_project(root), ROW) != before


@pytest.mark.parametrize(
    ("row", "same"),
    [
        (
            RowInput(
                "R001", "M0", {**ROW.cells, "status": "DONE", "result": "9", "notes": "n"}, {"System": "s"}, 9
            ),
            True,
        ),
        (RowInput("R001", "M0", ROW.cells, {"System": "s", "Status": "DONE", "Result": "1"}, 4), True),
        (RowInput("R001", "M1", ROW.cells, {"System": "s"}, 4), False),
        (RowInput("R001", "M0", {**ROW.cells, "seed": "2"}, {"System": "s"}, 4), False),
        (RowInput("R001", "M0", ROW.cells, {"System": "t"}, 4), False),
        (RowInput("R002", "M0", ROW.cells, {"System": "s"}, 4), False),
        (RowInput("R001[seed=2]", "M0", ROW.cells, {"System": "s"}, 4, "R001", {"seed": 2}), False),
    ],
)
def test_what_runherd_writes_into_a_row_does_not_change_its_key(
    write: Write, row: RowInput, same: bool
) -> None:
    """Status, result and notes are ours; every other cell counts."""
    project = write(FILES)
    assert (content_key(project, row) == content_key(project, ROW)) is same


def test_the_command_line_counts(write: Write) -> None:
    """Settings from the command line are part of the key."""
    project = write(FILES)
    assert content_key(project, ROW, {"execution.workers": 2}) != content_key(project, ROW)


@pytest.mark.parametrize(
    "text",
    [
        "config_file: own/c.yaml\n",
        "config_file: 'own/c.yaml'\n",
        'config_file: "own/c.yaml" # x\n',
        "config_file: own/{{ run_id }}.yaml\n",
        "{config_file: own/c.yaml, seed: 1}\n",
        "config_file: >-\n  own/c.yaml\n",
        '"config_file": own/c.yaml\n',
        "x: &a own/c.yaml\nconfig_file: *a\n",
    ],
)
def test_the_programs_config_counts_however_it_is_written(write: Write, root: Path, text: str) -> None:
    """The own config of a program changes the key in every way of naming it in YAML."""
    params = text.replace("x: &a own/c.yaml", "params: {x: &a own/c.yaml}")
    project = write({"configs/runs/R001.yaml": params, "own/c.yaml": "1", "own/R001.yaml": "1"})
    row = RowInput("R001")
    before, frozen = content_key(project, row), resolve(project, row)
    assert content_key(load_project(root), row) == before
    for name in ("own/c.yaml", "own/R001.yaml"):
        (root / name).write_text("2")
    now = load_project(root)
    assert content_key(now, row) != before
    assert resolve(now, row).identity != frozen.identity


def test_patterns_and_cells_may_name_it_too(write: Write, root: Path) -> None:
    """A config named by a pattern or by the row's own cell counts as well."""
    files = {
        "configs/project.yaml": "patterns:\n  'R*':\n    config_file: own/c.yaml\n",
        "own/c.yaml": "1",
        "own/d.yaml": "1",
    }
    for row in (RowInput("R001"), RowInput("R001", None, {"config_file": "own/d.yaml"})):
        before = content_key(write(files), row)
        changed = "own/d.yaml" if row.cells else "own/c.yaml"
        (root / changed).write_text("2")
        assert content_key(load_project(root), row) != before


def test_files_are_read_again_only_when_they_change(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settled file is read once; a new content is seen even with the old size."""
    import os

    path = root / "a.yaml"
    path.write_text("a: 1\n")
    os.utime(path, (1, 1))
    first = layerfiles.read(path)
    assert layerfiles.read(path) is first
    path.write_text("a: 2\n")
    second = layerfiles.read(path)
    assert second is not None and second.data == b"a: 2\n"
    assert layerfiles.read(root / "none.yaml") is None
