"""Before an attempt: render its command, choose its GPUs, write `command.json`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runherd import cluster, git, gpu, ledger, processes
from runherd.config import CommandValues, Spec, render_command
from runherd.config import steps as step_names
from runherd.config.render import command_names
from runherd.config.walltime import seconds as wall_time_s
from runherd.errors import UserError
from runherd.files import Layout, encode_id, fingerprint, write_json
from runherd.lifecycle import checkpoints, declaredplace
from runherd.lifecycle.finish import end
from runherd.lifecycle.frozen import frozen_spec, spec_data
from runherd.lifecycle.guarded import Guarded
from runherd.supervise.place import Place
from runherd.supervise.spawn import program_environment

SCHEMA = 1
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def prepare(place: Place, number: int, reason: str, token: str) -> None:
    """Write `attempts/<n>/command.json` for attempt `number`.

    With `wait` in it no attempt begins yet (no GPU is free). A command that
    cannot be rendered ends the run as BLOCKED, with the reason.
    """
    h = place.history()
    try:
        spec = Spec.from_json({**frozen_spec(place), "data": spec_data(place, h)})
        chosen = gpu.choose(
            int(spec.get("execution.gpus") or 0), spec.get("execution.devices"), spec.get("execution.gpu_mem_mib")
        )
        if chosen.wait_for is not None:
            write_json(place.layout.command(place.run_id, number), {"schema": SCHEMA, "wait": chosen.wait_for})
            return
        command = _command(place, spec, number, token, chosen)
    except UserError as e:
        end(place, "blocked", "CONFIG", f"cannot be launched: {str(e).splitlines()[0]}; then set TODO")
        return
    write_json(place.layout.command(place.run_id, number), command)


def _command(place: Place, spec: Spec, number: int, token: str, chosen: gpu.Choice) -> dict[str, Any]:
    layout, run_id = place.layout, place.run_id
    work, checkpoint = layout.work_dir(run_id), layout.checkpoint_dir(run_id)
    work.mkdir(parents=True, exist_ok=True)
    checkpoint.mkdir(parents=True, exist_ok=True)
    rejected = place.dir / "checkpoint-rejected" / str(number)
    _check_checkpoint(place, spec, number, checkpoint, rejected)
    declared = _declared_place(place, spec, number)
    resume = any(checkpoint.iterdir()) or (number > 1 and any(work.iterdir())) or (declared is not None and declared.left)
    env = threads(spec.get("execution.cpus"), program_environment(dict(os.environ)))
    if chosen.count is not None:
        env["CUDA_VISIBLE_DEVICES"] = ",".join(chosen.uuids)
    names = step_names(spec)
    frozen = frozen_spec(place)
    root = str(frozen.get("code_root") or layout.root)
    attempt_dir = layout.attempt_dir(run_id, number)
    guarded = Guarded(spec, attempt_dir / "guard.json", layout.record(run_id, "guard"), place.history().gen)
    steps: list[dict[str, Any]] = []
    for i, name in enumerate(names):
        values = CommandValues(
            root=root, spec_file=str(layout.spec(run_id)), workdir=str(work), resume=resume,
            gpus=chosen.uuids, step=i if len(names) > 1 else None, base_url=guarded.base_url,
            environ=program_environment(dict(os.environ)),
        )  # fmt: skip
        rendered = render_command(spec, values)
        shown, taken = _kept_apart(spec, {**env, **rendered.env})
        shown, taken = shown | guarded.env(), {k: v for k, v in taken.items() if k not in guarded.env()}
        steps.append(
            {
                "name": name or "run", "argv": guarded.argv(rendered.to_argv()), "cwd": rendered.cwd, "env": shown,
                "env_taken": taken,
                "done_mark": str(_mark(place, name or str(i), spec.identity)) if i < len(names) - 1 else None,
            }
        )  # fmt: skip
        Path(rendered.result).parent.mkdir(parents=True, exist_ok=True)
    return {
        "schema": SCHEMA, "run_id": run_id, "attempt": number, "token": token, "root": str(layout.root), "steps": steps,
        "result_path": rendered.result, "result_before": fingerprint(Path(rendered.result)),
        "checkpoint": rendered.checkpoint, declaredplace.BEFORE: declared.before if declared else None,
        "output_root": own_root(spec, values), "resume": resume,
        "gpus": list(chosen.uuids), "gpu_names": dict(zip(chosen.uuids, chosen.names, strict=True)),
        "gpu_locks": [str(p) for p in chosen.lock_files],
        "provider": provider(spec), "job": cluster.own_job(),
        "limits": limits(spec), "monitor_interval_s": spec.get("monitor.interval_s"),
        "monitor_stale_s": spec.get("monitor.stale_s"), "grace_s": spec.get("execution.grace_s"),
        "wall_time_s": wall_time_s(spec.get("execution.wall_time"), spec.data),
        "git": git_state(Path(root), written_by_us(layout, str(frozen.get("tracker") or ""))), "host": processes.hostname(),
    }  # fmt: skip


def own_root(spec: Spec, values: CommandValues) -> str | None:
    """The rendered `output.root`, where it is this run's alone: a template, or written in the run's own file."""
    written, origin = spec.get("output.root"), spec.origin("output.root")
    alone = "{" in str(written) or (origin is not None and "configs/runs/" in origin.file)
    return str(command_names(spec, values)["root"]) if written and alone else None


def written_by_us(layout: Layout, tracker: str) -> list[str]:
    return [tracker, layout.runs, layout.results, layout.gates, layout.report]


def threads(cpus: int | None, environ: Mapping[str, str]) -> dict[str, str]:
    """The numbers of threads that the usual libraries start, for a run that says how many cores it needs.

    What the user has set stays.
    """
    return {name: str(cpus) for name in THREADS if cpus and name not in environ}


def provider(spec: Spec) -> str:
    """Who provides the GPUs, for the cost: what the configuration says, but a scheduler's job is not `local`."""
    said = spec.get("execution.gpu_provider") or "local"
    return "slurm" if said == "local" and cluster.own_job() else str(said)


