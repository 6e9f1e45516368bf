"""How it sits on Snakemake: what may be an output, what a job process reads, which slots there are, what stays light."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flowkit import CHECKOUT, SOURCES, Project, Row

from runherd.plan import store
from runherd.workflow import changes, engine

Make = Callable[..., Project]


def test_only_stamps_passes_and_copies_are_outputs(make: Make) -> None:
    """Snakemake deletes declared outputs: nothing of runs/ and no verdict is among them."""
    project = make([Row("R001"), Row("R002", "M1")])
    lines = project.snakemake("--summary").ok().text.splitlines()
    outputs = [line.split("\t")[0] for line in lines if "\t" in line][1:]
    allowed = re.compile(r"\.runherd/(preflight|dryruns)\.\w+|\.runherd/(dryrun|run|validated)/[^/]+\.1|gates/[^/]+\.passed"
                         r"|results/[^/]+/(result|validation|cost)\.json")  # fmt: skip
    assert len(outputs) == 16 and all(allowed.fullmatch(o) for o in outputs), outputs


def test_nothing_is_left_of_an_invocation(make: Make) -> None:
    """Marks, plans and Snakemake's metadata of earlier invocations are cleared, also after SIGKILL and without unlock."""
    project = make([Row("R001")])
    project.ask("R001", "hold")
    killed = project.start()
    project.ready("R001")
    killed.kill()
    killed.wait()
    assert list((project.root / ".runherd").glob("preflight.*")) and (project.root / ".runherd" / "plans").exists()
    project.unask("R001", "hold")
    project.snakemake().ok()
    assert [p.name for p in (project.root / ".runherd").glob("preflight.*")] == ["preflight.json"]
    assert not list((project.root / ".runherd").glob("dryruns.*")) and not (project.root / ".runherd" / "plans").exists()
    names = [base64.b64decode(p.name).decode() for p in (project.root / ".snakemake" / "metadata").iterdir()]
    assert names and not [n for n in names if n.startswith((".runherd/preflight", ".runherd/dryruns."))]


def test_after_a_heal_a_start_has_nothing_to_do(make: Make) -> None:
    """Attempts are no generations: a run that was resumed and is DONE is not run again."""
    project = make([Row("R001")])
    project.ask("R001", "hold")
    project.start()
    os.kill(project.ready("R001"), 9)
    project.ready("R001", start=2)
    project.unask("R001", "hold")
    assert project.started[0].wait(60) == 0
    assert "Nothing to be done" in project.snakemake().ok().text
    assert project.record("R001", "result")["generation"] == 1 and project.launches() == {"R001": 2}


