"""From a resolved spec and the facts of one launch to the command that is run."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runherd.config import template
from runherd.config.spec import Spec, lookup
from runherd.errors import Problem, UserError, did_you_mean

#: Shells that are asked for the exit code of a pipe's failing part: `python train.py | tee log` must not hide it.
PIPEFAIL_SHELLS = ("bash", "zsh", "ksh")
_PYTHON = re.compile(r"python(3(\.\d+)?)?$")


@dataclass(frozen=True)
class CommandValues:
    """What only the launcher knows. Paths are absolute.

    `result` and `checkpoint` None: taken from `output.result` and
    `output.checkpoint`. `step`: name or index of one of `steps:`. `dryrun`:
    use `dryrun.command` where there is one. `limit` and `workers` None: the
    spec's own. `base_url`: of the run's guard, None without one. `gpus`: device ids as the program sees them. `python`: what
    `{{ python }}` is where `execution.python` is not set.
    """

    root: str
    spec_file: str
    workdir: str
    checkpoint: str | None = None
    result: str | None = None
    resume: bool = False
    limit: int | None = None
    gpus: tuple[str, ...] = ()
    workers: int | None = None
    step: str | int | None = None
    dryrun: bool = False
    base_url: str | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    python: str = sys.executable


@dataclass(frozen=True)
class Command:
    """Exactly one of `argv` (no shell) and `shell` (text for `interpreter -c`) is set.

    `env` holds only what is added to the inherited environment. `secret_env`
    names the variables whose values must not be shown.
    """

    argv: list[str] | None
    shell: str | None
    env: dict[str, str]
    cwd: str
    result: str
    checkpoint: str
    interpreter: str = "/bin/bash"

    def to_argv(self) -> list[str]:
        """The argument vector to start, shell or not."""
        if self.argv is not None:
            return list(self.argv)
        assert self.shell is not None
        pipefail = ["-o", "pipefail"] if os.path.basename(self.interpreter) in PIPEFAIL_SHELLS else []
        return [self.interpreter, *pipefail, "-c", self.shell]


def steps(spec: Spec) -> list[str | None]:
    """Names of the run's steps in order; `[None]` for a run with one command."""
    listed = spec.data.get("steps") or []
    return [step.get("name") or str(i) for i, step in enumerate(listed)] or [None]


def render_command(spec: Spec, values: CommandValues) -> Command:
    """Render the run's command for one launch.

    Raises `UserError`, located at the line that holds the command, for a
    missing command, an undefined or null name, a template error, or an
    expression in a place where quoting could not keep it one argument.
    """
    written, where = _command(spec, values)
    names = command_names(spec, values)
    env = _environment(spec, names, values)
    cwd = str(Path(values.root) / Path(lookup(spec.data, "execution.cwd") or ".").expanduser())
    activate = activation(lookup(spec.data, "execution.activate"), Path(values.root))
    interpreter = lookup(spec.data, "execution.shell") or "/bin/bash"
    argv: list[str] | None = None
    shell: str | None = None
    if isinstance(written, list):
        argv = [arg for part in written for arg in template.render_argument(str(part), names, where)]
        if not argv or not argv[0]:
            raise UserError(Problem("the command names no program", where))
        argv = _with_python(argv, lookup(spec.data, "execution.python"), Path(values.root))
        if activate:
            argv = ["/bin/bash", "-c", f'{activate}\nexec "$@"', "bash", *argv]
    else:
        shell = template.render_shell(written, names, where, interpreter)
        if not shell.strip():
            raise UserError(Problem("the command is empty", where))
        if activate:
            shell = f"{activate}\n{shell}"
    return Command(
        argv,
        shell,
        env,
        cwd,
        names["result"],
        names["checkpoint"],
        interpreter,
    )


