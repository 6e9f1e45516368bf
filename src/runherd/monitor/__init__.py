"""Watch runs: read what is new, weigh the evidence, say one line."""

from __future__ import annotations

from typing import Any


def tick(
    run_dir: str,
    *,
    alive: bool | None = None,
    exit_facts: dict[str, Any] | None = None,
    now: float | None = None,
) -> dict[str, Any]:
    """Look once at a run of ours and return the judgement as JSON (see `look.as_json`).

    `alive` and `exit_facts` ({code, signal, oom_kill, ...}) where the caller
    knows them; the memory between looks is `run_dir`/monitor.json.
    """
    from runherd.monitor import look, own

    target = own.target(run_dir, alive=alive, exit_facts=exit_facts)
    evidence, judgement, memory = look.look(target, f"{run_dir}/monitor.json", now=now)
    return look.as_json(target, evidence, judgement, memory)