def test_a_job_process_reads_the_frozen_plan(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that parses the Snakefile again decides nothing: it works from the plan, even without a tracker."""
    from runherd.plan.build import build
    from runherd.plan.options import Options
    from runherd.workflow.parse import open_herd

    project = make([Row("R001"), Row("R002", "M1")])
    monkeypatch.chdir(project.root)
    monkeypatch.setenv(store.VARIABLE, "")
    store.freeze(build(project.root, Options()))
    project.tracker.unlink()
    herd = open_herd(SimpleNamespace(is_main_process=False), {})
    assert [r.run_id for r in herd.runs()] == ["R001", "R002"] and herd.hook(None) == []
    monkeypatch.delenv(store.VARIABLE)
    with pytest.raises(Exception, match="found no frozen plan"):
        open_herd(SimpleNamespace(is_main_process=False), {})


def test_edges_do_not_grow_with_the_square_of_the_rows(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run depends on one barrier, not on every dry-run."""
    from runherd.plan.build import build
    from runherd.plan.options import Options
    from runherd.workflow.parse import Herd

    rows = [Row(f"R{i:03}", f"M{i % 3}") for i in range(60)]
    project = make(rows)
    monkeypatch.chdir(project.root)
    herd = Herd(build(project.root, Options()).plan, None, None)
    assert max(len(herd.run_inputs(r)) for r in herd.runs()) <= 4
    assert len(herd.barrier_inputs(None)) == 60


@pytest.mark.parametrize("attribute", engine.ATTRIBUTES)
def test_a_missing_attribute_of_snakemake_is_named(attribute: str) -> None:
    """Another Snakemake that lacks what we rest on is refused in one sentence."""
    workflow = SimpleNamespace(**{a: None for a in engine.ATTRIBUTES if a != attribute})
    with pytest.raises(RuntimeError, match=rf"{attribute}\. Install snakemake>=9\.27,<10"):
        engine.check(workflow)


def test_slots_are_offered_only_where_the_user_has_not_set_them() -> None:
    """`--resources gpu=3` stands; what is absent is registered."""
    offered: dict[str, int] = {}
    settings = SimpleNamespace(nodes=None, cores=2)
    workflow = SimpleNamespace(
        global_resources={"gpu": 3}, register_resource=offered.__setitem__, resource_settings=settings
    )  # fmt: skip
    engine.register_slots(workflow, gpus=8, parallel=4)
    assert offered == {"runs": 4, "run_cpus": 2}


@pytest.mark.parametrize(
    ("argv", "targets", "wanted"),
    [
        (["run_R1", "--cores", "2"], ["run_R1"], ["run_R1", "run_R2", "--cores", "2"]),
        (["--cores", "2", "run_R1"], ["run_R1"], ["--cores", "2", "run_R1", "run_R2"]),
        (["gate_M0", "run_R1", "--config", "stage=M0"], ["gate_M0", "run_R1"],
         ["gate_M0", "run_R1", "run_R2", "--config", "stage=M0"]),
        (["--cores", "2"], [], ["run_R2", "--cores", "2"]),
    ],
)  # fmt: skip
def test_handed_over_targets_go_before_config(argv: list[str], targets: list[str], wanted: list[str]) -> None:
    """`--config` swallows a target behind it: added targets stand where the present ones do, else in front."""
    assert changes.with_targets(argv, targets, ["run_R2"]) == wanted


def test_a_bare_include_without_a_target_says_so(make: Make) -> None:
    """An included Snakefile has no default target: no silent "Nothing to be done"; by name it works."""
    project = make([Row("R001")])
    (project.root / "Snakefile").write_text(f"include: {str(CHECKOUT / 'Snakefile')!r}\n")
    assert "no target was asked for" in project.snakemake().text
    assert "no target was asked for" not in project.snakemake("all").ok().text
    assert project.cell("R001") == "DONE"


def test_a_module_with_renamed_rules(make: Make) -> None:
    """`use rule * from m as x_*`: the renamed default target carries everything through."""
    project = make([Row("R001")])
    text = "module m:\n    snakefile: {0!r}\n    config: config\n\n\nuse rule * from m as x_*\n"
    (project.root / "Snakefile").write_text(text.format(str(CHECKOUT / "Snakefile")))
    project.snakemake("x_all").ok()
    assert project.cell("R001") == "DONE"
    assert "Nothing to be done" in project.snakemake("x_all").ok().text


HEAVY = {"pandas", "pydantic", "scipy", "jinja2", "rich", "markdown_it", "sklearn"}


def imported(project: Project, *args: str) -> set[str]:
    """Top-level modules that a snakemake imports in its main process."""
    code = (
        "import sys, atexit, json\n"
        "atexit.register(lambda: print('\\nMODULES ' + json.dumps(sorted({m.partition('.')[0] for m in sys.modules}))))\n"
        "sys.argv = ['snakemake', *sys.argv[1:]]\n"
        "from snakemake.cli import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args, "--cores", "1"], cwd=project.root, env=project.environment(),
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.rpartition("MODULES ")[2]))


def test_parsing_imports_nothing_heavy(make: Make, tmp_path: Path) -> None:
    """A no-op imports none of pandas, pydantic, scipy, jinja2, rich that an empty Snakefile does not import."""
    project = make([Row("R001")])
    project.snakemake().ok()
    empty = tmp_path / "empty"
    empty.write_text("rule all:\n    input: []\n")
    base = imported(project, "-s", str(empty), "-n")
    ours = imported(project, "-n")
    assert "runherd" in ours and not (ours - base) & HEAVY, sorted((ours - base) & HEAVY)


def test_supervisor_is_of_the_standard_library_only() -> None:
    """The supervisor and the wrapper import nothing but the standard library and our core, without `site`."""
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCES)!r}); import runherd.supervise.supervisor; "
        "print('\\n'.join(sorted({m.partition('.')[0] for m in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    foreign = set(done.stdout.split()) - set(sys.stdlib_module_names) - {"runherd", "__main__"}
    assert not foreign and "runherd" in done.stdout.split()


def test_supervisor_is_small_and_a_session_of_its_own(make: Make) -> None:
    """A supervisor at work: under 20 MiB, leader of its session, no terminal, asleep; the program likewise apart."""
    project = make([Row("R001")])
    project.ask("R001", "hold")
    project.start()
    program = project.ready("R001")
    supervisor, wrapper = project.supervisor("R001"), project.wrapper("R001")
    status = _status(supervisor)
    assert int(status["VmRSS"].split()[0]) < 20 * 1024, status["VmRSS"]
    assert int(_status(wrapper)["VmRSS"].split()[0]) < 20 * 1024
    for pid in (supervisor, wrapper):
        assert os.getsid(pid) == pid and os.readlink(f"/proc/{pid}/fd/0") == "/dev/null"
    assert len({os.getsid(p) for p in (supervisor, program, project.started[0].pid)}) == 3
    project.until(lambda: _status(supervisor)["State"].startswith("S"), "the supervisor sleeps")
    project.unask("R001", "hold")
    assert project.started[0].wait(60) == 0


def _status(pid: int) -> dict[str, Any]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {k: v.strip() for k, _, v in (line.partition(":") for line in lines)}