def command_names(spec: Spec, values: CommandValues) -> dict[str, Any]:
    """Every name that a template can use."""
    data = spec.data
    root = Path(values.root)
    limit = values.limit if values.limit is not None else data.get("limit")
    workers = values.workers if values.workers is not None else lookup(data, "execution.workers")
    config_file = data.get("config_file")
    names: dict[str, Any] = {
        "run_id": spec.run_id,
        "stage": data.get("stage"),
        "seed": data.get("seed"),
        "benchmark": data.get("benchmark"),
        "mode": data.get("mode"),
        "model": data.get("model"),
        "protocol": data.get("protocol"),
        "spec_file": values.spec_file,
        "workdir": values.workdir,
        "resume": values.resume,
        "limit": limit,
        "expected": limit if values.limit is not None else data.get("expected"),
        "gpus": ",".join(values.gpus),
        "workers": workers,
        "python": _interpreter(lookup(data, "execution.python"), root) or values.python,
        "own_python": sys.executable,
        "base_url": values.base_url or lookup(data, "endpoint.url"),
        "config_file": None if config_file is None else str(root / config_file),
        "params": data.get("params") or {},
        "row": data.get("row") or {},
    }
    for section in ("pipeline", "dataset", "execution", "endpoint"):
        names[section] = data.get(section) or {}
    names["root"] = _output(spec, "output.root", names, root) or values.workdir
    result = values.result or _output(spec, "output.result", names, root)
    names["result"] = result or str(Path(values.workdir) / "result.json")
    checkpoint = values.checkpoint or _output(spec, "output.checkpoint", names, root)
    names["checkpoint"] = checkpoint or str(Path(values.workdir).parent / "checkpoint")
    return names


def _output(spec: Spec, key: str, names: Mapping[str, Any], root: Path) -> str | None:
    written = lookup(spec.data, key)
    if not isinstance(written, str):
        return None
    return str(root / template.render_text(written, names, _where(spec, key)))


def _command(spec: Spec, values: CommandValues) -> tuple[Any, str]:
    data = spec.data
    if values.dryrun and lookup(data, "dryrun.command") is not None:
        return lookup(data, "dryrun.command"), _where(spec, "dryrun.command")
    listed = data.get("steps") or []
    if not listed:
        if data.get("command") is None:
            raise UserError(no_command(spec))
        return data["command"], _where(spec, "command")
    named = steps(spec)
    index = values.step if isinstance(values.step, int) else 0
    if isinstance(values.step, str):
        if values.step not in named:
            near = did_you_mean(values.step, [name or "" for name in named])
            raise UserError(
                Problem(
                    f"{spec.run_id} has no step of this name",
                    _where(spec, "steps"),
                    values.step,
                    ", ".join(name or "" for name in named),
                    near and f"did you mean `{near}`?",
                )
            )
        index = named.index(values.step)
    return listed[index]["command"], _where(spec, "steps")


def no_command(spec: Spec) -> Problem:
    """What to write so that a run can be launched."""
    return Problem(
        f"{spec.run_id} has no command to launch",
        hint=f"write `command:` into configs/runs/{spec.run_id}.yaml, or a pattern into configs/project.yaml",
    )


def _where(spec: Spec, key: str) -> str:
    origin = spec.origin(key)
    return origin.where if origin else key


def _environment(spec: Spec, names: Mapping[str, Any], values: CommandValues) -> dict[str, str]:
    env: dict[str, str] = {}
    for name in (
        "run_id",
        "stage",
        "seed",
        "benchmark",
        "mode",
        "model",
        "protocol",
        "spec_file",
        "result",
        "workdir",
        "checkpoint",
        "limit",
        "expected",
        "gpus",
        "workers",
        "config_file",
    ):
        if names[name] is not None:
            env[f"RUNHERD_{name.upper()}"] = str(names[name])
    env["RUNHERD_RESUME"] = "1" if values.resume else "0"
    env["RUNHERD_PARAMS"] = json.dumps(names["params"], ensure_ascii=False)
    for name, value in names["params"].items():
        if not isinstance(value, (dict, list)) and value is not None:
            key = re.sub(r"[^A-Z0-9]", "_", name.upper())
            env[f"RUNHERD_PARAM_{key}"] = template._plain_text(value)
    python = lookup(spec.data, "execution.python")
    if python and "/" in python:
        folder = str((Path(values.root) / Path(python).expanduser()).parent)
        env["PATH"] = folder + os.pathsep + values.environ.get("PATH", os.defpath)
    env.update(_own_variables(spec, values))
    return env


