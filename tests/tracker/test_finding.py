"""Finding trackers: names, customary folders, and files that only point elsewhere."""

from __future__ import annotations

from pathlib import Path

from runherd.tracker import find

TABLE = "| Run ID | Status |\n|---|---|\n| R1 | TODO |\n"


def put(root: Path, name: str, text: str = TABLE) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_order(tmp_path: Path) -> None:
    """The exact name in a customary folder wins; vendored and hidden copies are no candidates."""
    root = tmp_path / "my répo's"
    other = put(root, "docs/experiment-log.md")
    deep = put(root, "papers/v2/EXPERIMENT_TRACKER.md")
    docs = put(root, "docs/EXPERIMENT_TRACKER.md")
    top = put(root, "EXPERIMENT_TRACKER.md")
    best = put(root, "refine-logs/Experiment_Tracker.md")
    put(root, "node_modules/x/EXPERIMENT_TRACKER.md")
    put(root, ".git/EXPERIMENT_TRACKER.md")
    put(root, "EXPERIMENT_TRACKER.txt")
    put(root, "README.md")
    assert find(root) == [best, top, docs, deep, other]


def test_a_page_that_points_elsewhere_comes_last(tmp_path: Path) -> None:
    """A file without runs does not hide the dated one that it points to."""
    stub = put(tmp_path, "refine-logs/EXPERIMENT_TRACKER.md", "Moved to [v2](EXPERIMENT_TRACKER_2026.md).\n")
    dated = put(tmp_path, "refine-logs/EXPERIMENT_TRACKER_2026.md")
    assert find(tmp_path) == [dated, stub]


def test_nothing(tmp_path: Path) -> None:
    """A folder without a tracker, or no folder at all, gives an empty list."""
    assert find(tmp_path) == []
    assert find(tmp_path / "missing") == []
