"""A guard within the test's own process, and a client with the protocol of an OpenAI client."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from runherd.guard import server, settings
from runherd.guard.counters import Record
from runherd.guard.dispatch import Dispatcher

FAST = {"base_delay_s": 0.01, "max_delay_s": 0.05, "cooldown_s": 0.3}


class Guard:
    """A guard in this process, and a client with the protocol of an OpenAI client."""

    def __init__(self, path: Path, endpoints: list[dict[str, Any]], environ: dict[str, str], **bounds: Any) -> None:
        chosen = settings.read({"endpoints": endpoints, **FAST, **bounds}, environ)
        self.record = Record(path, 1, [e.name for e in chosen.endpoints])
        self.dispatcher = Dispatcher(chosen, self.record.counters)
        sock = server.listen()
        self.address = f"http://127.0.0.1:{sock.getsockname()[1]}"
        self.server = server.serve(sock, self.dispatcher, poll_s=0.05)

    def ask(
        self, text: str = "q", *, model: str = "gpt-4o", base: str = "/v1", path: str = "/chat/completions",
        headers: dict[str, str] | None = None, stream: bool = False,
    ) -> tuple[int, Any, dict[str, str]]:
        """One chat completion: (status, body, headers)."""
        body = {"model": model, "messages": [{"role": "user", "content": text}], **({"stream": True} if stream else {})}
        request = urllib.request.Request(
            self.address + base + path, json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": "Bearer program-key", **(headers or {})},
        )  # fmt: skip
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as r:
                raw, status, told = r.read(), r.status, r.headers
        except urllib.error.HTTPError as e:
            with e:
                raw, status, told = e.read(), e.code, e.headers
        return status, raw if stream else json.loads(raw), {k.lower(): v for k, v in told.items()}

    def ask_many(self, n: int, at_a_time: int, **kw: Any) -> list[tuple[int, Any, dict[str, str]]]:
        with ThreadPoolExecutor(at_a_time) as pool:
            return list(pool.map(lambda i: self.ask(f"q{i}", **kw), range(n)))

    def counts(self) -> dict[str, Any]:
        self.record.write()
        return json.loads(self.record.path.read_text())
