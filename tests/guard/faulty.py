"""A local OpenAI-compatible server that injects faults, for tests of the guard."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from localserver import Handler, LocalServer

Reply = tuple[int, dict[str, Any] | bytes, dict[str, str]]


def completion(text: str | None = "yes", model: str = "gpt-4o") -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3},
    }


def error(code: str) -> dict[str, Any]:
    return {"error": {"message": code, "type": "error", "code": code}}


class Faulty(LocalServer):
    """Answers each POST by `behave(n, body)`: n counts from 1. Times are in `delay_s`.

    A question for its models is answered by `models`, or with the status `listing`;
    `asked` holds the headers of these questions.
    """

    PATH = "/v1"

    def __init__(
        self, behave: Callable[[int, dict[str, Any]], Reply] | None = None, *, delay_s: float = 0.0,
        models: list[str] | None = None, port: int = 0, listing: int | None = None,
    ) -> None:
        self.behave = behave or (lambda n, body: (200, completion(f"answer {body['messages'][0]['content']}"), {}))
        self.delay_s, self.models = delay_s, models
        self.listing, self.asked = listing, list[dict[str, str]]()
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.in_flight = self.peak = 0
        self.lock = threading.Lock()
        outer = self

        class Answers(Handler):
            def do_GET(self) -> None:
                outer.asked.append(self.lower_headers())
                listed = None if outer.models is None else {"data": [{"id": m} for m in outer.models]}
                if outer.listing is not None:
                    self.reply(outer.listing, error("refused"))
                    return
                self.reply(404 if listed is None else 200, listed or error("not_found"))

            def do_POST(self) -> None:
                body = json.loads(self.body())
                with outer.lock:
                    outer.seen.append(body)
                    outer.headers.append(self.lower_headers())
                    outer.paths.append(self.path)
                    n = len(outer.seen)
                    outer.in_flight += 1
                    outer.peak = max(outer.peak, outer.in_flight)
                try:
                    if outer.delay_s:
                        threading.Event().wait(outer.delay_s)
                    status, told, headers = outer.behave(n, body)
                finally:
                    with outer.lock:
                        outer.in_flight -= 1
                self.reply(status, told, headers)

        super().__init__(Answers, port)


def wait_until(true: Callable[[], bool], timeout_s: float = 20.0) -> None:
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end, "waited in vain"
        threading.Event().wait(0.01)
