"""What the guard has seen, for guard.json: per endpoint and in all. Thread-safe."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runherd import clock
from runherd.files import read_object, write_json

SCHEMA = 1
MOST_EVENTS = 200
COUNTED = (
    "calls", "ok", "rate_limited", "forbidden", "failed", "unauthorised", "content_policy", "bad_request", "nulls",
    "broken_streams", "malformed", "cooldowns", "prompt_tokens", "completion_tokens", "reported_usage",
)  # fmt: skip


class Counters:
    """`calls` of an endpoint are requests sent to it; `items` in all are requests of the program."""

    def __init__(self, names: Iterable[str], earlier: Mapping[str, Any] | None = None) -> None:
        earlier = earlier or {}
        self._lock = threading.Lock()
        self._events: list[dict[str, str]] = list(earlier.get("events") or [])
        self._all: Counter[str] = Counter(earlier.get("program") or {})
        self._each: dict[str, Counter[str]] = {n: Counter() for n in names}
        self._renamed: dict[str, dict[str, str]] = {}
        self._answered_as: dict[str, Counter[str]] = {}
        for name, known in (earlier.get("endpoints") or {}).items():
            self._each[name] = Counter({k: known.get(k) or 0 for k in COUNTED})
            self._renamed[name] = dict(known.get("renamed") or {})
            self._answered_as[name] = Counter(known.get("answered_as") or {})
        self.peak = int(earlier.get("peak_in_flight") or 0)
        self._changed = True

    def add(self, endpoint: str, what: str, n: int = 1) -> None:
        with self._lock:
            self._each[endpoint][what] += n
            self._changed = True

    def program(self, what: str, n: int = 1) -> None:
        """Count something of the program's own requests: items, answered, given_up, retries, abandoned."""
        with self._lock:
            self._all[what] += n
            self._changed = True

    def renamed(self, endpoint: str, asked: str, own: str) -> None:
        with self._lock:
            self._renamed.setdefault(endpoint, {})[asked] = own

    def answered_as(self, endpoint: str, model: str) -> None:
        with self._lock:
            self._answered_as.setdefault(endpoint, Counter())[model] += 1

    def event(self, text: str) -> None:
        """Note something that happens seldom (an endpoint down, back, dropped)."""
        with self._lock:
            self._events = [*self._events[-MOST_EVENTS + 1 :], {"t": clock.now(), "text": text}]
            self._changed = True

    def to_json(self) -> dict[str, Any]:
        with self._lock:
            each: dict[str, dict[str, Any]] = {
                name: {
                    **{k: counts[k] for k in COUNTED},
                    "renamed": dict(self._renamed.get(name, {})),
                    "answered_as": dict(self._answered_as.get(name, {})),
                }
                for name, counts in self._each.items()
            }
            totals = {k: sum(e[k] for e in each.values()) for k in COUNTED}
            program = {k: self._all[k] for k in ("items", "answered", "given_up", "retries", "abandoned")}
            return {
                **totals, "retries": program["retries"], "given_up": program["given_up"], "program": program,
                "peak_in_flight": self.peak, "endpoints": each, "events": list(self._events),
            }  # fmt: skip


class Record:
    """guard.json: counters of a generation, written atomically, taken up again by its next attempt."""

    def __init__(self, path: Path, generation: int, names: Iterable[str]) -> None:
        self.path, self.generation = path, generation
        earlier = read_object(path)
        same = earlier is not None and earlier.get("generation") == generation
        self.counters = Counters(names, earlier if same else None)
        self._written: dict[str, Any] | None = None

    def write(self) -> None:
        """Write the counters if they have changed. A full disk costs only this writing."""
        now = self.counters.to_json()
        if now == self._written:
            return
        try:
            write_json(self.path, {"schema": SCHEMA, "generation": self.generation, "at": clock.now(), **now})
            self._written = now
        except OSError:
            pass
