"""The command of one launch: names, environment, interpreter, activation, steps, dry-run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runherd.config import CommandValues, RowInput, Spec, check_command, render_command, steps
from runherd.errors import UserError

Run = Callable[..., Spec]


def values(root: Path, **more: Any) -> CommandValues:
    given = {"root": str(root), "spec_file": str(root / "s p.json"), "workdir": str(root / "runs/R001/work")}
    return CommandValues(**{**given, **more})


def test_the_tracker_cell_reaches_the_program_untouched(run: Run, root: Path) -> None:
    """A cell with a command substitution and a quote is one literal argument; nothing is executed."""
    cell = '$(touch pwned); "x'
    text = (
        f"command: {sys.executable} -c 'import sys; print(sys.argv[1:])' {{{{ row['System / Variant'] }}}}\n"
    )
    spec = run(text, row=RowInput("R001", "M0", {}, {"System / Variant": cell}, 3))
    command = render_command(spec, values(root))
    done = subprocess.run(command.to_argv(), cwd=command.cwd, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr([cell])
    assert not (root / "pwned").exists()


def test_quotes_around_an_expression_are_refused_with_a_place(run: Run, root: Path) -> None:
    """`"{{ params.x }}"` would be quoted twice; the error names the line and what to write."""
    spec = run("params: {x: 1}\ncommand: 'python t.py \"{{ params.x }}\"'\n")
    with pytest.raises(UserError) as caught:
        render_command(spec, values(root))
    assert caught.value.problems[0].where == "configs/runs/R001.yaml:2"
    assert "{{ x }}" in str(caught.value.problems[0].hint)


def test_names_and_environment_agree(run: Run, root: Path) -> None:
    """What a template can name, a program without flags finds in its environment."""
    text = (
        "command: [prog, '{{ run_id }}', '{{ seed }}', '{{ spec_file }}', '{{ result }}', '{{ workdir }}',\n"
        "  '{{ checkpoint }}', '{{ gpus }}', '{{ workers }}', '{{ limit }}', '{{ config_file }}']\n"
        "seed: 5\nlimit: 9\nparams: {lr: 0.1, 'a-b': true, deep: {x: 1}}\nconfig_file: c.yaml\n"
    )
    spec = run(text, {"c.yaml": "x"}, RowInput("R001", "M2"))
    command = render_command(spec, values(root, gpus=("0", "3"), resume=True, workers=2))
    env = command.env
    assert command.argv is not None
    names = (
        "RUN_ID",
        "SEED",
        "SPEC_FILE",
        "RESULT",
        "WORKDIR",
        "CHECKPOINT",
        "GPUS",
        "WORKERS",
        "LIMIT",
        "CONFIG_FILE",
    )
    assert command.argv[1:] == [env[f"RUNHERD_{name}"] for name in names]
    assert (env["RUNHERD_GPUS"], env["RUNHERD_WORKERS"], env["RUNHERD_RESUME"]) == ("0,3", "2", "1")
    assert env["RUNHERD_STAGE"] == "M2"
    assert env["RUNHERD_RESULT"] == command.result == str(root / "runs/R001/work/result.json")
    assert command.checkpoint == str(root / "runs/R001/checkpoint")
    assert json.loads(env["RUNHERD_PARAMS"]) == {"lr": 0.1, "a-b": True, "deep": {"x": 1}}
    assert (env["RUNHERD_PARAM_LR"], env["RUNHERD_PARAM_A_B"]) == ("0.1", "true")
    assert "RUNHERD_PARAM_DEEP" not in env


def test_output_places_are_templates(run: Run, root: Path) -> None:
    """`output.result` may use the names at hand; a given place wins."""
    spec = run("command: x\noutput: {root: out/dir, result: '{{ root }}/{{ run_id }}-{{ seed }}.json'}\n")
    assert render_command(spec, values(root)).result == str(root / "out/dir/R001-0.json")
    assert render_command(spec, values(root, result="/t/r.json")).result == "/t/r.json"


def test_resume_and_limit_by_condition(run: Run, root: Path) -> None:
    """One template serves the first start, a resume and a dry-run."""
    spec = run(
        "command: go{% if resume %} --resume {{ checkpoint }}{% endif %}"
        "{% if limit is not none %} --limit {{ limit }}{% endif %}\n"
    )
    assert render_command(spec, values(root)).shell == "go"
    assert render_command(spec, values(root, limit=2)).shell == "go --limit 2"
    assert render_command(spec, values(root, resume=True, checkpoint="/c")).shell == "go --resume /c"


def test_steps_in_order(run: Run, root: Path) -> None:
    """A run of several commands renders each by name or index."""
    spec = run("steps:\n  - {name: train, command: 'a {{ seed }}'}\n  - {command: [b, '{{ run_id }}']}\n")
    assert steps(spec) == ["train", "1"]
    assert render_command(spec, values(root)).shell == "a 0"
    assert render_command(spec, values(root, step="1")).argv == ["b", "R001"]
    assert render_command(spec, values(root, step=1)).argv == ["b", "R001"]
    with pytest.raises(UserError, match="did you mean `train`"):
        render_command(spec, values(root, step="trian"))
    assert steps(run("command: x\n")) == [None]


def test_a_dry_run_of_its_own(run: Run, root: Path) -> None:
    """`dryrun.command` stands in for the command in a dry-run only."""
    spec = run("command: long\ndryrun: {command: 'short --limit {{ limit }}'}\n")
    assert render_command(spec, values(root)).shell == "long"
    assert render_command(spec, values(root, dryrun=True, limit=2)).shell == "short --limit 2"


def test_no_command(run: Run, root: Path) -> None:
    """A run without a command says which file to write."""
    with pytest.raises(UserError, match=r"configs/runs/R001\.yaml"):
        render_command(run("params: {}\n"), values(root))
    with pytest.raises(UserError, match="no program"):
        render_command(run("command: ['{% if resume %}x{% endif %}']\n"), values(root))
    with pytest.raises(UserError, match="command is empty"):
        render_command(run("command: ' '\n"), values(root))


def test_environment_values_come_from_the_launcher(run: Run, root: Path) -> None:
    """`${NAME}` is looked up at launch and never kept; a missing one is an error unless it has a default."""
    text = "command: x\nexecution:\n  env:\n    KEY: ${MY_KEY}\n    URL: 'http://${HOST:-local}:1'\n    KEEP: null\n"
    spec = run(text)
    env = render_command(spec, values(root, environ={"MY_KEY": "s3cret"})).env
    assert (env["KEY"], env["URL"]) == ("s3cret", "http://local:1")
    assert "KEEP" not in env
    assert "s3cret" not in json.dumps(spec.to_json())
    with pytest.raises(UserError) as caught:
        render_command(spec, values(root, environ={}))
    assert caught.value.problems[0].where == "configs/runs/R001.yaml:4"
    assert "MY_KEY is not set" in str(caught.value)


def test_the_programs_own_python(run: Run, root: Path) -> None:
    """`python:` is the first word of a list command, first in PATH, and at hand as {{ python }}; from any working folder."""
    venv = root / "my env"
    (root / "sub").mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    code = "import sys; print(sys.prefix)"
    for text in (
        f"command: [python3, -c, '{code}']\n",
        f"command: python -c '{code}'\n",
        f"command: \"{{{{ python }}}} -c '{code}'\"\n",
    ):
        spec = run(text + "python: my env/bin/python\nexecution: {cwd: sub}\n")
        command = render_command(spec, values(root))
        env = {**os.environ, **command.env}
        done = subprocess.run(
            command.to_argv(), cwd=command.cwd, env=env, capture_output=True, text=True, check=True
        )
        assert Path(done.stdout.strip()) == venv


def test_activate(run: Run, root: Path) -> None:
    """A venv folder, a script or shell text is entered first; when that fails the command does not run."""
    venv = root / "v 1"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "activate").write_text("export FROM_VENV=yes\n")
    for command in ("echo $FROM_VENV", ["/bin/bash", "-c", "echo $FROM_VENV"]):
        for how in ("v 1", "v 1/bin/activate", "export FROM_VENV=yes"):
            spec = run(f"command: {json.dumps(command)}\nactivate: {json.dumps(how)}\n")
            rendered = render_command(spec, values(root))
            done = subprocess.run(
                rendered.to_argv(), cwd=rendered.cwd, capture_output=True, text=True, check=True
            )
            assert done.stdout.strip() == "yes"
    rendered = render_command(run("command: echo ran\nactivate: nowhere/bin/activate\n"), values(root))
    done = subprocess.run(rendered.to_argv(), cwd=rendered.cwd, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (127, "")
    assert "cannot be activated" in done.stderr
    spec = run("command: x\nactivate: 'conda:my env'\n")
    assert "conda activate 'my env'" in str(render_command(spec, values(root)).shell)


def test_check_command_finds_every_mistake_before_launch(run: Run) -> None:
    """Templates of all steps are tried with stand-in values, for start, resume and dry-run."""
    spec = run(
        "steps:\n  - {name: a, command: 'x {{ sede }}'}\n  - {name: b, command: 'x \"{{ seed }}\"'}\n"
        "  - {name: c, command: 'x {% if resume %}{{ nope }}{% endif %} {{ row.y }}'}\n"
    )
    text = "\n".join(str(problem) for problem in check_command(spec))
    assert "uses `sede`, which is not defined" in text
    assert "inside double quotes" in text
    assert "uses `nope`, which is not defined" in text
    assert check_command(run("command: x ${HOME} {{ seed }}\nexecution: {env: {A: '${NOT_SET}'}}\n")) == []
    assert check_command(run("params: {}\n")) == []
