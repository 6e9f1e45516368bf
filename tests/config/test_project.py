"""The project file: defaults, overrides, errors, and the copy that spares a parser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runherd.config import ProjectConfig, load_project, save_cache, shipped_defaults_dir
from runherd.errors import UserError

Write = Callable[..., ProjectConfig]


def test_every_key_is_optional(write: Write) -> None:
    """Without a file the project has the documented places."""
    project = write({})
    assert project.tracker == "tracker/EXPERIMENT_TRACKER.md"
    assert project.plan == "tracker/EXPERIMENT_PLAN.md"
    assert project.criteria == "tracker/verdict-criteria.md"
    assert dict(project.paths) == {"runs": "runs", "results": "results", "gates": "gates", "report": "report"}
    assert (project.stages, project.patterns, project.files) == (None, (), ())


def test_a_tracker_where_people_keep_it(write: Write) -> None:
    """A tracker in refine-logs/ is found, with plan and criteria beside it."""
    project = write({"refine-logs/EXPERIMENT_TRACKER.md": "x"})
    assert project.tracker == "refine-logs/EXPERIMENT_TRACKER.md"
    assert project.plan == "refine-logs/EXPERIMENT_PLAN.md"


def test_the_file_and_overrides(write: Write, root: Path) -> None:
    """The file sets, a command line overrides; places reach the layout."""
    write(
        {
            "configs/project.yaml": "tracker: t.md\npaths: {runs: my runs}\n"
            "stages: [M1, 2, Later]\nbudget: {gpu_hours: 5}\n"
        }
    )
    project = load_project(root, {"tracker": "o.md", "results": "out"})
    assert (project.tracker, project.paths["runs"], project.paths["results"]) == ("o.md", "my runs", "out")
    assert project.stages == ("M1", "2", "Later")
    assert project.layout.run_dir("R1") == root / "my runs" / "R1"
    with pytest.raises(UserError, match="unknown override"):
        load_project(root, {"trackr": "x"})


def test_a_repository_whose_configs_folder_is_its_own(write: Write, root: Path) -> None:
    """Where `configs/` holds nothing of ours, `runherd-configs/` is used."""
    write({"configs/model.yaml": "x: 1\n", "runherd-configs/runs/R1.yaml": "seed: 1\n"})
    assert load_project(root).config_dir == "runherd-configs"


def test_our_own_folder_wins_over_a_foreign_configs(write: Write, root: Path) -> None:
    """A repository's own `configs/` with a `runs/` in it is not ours when `runherd-configs/project.yaml` is there."""
    write({"configs/runs/x.yaml": "lr: 1\n", "runherd-configs/project.yaml": "{}\n"})
    assert load_project(root).config_dir == "runherd-configs"


def test_all_mistakes_at_once_with_lines(write: Write) -> None:
    """Unknown keys, wrong types and wrong settings inside patterns are told together."""
    with pytest.raises(UserError) as caught:
        write(
            {
                "configs/project.yaml": "trakcer: x\nstages: [M1, M1]\npatterns:\n  'R*':\n"
                "    n: 3\n    paramz: {}\nbudget: 5\n"
            }
        )
    text = str(caught.value)
    assert "configs/project.yaml:1: unknown key `trakcer`" in text
    assert "did you mean `tracker`?" in text
    assert "configs/project.yaml:2: a stage is listed twice" in text
    assert "configs/project.yaml:6: unknown key `paramz` in `patterns.R*`" in text
    assert "configs/project.yaml:7: `budget`" in text


def test_the_kept_copy_is_used_only_for_the_same_content(write: Write, root: Path) -> None:
    """A changed file is read again; a copy is never trusted for another content."""
    project = write({"configs/project.yaml": "tracker: a.md\npatterns: {'R*': {params: {x: 1}}}\n"})
    save_cache(project)
    again = load_project(root)
    assert (again.tracker, again.patterns) == ("a.md", project.patterns)
    (root / "configs/project.yaml").write_text("tracker: b.md\n")
    assert load_project(root).tracker == "b.md"
    (root / ".runherd/project.json").write_text("{")
    assert load_project(root).tracker == "b.md"


def test_shipped_defaults_are_found() -> None:
    """The folder that ships is found next to the source, or inside the package."""
    folder = shipped_defaults_dir()
    assert folder is not None
    assert (folder / "models" / "qwen.yaml").is_file()
