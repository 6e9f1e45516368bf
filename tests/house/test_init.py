"""`runherd init` on awkward repositories: it understands, proposes, never overwrites, leaves the tracker alone."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from runherd.cli.main import main
from runherd.config import load_project, resolve
from runherd.errors import UserError
from runherd.gates import load_criteria
from runherd.init import content, naming, planning, rows, survey
from runherd.plan.draft import row_input

HEADER = (
    "| Run ID | Milestone | Purpose | System / Variant | Split | Metrics | Priority | Status | Notes |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)


def table(*lines: tuple[str, str, str, str]) -> str:
    """A nine-column tracker with rows of (id, stage, priority, status)."""
    return HEADER + "".join(f"| {i} | {m} | p: {i} | s | test | acc | {p} | {s} | |\n" for i, m, p, s in lines)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty git repository whose path is awkward."""
    folder = tmp_path / "it's a répo"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


def put(repo: Path, name: str, text: str) -> Path:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tree(repo: Path) -> dict[str, bytes]:
    files = [p for p in sorted(repo.rglob("*")) if p.is_file() and ".git/" not in str(p)]
    return {str(p.relative_to(repo)): p.read_bytes() for p in files}


def test_proposes_every_file_and_writes_it(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --yes the files appear exactly as shown, the tracker keeps its bytes, and every file can be read by us."""
    tracker = put(
        repo, "refine-logs/EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO"), ("R2: x", "M / é", "", "TODO"))
    )
    before = tracker.read_bytes()
    assert main(["init", "--yes"]) == 0
    said = capsys.readouterr().out
    files = tree(repo)
    assert tracker.read_bytes() == before
    assert set(files) == {
        ".gitignore", "Snakefile", "profiles/default/config.yaml", "configs/project.yaml", "configs/runs/R001.yaml",
        "configs/runs/R2%3A%20x.yaml", "refine-logs/verdict-criteria.md", "refine-logs/EXPERIMENT_TRACKER.md",
    }  # fmt: skip
    for name in set(files) - {"refine-logs/EXPERIMENT_TRACKER.md"}:
        shown = "\n".join(line.removeprefix("  ") for line in said.split(f"--- {name} ")[1].splitlines()[1:])
        assert files[name].decode().strip() in shown
    criteria = load_criteria(repo / "refine-logs" / "verdict-criteria.md")
    assert set(criteria.stages) == {"M0", "M / é"}
    project = load_project(repo)
    assert project.tracker == "refine-logs/EXPERIMENT_TRACKER.md"
    for row in survey.survey(repo, None).document.rows:
        assert resolve(project, row_input(row)).data.get("command") is None


def test_uncommented_examples_are_right(repo: Path) -> None:
    """Taking the # away in a run's file and in project.yaml gives settings that resolve."""
    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO"), ("R002", "M0", "MUST", "TODO")))
    assert main(["init", "--yes"]) == 0
    stub = repo / "configs/runs/R001.yaml"
    stub.write_text(
        stub.read_text()
        .replace("# command:", "command:")
        .replace("# seed: 0", "seed: 3")
        .replace("# expected:", "expected:")
    )
    path = repo / "configs/project.yaml"
    head, _, pattern = path.read_text().partition("# patterns:")
    path.write_text(head + "patterns:" + pattern.replace("\n# ", "\n").replace("\n#", "\n"))
    project = load_project(repo)
    by_id = {r.id: resolve(project, row_input(r)) for r in survey.survey(repo, None).document.rows}
    assert by_id["R001"].data["seed"] == 3 and by_id["R001"].data["expected"] == 100
    assert by_id["R001"].data["command"] == by_id["R002"].data["command"] == content.EXAMPLE_COMMAND


def test_never_overwrites_and_is_idempotent(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files that exist keep their bytes, lines of .gitignore are added once, and a second init writes nothing."""
    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO")))
    mine = {
        "profiles/default/config.yaml": "cores: 1\n", "verdict-criteria.md": "mine\n",
        "configs/runs/R001.yaml": "command: [true]\n", ".gitignore": "*.pyc\n.snakemake/",
    }  # fmt: skip
    for name, text in mine.items():
        put(repo, name, text)
    assert main(["init", "--yes"]) == 0
    files = tree(repo)
    assert {n: files[n].decode() for n in mine if n != ".gitignore"} == {
        n: t for n, t in mine.items() if n != ".gitignore"
    }
    ignored = "*.pyc\n.snakemake/\n# runherd\n.runherd/\n/runs/\n/report/\n/gates/*.passed\n"
    assert files[".gitignore"].decode() == ignored
    capsys.readouterr()
    assert main(["init", "--yes"]) == 0
    assert "Nothing to write." in capsys.readouterr().out and tree(repo) == files


@pytest.mark.parametrize("words", [[], ["--dry-run"], ["--yes", "--dry-run"]])
def test_writes_nothing_without_leave(repo: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody can be asked nothing is written and the exit code says so; --dry-run never writes."""
    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO")))
    before = tree(repo)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main(["init", *words]) == (0 if words else 5)
    assert tree(repo) == before


@pytest.mark.parametrize(("answer", "written"), [("y", True), ("n", False), ("", False)])
def test_asks_at_a_terminal(repo: Path, answer: str, written: bool) -> None:
    """At a terminal it asks, and only a yes writes."""
    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO")))
    parent, child = pty.openpty()
    code = "import sys; from runherd.cli.main import main; sys.exit(main(['init']))"
    asked = subprocess.Popen([sys.executable, "-c", code], stdin=child, stdout=subprocess.PIPE, cwd=repo)
    os.close(child)
    os.write(parent, f"{answer}\n".encode())
    out, _ = asked.communicate(timeout=60)
    os.close(parent)
    assert b"[y/N]" in out and asked.returncode == 0
    assert (repo / "Snakefile").exists() is written


def test_avoids_names_in_use(repo: Path) -> None:
    """Own configs/, TensorBoard's runs/ and results/ stay untouched: ours get other names, and are found there."""
    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO")))
    put(repo, "configs/model.yaml", "hidden: 3\n")
    put(repo, "runs/Jan01_host/events.out.tfevents.1", "x")
    put(repo, "results/table.csv", "a,b\n")
    before = tree(repo)
    assert main(["init", "--yes"]) == 0
    new = set(tree(repo)) - set(before)
    assert not [n for n in new if n.startswith(("configs/", "runs/", "results/"))]
    assert {"runherd-configs/project.yaml", "runherd-configs/runs/R001.yaml"} <= new
    assert dict(load_project(repo).paths) == {
        "runs": "runherd-runs", "results": "runherd-results", "gates": "gates", "report": "report"
    }  # fmt: skip
    assert "/runherd-runs/" in (repo / ".gitignore").read_text()


def test_beside_a_workflow_of_ones_own(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Snakefile of the user's keeps its name and its profile: ours is runherd.smk, with how to start it."""
    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO")))
    put(repo, "workflow/Snakefile", "rule a: shell: 'true'\n")
    assert main(["init", "--yes"]) == 0
    assert (repo / "runherd.smk").exists() and not (repo / "Snakefile").exists()
    assert not (repo / "profiles/default").exists()
    assert "snakemake -s runherd.smk --workflow-profile profiles/runherd" in capsys.readouterr().out


def test_many_rows_get_one_pattern(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beyond a dozen rows one pattern is offered instead of a file for each."""
    put(repo, "EXPERIMENT_TRACKER.md", table(*((f"RUN-{i:03}", "M0", "MUST", "TODO") for i in range(90, 110))))
    assert main(["init", "--yes"]) == 0
    assert not (repo / "configs/runs").exists()
    text = (repo / "configs/project.yaml").read_text()
    assert '#   "RUN-*":' in text and "20 have no command yet" in text


def test_says_what_it_understood(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts by status, stage and priority; rows from before, unknown words and read-only rows with the reason."""
    put(repo, "docs/EXPERIMENT_TRACKER.md", table(("X1", "M0", "MUST", "TODO")))
    put(
        repo, "EXPERIMENT_TRACKER.md",
        table(("R001", "M0", "MUST", "DONE"), ("R002", "M1", "NICE", "perhaps"), ("R003", "M1", "MUST", "TODO"),
              ("R003", "M1", "MUST", "TODO")),
    )  # fmt: skip
    assert main(["init", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "4 runs: 1 DONE, 1 UNKNOWN, 2 TODO" in said and "1 M0, 3 M1" in said and "3 MUST, 1 NICE" in said
    assert "R001: DONE or RUNNING already" in said and "R002: status not understood" in said
    assert "line 6, R003: read only:" in said
    assert "docs/EXPERIMENT_TRACKER.md (choose one: --tracker FILE)" in said


def test_a_command_in_the_tracker_needs_no_file(repo: Path) -> None:
    """Rows with a command column, settled rows and CONDITIONAL rows get no file."""
    text = (
        "| ID | Priority | Command | Status |\n|---|---|---|---|\n| A1 | MUST | python a.py | TODO |\n"
        "| A2 | MUST | | TODO |\n| A3 | MUST | | DONE |\n| A4 | CONDITIONAL | | TODO |\n"
    )
    put(repo, "EXPERIMENT_TRACKER.md", text)
    found = survey.survey(repo, None)
    assert [r.id for r in rows.without_command(found, "configs")] == ["A2"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (None, b"", "no experiment tracker found"),
        ("EXPERIMENT_TRACKER.md", b"# nothing here\n", "no run found"),
        ("EXPERIMENT_TRACKER.md", "| ID | Status |\n|--|--|\n| é | TODO |\n".encode("latin-1"), "UTF-8"),
    ],
)
def test_bad_trackers_are_one_clear_message(
    repo: Path, name: str | None, data: bytes, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No tracker, one without runs, one that is not UTF-8: exit code 2, one message, nothing written."""
    if name:
        (repo / name).write_bytes(data)
    before = tree(repo)
    assert main(["init", "--yes"]) == 2
    assert said in capsys.readouterr().err and tree(repo) == before


def test_outside_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without git there is no .gitignore, and it says what that means for the criteria."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    put(tmp_path, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO")))
    assert main(["init", "--yes"]) == 0
    assert not (tmp_path / ".gitignore").exists() and "not in git" in capsys.readouterr().out


def test_a_file_that_appears_meanwhile_is_left_alone(repo: Path) -> None:
    """Between showing and writing somebody creates one of the files: it keeps its bytes."""
    from runherd.init.writing import write

    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO")))
    proposal = planning.propose(survey.survey(repo, None))
    put(repo, "Snakefile", "mine\n")
    written, left = write(repo, proposal.files)
    assert left == ["Snakefile"] and (repo / "Snakefile").read_text() == "mine\n" and "configs/project.yaml" in written


@pytest.mark.parametrize(
    ("ids", "pattern"),
    [
        (["R001", "R002"], "R*"),
        (["M1-a", "M1-b"], "M1-*"),
        (["R100", "R101"], "R*"),
        (["a", "b"], "*"),
        (["x[1]", "x[2]"], "x*"),
    ],
)
def test_glob_covers_the_ids(ids: list[str], pattern: str) -> None:
    """The pattern is the common beginning, not cut inside a number, and holds no glob character of the ids."""
    assert rows.glob(ids) == pattern


def test_names_are_moved_only_where_taken() -> None:
    """A free name is used as it is; a taken one gets a prefix; our own folders count as free."""
    names = naming.choose({"runs", "configs"}, None, None)
    assert (names.config_dir, names.paths["runs"], names.paths["gates"]) == ("runherd-configs", "runherd-runs", "gates")
    assert naming.choose({"configs"}, "configs", None).config_dir == "configs"


@pytest.mark.parametrize("value", ["M0", "yes", "1.5", "M1: a", "#x", 'say "so"', "阶段", "", "a\\b", "- x", "NULL"])
def test_scalars_are_read_back_as_text(value: str) -> None:
    """Whatever a stage is called, the YAML that we write gives the same text back."""
    assert yaml.safe_load(f"{content._text(value)}: 1") == {value: 1}


def test_unreadable_project_file_is_somebody_elses(repo: Path) -> None:
    """A configs/project.yaml that means nothing to us does not make configs/ ours."""
    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO")))
    put(repo, "configs/project.yaml", "hydra: {run: {dir: x}}\n")
    with pytest.raises(UserError):
        load_project(repo)
    assert survey.survey(repo, None).config_dir is None and "configs" in survey.survey(repo, None).taken


def test_plan_is_quoted_and_suggests(repo: Path) -> None:
    """Gate texts of the plan are quoted; a clear comparator becomes a commented suggestion, valid when taken."""
    put(repo, "EXPERIMENT_TRACKER.md", table(("R001", "M0", "MUST", "TODO"), ("R002", "M1", "MUST", "TODO")))
    put(
        repo,
        "EXPERIMENT_PLAN.md",
        "| Milestone | Goal | Runs | Decision gate | Cost | Risk |\n|---|---|---|---|---|---|\n"
        "| M0 | sanity | R001 | loss looks right | 1h | |\n| M1 | main | R002 | accuracy ≥ 85% | 2h | |\n",
    )
    assert main(["init", "--yes"]) == 0
    path = repo / "verdict-criteria.md"
    text = path.read_text()
    assert "- **M0**: loss looks right" in text and "- **M1**: accuracy ≥ 85%" in text
    assert [c.kind for c in load_criteria(path).stages["M1"]] == ["all_done"]
    assert text.count("suggested by the plan") == 1
    path.write_text(text.replace("# suggested by the plan; is it meant so? - ", "- "))
    taken = load_criteria(path).stages["M1"][1]
    assert (taken.kind, taken.metric, taken.value, taken.unit) == ("match_published", "accuracy", 85, "percent")
    assert taken.at_least
