"""What the guard of one run is told: its endpoints and bounds, as plain JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

ADDRESS = "http://runherd-guard.invalid"  #: stands for the guard in commands until its port is known
REFERENCE = r"\$\{([A-Za-z_]\w*)\}"  #: a variable of the environment within an endpoint's url
DUAL_WEIGHTS = (65.0, 35.0)  #: of two endpoints that name no weights


@dataclass(frozen=True)
class Endpoint:
    """One OpenAI-compatible service; `url` ends before `/chat/completions`, and may hold `{model}`."""

    name: str
    url: str
    weight: float = 1.0
    max_concurrent: int | None = None
    key_env: str | None = None  #: environment variable that holds the key
    key_header: str = "Authorization"
    token_command: tuple[str, ...] = ()  #: prints a token, as text or as JSON with `accessToken`
    models: Mapping[str, str] = field(default_factory=dict)  #: asked for -> the endpoint's own name
    serves: tuple[str, ...] = ()  #: patterns of models known to be there, by its own names; empty: it is asked
    check_models: bool = True
    second_phase: tuple[str, ...] = ()  #: patterns of models whose second phase stays here

    def own_name(self, model: str) -> str:
        return self.models.get(model, model)

    def has(self, own: str, listed: Collection[str] | None) -> bool:
        """Whether it serves the model that it calls `own`: as `serves` says, else by what it lists (None: no list)."""
        if self.serves:
            return own in self.serves or _matching(self.serves, own) is not None
        return listed is None or own in listed

    def lists(self, own: str, listed: Collection[str] | None) -> str:
        """What it serves instead of `own`, the nearest names first."""
        from difflib import get_close_matches

        from runherd.words import listing

        names = sorted(self.serves or listed or ())
        near = get_close_matches(own, names, n=3, cutoff=0.5)
        return listing([*near, *(n for n in names if n not in near)], 6)


@dataclass(frozen=True)
class Settings:
    """Times in seconds.

    `serial` holds patterns of models that are called one at a time, `second_phase`
    of those whose second phase stays on one endpoint: on the one that names the
    model, else on the last one listed that serves it.
    """

    endpoints: tuple[Endpoint, ...]
    max_concurrent: int = 20
    max_retries: int = 6
    base_delay_s: float = 2.0
    max_delay_s: float = 60.0
    cooldown_s: float = 60.0
    failures: int = 3  #: failed calls in a row that open an endpoint's circuit
    timeout_s: float = 600.0
    serial: Sequence[str] = ()
    second_phase: Sequence[str] = ()
    record: str = ""  #: path of guard.json
    generation: int = 0

    def one_at_a_time(self, model: str) -> str | None:
        """The pattern that has this model called one at a time, or None."""
        return _matching(self.serial, model)

    def bound_to(self, model: str) -> str | None:
        """Name of the endpoint that the model's second phase is bound to: one that names it before one whose pattern fits."""
        exact = (e.name for e in self.endpoints if model in e.second_phase)
        return next(exact, None) or next((e.name for e in self.endpoints if _matching(e.second_phase, model)), None)

    def keeps_second_phase(self, model: str) -> bool:
        """Whether the second phase of this model stays on one endpoint that nobody has named."""
        return _matching(self.second_phase, model) is not None


def _matching(patterns: Sequence[str], model: str) -> str | None:
    return next((p for p in patterns if fnmatchcase(model.lower(), p.lower())), None)


def read(data: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """Build the settings from JSON; keys that are missing or null take the defaults.

    `${NAME}` in a url is taken from `environ`. Raises `KeyError` for an
    endpoint without name or url, or a variable that is not set.
    """
    listed: Sequence[Mapping[str, Any]] = data["endpoints"]
    weights = DUAL_WEIGHTS if len(listed) == 2 else (1.0,) * len(listed)
    endpoints = tuple(_endpoint(e, w, environ) for e, w in zip(listed, weights, strict=True))
    rest = {k: v for k, v in data.items() if k in Settings.__dataclass_fields__ and v is not None}
    return Settings(**{**rest, "endpoints": endpoints})


def _endpoint(data: Mapping[str, Any], weight: float, environ: Mapping[str, str]) -> Endpoint:
    known = {k: v for k, v in data.items() if k in Endpoint.__dataclass_fields__ and v is not None}
    command = known.get("token_command") or ()
    argv = ("/bin/sh", "-c", command) if isinstance(command, str) else tuple(map(str, command))
    lists: dict[str, Any] = {k: tuple(known[k]) for k in ("serves", "second_phase") if k in known}
    values: dict[str, Any] = {"weight": weight, **known, **lists, "token_command": argv}
    url = re.sub(REFERENCE, lambda m: environ[m[1]], str(known["url"]))
    return Endpoint(**{**values, "url": url.rstrip("/")})
