"""Putting a run behind its endpoint guard: whether, with which settings, and how its command is started then."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runherd.config import Spec
from runherd.errors import Problem, UserError
from runherd.files import write_json
from runherd.guard.settings import ADDRESS, REFERENCE

BASE_URL = f"{ADDRESS}/v1"  #: what stands in commands until the guard knows its port
DUAL_CONCURRENT = 30  #: calls at a time over two endpoints, where nobody has chosen a number
_KEYS = {
    "max_concurrent": "execution.max_concurrent_vlm", "max_retries": "execution.vlm_max_retries",
    "base_delay_s": "execution.vlm_retry_base_delay_s", "max_delay_s": "execution.vlm_retry_max_delay_s",
    "cooldown_s": "guard.cooldown_s", "failures": "guard.failures", "timeout_s": "guard.timeout_s",
    "serial": "guard.serial", "second_phase": "guard.second_phase",
}  # fmt: skip


def wanted(spec: Spec) -> bool:
    """Whether the run goes through a guard: `execution.guard`, or two endpoints at once where they are listed."""
    chosen = spec.get("execution.guard")
    if chosen is not None:
        return bool(chosen)
    return bool(spec.get("execution.dual_backend") and spec.get("endpoints"))


def settings(spec: Spec, record: Path, generation: int, environ: Mapping[str, str]) -> dict[str, Any]:
    """The guard's settings as JSON. Raises `UserError` where no endpoint is named or a variable is not set."""
    endpoints = [dict(e) for e in spec.get("endpoints") or ()] or _only_endpoint(spec, environ)
    if not endpoints:
        raise UserError(
            Problem(
                "the guard has no endpoint to send calls to", _where(spec, "execution.guard"),
                hint="list them under `endpoints:`, or set endpoint.url",
            )
        )  # fmt: skip
    problems = [
        Problem(f"the environment variable {name} is not set", _where(spec, "endpoints"), hint=f"export {name}=...")
        for e in endpoints
        for name in [*[m[1] for m in re.finditer(REFERENCE, str(e["url"]))], e.get("key_env")]
        if name and name not in environ
    ]
    if problems:
        raise UserError(problems)
    out = {name: spec.get(key) for name, key in _KEYS.items()}
    if spec.get("execution.dual_backend") and _is_default(spec, "execution.max_concurrent_vlm"):
        out["max_concurrent"] = DUAL_CONCURRENT
    return {"schema": 1, "endpoints": endpoints, **out, "record": str(record), "generation": generation}


def _only_endpoint(spec: Spec, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    url = spec.get("endpoint.url") or (spec.get("execution.env") or {}).get("OPENAI_BASE_URL")
    url = url or environ.get("OPENAI_BASE_URL")
    if not url:
        return []
    asked, own = spec.get("model"), spec.get("endpoint.model")
    models = {asked: own} if isinstance(asked, str) and own and asked != own else {}
    return [{"name": "endpoint", "url": url, "models": models}]


def _where(spec: Spec, key: str) -> str:
    origin = spec.origin(key)
    return origin.where if origin else key


def _is_default(spec: Spec, key: str) -> bool:
    """Whether only the lowest layer has said anything of `key`."""
    return len(spec.origins.get(key) or ()) <= 1


def environment(base_url: str) -> dict[str, str]:
    """What sends an unchanged OpenAI client through the guard."""
    return {"OPENAI_BASE_URL": base_url, "OPENAI_API_BASE": base_url}


def wrap(argv: Sequence[str], config: Path) -> list[str]:
    """The command line that starts the guard and then becomes the program."""
    main = Path(__file__).parents[1] / "guard" / "main.py"
    return [sys.executable, "-I", "-S", str(main), str(config), "--", *argv]


class Guarded:
    """A run's guard while its commands are prepared; does nothing for a run without one."""

    def __init__(self, spec: Spec, config: Path, record: Path, generation: int) -> None:
        self.on = wanted(spec)
        self.config = config
        self.base_url = BASE_URL if self.on else None
        if self.on:
            write_json(config, settings(spec, record, generation, os.environ))

    def argv(self, argv: Sequence[str]) -> list[str]:
        return wrap(argv, self.config) if self.on else list(argv)

    def env(self) -> dict[str, str]:
        return environment(BASE_URL) if self.on else {}