def _declared_place(place: Place, spec: Spec, number: int) -> declaredplace.Declared | None:
    """Make `output.checkpoint` ready for an attempt, and look at what was left there; None where none is declared."""
    if spec.get("output.checkpoint") is None:
        return None
    layout, run_id = place.layout, place.run_id
    values = CommandValues(
        root=str(frozen_spec(place).get("code_root") or layout.root), spec_file=str(layout.spec(run_id)),
        workdir=str(layout.work_dir(run_id)), environ=program_environment(dict(os.environ)),
    )  # fmt: skip
    found = declaredplace.look(place, Path(command_names(spec, values)["checkpoint"]), number)
    if found.left:
        rejected = place.dir / "checkpoint-rejected" / f"{number}-declared"
        _check_checkpoint(place, spec, number, found.path, rejected)
        found = replace(found, left=declaredplace.state(found.path) not in (None, found.before))
    elif found.doubt is not None:
        said = f"{found.doubt}: what lies there is not checked, and `resume` does not follow from it"
        place.record(ledger.Noted(place.history().gen, said, number))
    declaredplace.make(found.path)
    return found


def _check_checkpoint(place: Place, spec: Spec, number: int, where: Path, rejected: Path) -> None:
    """Set a bad checkpoint aside before the program can take it, and say so in the ledger."""
    declared = spec.get("output.checkpoint_check")
    choice = checkpoints.choose(where, rejected, str(declared) if declared else None, place.layout.root)
    if (said := choice.sentence()) is not None:
        place.record(ledger.Noted(place.history().gen, said, number))


def _kept_apart(spec: Spec, env: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Values that refer to the environment, as `${TOKEN}`, stay references in the record; the wrapper fills them in."""
    written = spec.get("execution.env") or {}
    taken = {name: text for name, text in written.items() if isinstance(text, str) and "$" in text}
    return {name: value for name, value in env.items() if name not in taken}, taken


def _mark(place: Place, step: str, identity: str) -> Path:
    return place.dir / "steps" / f"{encode_id(step)}.{identity[-12:]}.json"


def limits(spec: Spec) -> dict[str, Any]:
    """Limits that the wrapper sets on the program, by a memory cgroup where it may make one, else as said here.

    RLIMIT_AS bounds address space, of which CUDA reserves far more than it
    uses: a run with GPUs gets no memory limit this way. Which way it was is in
    process.json (`memory_limit`).
    """
    mem_mib, cpus = spec.get("execution.mem_mib"), spec.get("execution.cpus")
    found = {"mem_mib": mem_mib, "address_space_mib": None, "cpus": cpus}
    if not mem_mib:
        return {**found, "how": "none asked for"}
    if spec.get("execution.gpus"):
        return {**found, "how": "cgroup, else none: an address-space limit would break CUDA"}
    return {**found, "address_space_mib": mem_mib, "how": "cgroup, else RLIMIT_AS"}


def git_state(root: Path, ours: Sequence[str] = ()) -> dict[str, Any] | None:
    """Revision of the code and whether the tree differs from it; None outside of git.

    What runherd itself writes (`ours`: the tracker and folders, relative to the
    root) is no change of the code, where it is committed.
    """
    revision = git.ask(root, "rev-parse", "HEAD").text
    if revision is None:
        return None
    but = [f":(exclude,literal){path}" for path in ours if path and not Path(path).is_absolute()]
    return {"revision": revision, "dirty": bool(git.ask(root, "status", "--porcelain", "--untracked-files=no", "--", ".", *but).text)}