REFERENCE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::-([^}]*))?\}|([A-Za-z_]\w*))")


def _own_variables(spec: Spec, values: CommandValues) -> dict[str, str]:
    """`execution.env`, with `${NAME}` and `${NAME:-default}` taken from the launcher's environment."""
    out = {}
    problems = []
    for name, value in (lookup(spec.data, "execution.env") or {}).items():
        if value is None:
            continue  # null: inherit what is there
        text = template._plain_text(value)
        for match in REFERENCE.finditer(text):
            source, default = match[1] or match[3], match[2]
            if source not in values.environ and default is None:
                problems.append(
                    Problem(
                        f"the environment variable {source} is not set",
                        _where(spec, f"execution.env.{name}"),
                        hint=f"export {source}=... before starting, or give ${{{source}:-default}}",
                    )
                )
        out[name] = REFERENCE.sub(
            lambda m: values.environ.get(m[1] or m[3], m[2] if m[2] is not None else ""), text
        )
    if problems:
        raise UserError(problems)
    return out


def _with_python(argv: list[str], python: str | None, root: Path) -> list[str]:
    interpreter = _interpreter(python, root)
    return [interpreter, *argv[1:]] if interpreter and _PYTHON.match(argv[0]) else argv


def _interpreter(python: str | None, root: Path) -> str | None:
    """`execution.python` as it is started from any folder; a bare name stays one."""
    if not python or "/" not in python:
        return python
    # Not resolved: a venv's python is a link, and its place is what makes it the venv's.
    return str(root / Path(python).expanduser())


def activation(activate: str | None, root: Path) -> str | None:
    """Shell text that enters the program's environment and stops when it cannot.

    `conda:NAME`, a venv folder, the path of an activate script, or shell text.
    """
    import shlex

    if not activate:
        return None
    if activate.startswith("conda:"):
        name = shlex.quote(activate.removeprefix("conda:"))
        enter = f'eval "$(conda shell.posix hook)" && conda activate {name}'
    else:
        path = root / Path(activate).expanduser()
        if (path / "bin" / "activate").is_file():
            enter = f". {shlex.quote(str(path / 'bin' / 'activate'))}"
        elif path.is_file() or re.fullmatch(r"[^\s;&|]*/activate", activate):
            enter = f". {shlex.quote(str(path))}"
        else:
            enter = activate
    return f"{{ {enter}\n}} || {{ echo 'runherd: the environment cannot be activated' >&2; exit 127; }}"


def check_command(spec: Spec) -> list[Problem]:
    """Render every command of the run with stand-in values; return what is wrong with them.

    A missing command is not reported here: a run whose row asks for none may lack it.
    """
    problems: list[Problem] = []
    if spec.data.get("command") is None and not spec.data.get("steps"):
        return problems
    for step in steps(spec):
        for resume, dryrun in ((False, False), (True, False), (False, True)):
            values = CommandValues(
                root="/root",
                spec_file="/spec.json",
                workdir="/place/work",
                resume=resume,
                step=step,
                dryrun=dryrun,
                limit=lookup(spec.data, "dryrun.limit") if dryrun else None,
                environ=_AnyName(),
                base_url="http://127.0.0.1/v1" if _may_be_guarded(spec) else None,
            )
            try:
                render_command(spec, values)
            except UserError as error:
                problems += [problem for problem in error.problems if problem not in problems]
    return problems


def _may_be_guarded(spec: Spec) -> bool:
    return bool(lookup(spec.data, "execution.guard") or lookup(spec.data, "execution.dual_backend"))


class _AnyName(dict[str, str]):
    """An environment in which every variable is set."""

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Any:
        return "x"
