"""A checkpoint place of the user's own (`output.checkpoint`) is looked after as `runs/<id>/checkpoint` is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live import Live

from runherd.files import Layout
from runherd.lifecycle import declaredplace
from runherd.lifecycle.frozen import frozen_spec
from runherd.lifecycle.request import open_generation
from runherd.supervise.place import Place

GOOD, CUT = "step-1.json", "step-2.json"


def keeps(where: str) -> dict[str, Any]:
    return {"params": {"behaviour": "keeps_states"}, "output": {"checkpoint": where}}


@pytest.fixture(scope="module")
def ended(live: Callable[..., Live]) -> Live:
    """Runs that were killed once, each with a place of its own kind."""
    project = live(
        {
            "own": keeps("sta\'tes π/{{ run_id }}"), "one": keeps("states/one.json"),
            "first": keeps("common"), "second": keeps("common/beside"), "held": keeps("."), "before": keeps("given/{{ run_id }}"),
        }
    )  # fmt: skip
    given = project.root / "given" / "before"
    given.mkdir(parents=True)
    (given / "pretrained.json").write_text("{}")
    os.utime(given / "pretrained.json", (10**8, 10**8))
    project.launch("own", "one", "first", "before")
    project.launch("second", "held")
    return project


def found(project: Live, run_id: str) -> list[Any]:
    """What each start of the program was told of `resume`, and what lay in its place."""
    return [json.loads(line) for line in (project.root / "control" / f"{run_id}.found").read_text().splitlines()]


def test_a_cut_state_is_set_aside_and_the_good_one_resumed_from(ended: Live) -> None:
    """The second attempt is told to resume and finds only the good state; the folder was there for the first."""
    assert found(ended, "own") == [["0", []], ["1", [GOOD]]]
    rejected = list((ended.run_dir("own") / "checkpoint-rejected").rglob("*.json"))
    assert [p.name for p in rejected] == [CUT]
    assert any(e["text"].startswith(f"checkpoint set aside ({CUT}: cannot be read") for e in ended.kinds("own", "noted"))
    assert ended.ended("own")[0] == "done"


def test_a_place_that_is_one_file(ended: Live) -> None:
    """The cut file is set aside, and nothing is left to resume from."""
    assert found(ended, "one") == [["0", []], ["0", []]]
    assert (ended.run_dir("one") / "checkpoint-rejected" / "2-declared" / "one.json").exists()


@pytest.mark.parametrize("run_id", ["second", "held"])
def test_a_place_that_is_not_the_runs_alone_is_left_as_it_is(ended: Live, run_id: str) -> None:
    """What lies where another run keeps its states, or our records lie, is neither moved nor resumed from; that is said."""
    assert [resume for resume, _ in found(ended, run_id)] == ["0", "0"]
    place = ended.root / {"second": "common/beside", "held": "."}[run_id]
    assert (place / CUT).exists() and (place / GOOD).exists()
    said = [e["text"] for e in ended.kinds(run_id, "noted")]
    why = "holds runherd's own records" if run_id == "held" else "is the place of first too"
    assert any(why in text and "is not checked" in text for text in said), said


def test_what_lay_there_before_is_nothing_to_resume_from(ended: Live) -> None:
    """Another program's state does not make the first attempt a resume; what the attempt adds makes the next one."""
    assert found(ended, "before") == [["0", ["pretrained.json"]], ["1", ["pretrained.json", GOOD]]]


def test_from_scratch_the_states_are_archived(ended: Live) -> None:
    """A rerun moves what the run left in its own place into the archive; what was given, or is shared, stays."""
    layout = Layout(ended.root)
    for run_id, moved in (("own", True), ("before", False), ("second", False)):
        place = Place(layout, run_id)
        where = Path(str(ended.record(run_id, "result")["checkpoint"]))
        assert (where / GOOD).exists()
        open_generation(place, 2, "rerun", frozen_spec(place))
        archived = layout.archive_dir(run_id, 1) / "checkpoint-declared" / GOOD
        assert (archived.exists(), (where / GOOD).exists()) == (moved, not moved), run_id
        assert not declaredplace.look(place, where, 3).left
