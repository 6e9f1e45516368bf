"""The endpoints of runs that go through a guard: alive, key accepted, model served. Each is asked once, all at a time.

What another endpoint can carry is a warning, as the guard would leave the bad
one alone; what leaves a run without any endpoint stops it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd.config import Spec
from runherd.errors import UserError
from runherd.guard import answers, settings, upstream
from runherd.guard.settings import Endpoint, Settings
from runherd.lifecycle import guarded
from runherd.preflight.findings import Finding
from runherd.words import listing


@dataclass(frozen=True)
class Said:
    """What an endpoint answered to `/models`: a reason why it is not usable, or the models that it lists (None: no list)."""

    problem: str | None = None
    models: frozenset[str] | None = None


@dataclass(frozen=True)
class _Fleet:
    """The endpoints of one or several runs that ask for the same model."""

    settings: Settings
    shown: Mapping[str, str]  #: endpoint -> its url as written, without what the environment puts into it
    model: str
    certain: bool  #: this is the name that the program sends; else it is only what the configuration calls the model
    runs: tuple[str, ...]
    key: str | None


def check(specs: Mapping[str, Spec], timeout_s: float, environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """One finding per endpoint (or missing setting) that is not as the runs need it; `specs` by run id."""
    fleets: dict[str, _Fleet] = {}
    for run_id, spec in specs.items():
        if not guarded.wanted(spec):
            continue
        try:
            data = guarded.settings(spec, Path("guard.json"), 0, environ)
        except UserError as e:
            for problem in e.problems:
                yield Finding("endpoint", f"{run_id}: {problem.what}", run_id, hint=problem.hint or problem.where)
            continue
        fleet = _fleet(run_id, spec, data, environ)
        name = json.dumps([data["endpoints"], fleet.model, fleet.certain, fleet.key], sort_keys=True, default=str)
        known = fleets.get(name)
        fleets[name] = fleet if known is None else _joined(known, run_id)
    said = _ask_all(list(fleets.values()), timeout_s)
    for fleet in fleets.values():
        yield from judge(fleet.settings, fleet.model, fleet.certain, fleet.runs, fleet.shown,
                         {e.name: said[_question(e, fleet)] for e in fleet.settings.endpoints})  # fmt: skip


def judge(
    chosen: Settings, model: str, certain: bool, runs: Sequence[str], shown: Mapping[str, str], said: Mapping[str, Said]
) -> Iterator[Finding]:
    """Findings about one set of endpoints, from what each has said. Pure."""
    bad = {e.name: why for e in chosen.endpoints if (why := _why_not(e, model, said[e.name])) is not None}
    whole = [e.name for e in chosen.endpoints if e.name not in bad]
    unlisted = {e.name for e in chosen.endpoints if e.name in bad and said[e.name].problem is None}
    pinned = chosen.bound_to(model)
    named = listing(runs, 4)
    for name, why in bad.items():
        doubtful = name in unlisted and not certain
        if name == pinned:
            stops, what = True, f"the second phase of {model} is bound to it"
        elif whole:
            stops, what = False, f"calls go to {', '.join(whole)}"
        else:
            stops, what = True, "no other endpoint is left"
        if doubtful:
            stops, what = False, "set endpoint.model if the program asks for another name"
        yield Finding("endpoint", f"endpoint {name} ({shown[name]}) {why}; {what} ({named})", runs[0], stops)


def _why_not(endpoint: Endpoint, model: str, said: Said) -> str | None:
    if said.problem is not None:
        return said.problem
    listed = said.models if endpoint.check_models else None
    own = endpoint.own_name(model)
    if not model or endpoint.has(own, listed):
        return None
    return f"does not serve {own} (it lists {endpoint.lists(own, listed)})"


def ask(endpoint: Endpoint, model: str, own_key: str | None, timeout_s: float) -> Said:
    """Ask one endpoint for its models, with its own key or token, else the program's key. Never raises."""
    try:
        key = upstream.Keys().headers(endpoint) or ({"Authorization": f"Bearer {own_key}"} if own_key else {})
    except upstream.Broken as e:
        return Said(str(e))
    own = endpoint.own_name(model)
    try:
        answer = upstream.send(endpoint, "GET", "/models", [*key.items()], b"", timeout_s, own, connect_s=timeout_s)
        try:
            return understood(answer.status, answer.read(), bool(key))
        finally:
            answer.close()
    except upstream.Broken as e:
        return Said(f"does not answer: {e}")


def understood(status: int, body: bytes, had_key: bool) -> Said:
    """What an answer to `/models` means. A 401 without a key says only that one is needed, 404 that there is no list."""
    if status == 401 and had_key:
        return Said("refuses the key (401)")
    if status == 403 or status >= 500:
        return Said(f"answers {status}")
    listed = answers.as_object(body).get("data") if status == 200 else None
    if not isinstance(listed, list) or not listed:
        return Said()
    return Said(models=frozenset(str(m.get("id")) for m in listed if isinstance(m, dict)))


def _fleet(run_id: str, spec: Spec, data: Mapping[str, Any], environ: Mapping[str, str]) -> _Fleet:
    chosen = settings.read(data, environ)
    asked, called = spec.get("endpoint.model"), spec.get("model")
    model = str(asked or (called if isinstance(called, str) else ""))
    renamed = any(model in e.models for e in chosen.endpoints)
    shown = {str(e["name"]): str(e["url"]) for e in data["endpoints"]}
    written = str((spec.get("execution.env") or {}).get("OPENAI_API_KEY") or "")
    key = environ.get("OPENAI_API_KEY") if not written or "$" in written else written
    return _Fleet(chosen, shown, model, bool(asked) or renamed, (run_id,), key or None)


def _joined(fleet: _Fleet, run_id: str) -> _Fleet:
    return _Fleet(fleet.settings, fleet.shown, fleet.model, fleet.certain, (*fleet.runs, run_id), fleet.key)


def _question(endpoint: Endpoint, fleet: _Fleet) -> tuple[Any, ...]:
    """What makes two questions the same."""
    model = endpoint.own_name(fleet.model) if "{model}" in endpoint.url else ""
    return endpoint.url, endpoint.key_env, endpoint.key_header, endpoint.token_command, fleet.key, model


def _ask_all(fleets: Sequence[_Fleet], timeout_s: float) -> dict[tuple[Any, ...], Said]:
    wanted = {_question(e, f): (e, f) for f in fleets for e in f.settings.endpoints}
    if not wanted:
        return {}
    with ThreadPoolExecutor(min(16, len(wanted))) as pool:
        found = pool.map(lambda pair: ask(pair[0], pair[1].model, pair[1].key, timeout_s), wanted.values())
        return dict(zip(wanted, found, strict=True))
