"""The house itself: what README, Makefile, CI and profiles name exists; nothing names the machine it was made on."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from runherd.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
#: Folders of this machine that no tracked file may name, wherever it is.
HERE = {str(ROOT.parent), str(Path.home()), sys.prefix, sys.base_prefix} - {
    "/", "/usr", "/usr/local", "/tmp", "/home", "/root", "/opt", "/srv",
}  # fmt: skip


def tracked(*patterns: str) -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.M))


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def commands(text: str) -> list[str]:
    """Commands that a document shows: lines of shell blocks, and code spans."""
    blocks = re.findall(r"```(?:bash|sh|console|shell|text)?\n(.*?)```", text, re.S)
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return lines + re.findall(r"`([^`\n]+)`", text)


def test_no_tracked_file_names_a_private_path() -> None:
    """Code, docs and tests run anywhere: no path of the machine that they were written on."""
    named = re.compile("|".join(rf"(?<![\w.~-]){re.escape(name)}(?![\w-])" for name in sorted(HERE)) or r"(?!)")
    found = []
    for path in tracked():
        for i, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if match := named.search(line):
                found.append(f"{path.relative_to(ROOT)}:{i}: {match.group()}")
    assert not found, "\n".join(found)


def test_documents_name_commands_that_exist() -> None:
    """Every `make X`, `runherd X` and `scripts/X.py` of README and docs is there."""
    wrong = []
    for path in documents():
        for command in commands(path.read_text()):
            for target in re.findall(r"^make ([a-z][\w-]*)", command):
                wrong += [f"{path.name}: make {target}"] if target not in make_targets() else []
            for name in re.findall(r"^runherd ([a-z][\w-]*)", command):
                wrong += [f"{path.name}: runherd {name}"] if name not in COMMANDS else []
            for name in re.findall(r"\bscripts/(\w+\.py)", command):
                wrong += [f"{path.name}: scripts/{name}"] if not (ROOT / "scripts" / name).exists() else []
    assert not wrong, "\n".join(wrong)


def test_documents_link_to_files_that_exist() -> None:
    """Relative links of README and docs lead somewhere."""
    wrong = []
    for path in documents():
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
            if "://" not in link and not link.startswith("mailto:") and not (path.parent / link).exists():
                wrong.append(f"{path.relative_to(ROOT)}: {link}")
    assert not wrong, "\n".join(wrong)


def test_commands_that_are_announced_can_be_called() -> None:
    """Each command in `runherd --help` has a module that offers it."""
    for name, (module, _) in COMMANDS.items():
        assert importlib.util.find_spec(f"runherd.cli.{module}") is not None, f"{name}: runherd.cli.{module}"


def test_ci_script_is_sound() -> None:
    """.ci/run is executable, parses, never asks, and calls `make test`."""
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert "make test </dev/null" in script.read_text()


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
@pytest.mark.parametrize("target", ["test", "demo", "lint", "clean", "help"])
def test_make_knows_its_targets(target: str) -> None:
    """Each target can be planned from a bare checkout (nothing is run)."""
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_test_ends_with_pytest() -> None:
    """The last command of `make test` is pytest, so that its closing line stands last."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}  # we may run below make
    done = subprocess.run(["make", "-n", "test"], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert re.fullmatch(r'PATH="[^"]+" python -m pytest *', done.stdout.splitlines()[-1])


def test_workflow_files_are_yaml_and_call_what_exists() -> None:
    """The CI workflow parses, and its make targets, profiles and test files exist."""
    path = ROOT / ".github" / "workflows" / "ci.yml"
    jobs = yaml.safe_load(path.read_text())["jobs"]
    assert {"lint", "test", "wheel", "plan"} <= set(jobs)
    assert jobs["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    steps = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    assert set(re.findall(r"make (\w+)", steps)) <= make_targets()
    named = re.findall(r"(?:profiles|tests)/[\w./]*\w", steps)
    assert named and all((ROOT / name).exists() for name in named)


@pytest.mark.parametrize("name", ["default", "ci", "slurm"])
def test_profiles_hold_options_that_snakemake_knows(name: str) -> None:
    """Each key of a profile is an option of Snakemake, or of the Slurm executor."""
    from snakemake.cli import get_argument_parser

    keys = set(yaml.safe_load((ROOT / "profiles" / name / "config.yaml").read_text()))
    known = {o.removeprefix("--") for action in get_argument_parser()._actions for o in action.option_strings}
    unknown = {k for k in keys - known if not (name == "slurm" and k.startswith("slurm-"))}
    assert not unknown
    assert "greedy" in (ROOT / "profiles" / name / "config.yaml").read_text()


def test_only_runs_go_to_a_cluster() -> None:
    """Every rule but run_* is local (dry-runs that need a GPU apart): a Slurm job costs seconds before it does anything."""
    for path in (ROOT / "rules").glob("*.smk"):
        for rule in re.split(r"^\s*rule\b", path.read_text(), flags=re.M)[1:]:
            is_run = re.search(r'f"run_\{', rule) is not None
            local = "localrule: True" in rule or "localrule: HERD.tried_here(run)" in rule
            assert local is not is_run, f"{path.name}: {rule[:80]}"


def test_only_the_example_needs_scikit_learn() -> None:
    """scikit-learn is an extra of its own, and no module of the package imports it."""
    for path in (ROOT / "src").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) sklearn", path.read_text(), re.M), path
