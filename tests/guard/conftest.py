from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty import Faulty
from guardkit import Guard


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "Läufe 'a b'"
    folder.mkdir()
    return folder


@pytest.fixture
def guard(place: Path) -> Iterator[Callable[..., Guard]]:
    """guard([{...}, ...], **bounds) starts one; all are closed at the end."""
    begun: list[Guard] = []

    def start(endpoints: list[dict[str, Any]], environ: dict[str, str] | None = None, **bounds: Any) -> Guard:
        begun.append(Guard(place / "guard.json", endpoints, environ or {}, **bounds))
        return begun[-1]

    yield start
    for g in begun:
        g.server.shutdown()
        g.server.server_close()


@pytest.fixture
def faulty() -> Iterator[Callable[..., Faulty]]:
    begun: list[Faulty] = []

    def start(*args: Any, **kw: Any) -> Faulty:
        begun.append(Faulty(*args, **kw))
        return begun[-1]

    yield start
    for f in begun:
        f.stop()
