"""A local OpenAI-compatible server that injects faults, for tests of the guard."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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


class Faulty:
    """Answers each POST by `behave(n, body)`: n counts from 1. Times are in `delay_s`.

    A question for its models is answered by `models`, or with the status `listing`;
    `asked` holds the headers of these questions.
    """

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

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                outer.asked.append({k.lower(): v for k, v in self.headers.items()})
                listed = None if outer.models is None else {"data": [{"id": m} for m in outer.models]}
                if outer.listing is not None:
                    self.reply(outer.listing, error("refused"), {})
                    return
                self.reply(404 if listed is None else 200, listed or error("not_found"), {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    outer.seen.append(body)
                    outer.headers.append({k.lower(): v for k, v in self.headers.items()})
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

            def reply(self, status: int, told: dict[str, Any] | bytes, headers: dict[str, str]) -> None:
                if status == 0:  # break the connection
                    self.close_connection = True
                    return
                raw = told if isinstance(told, bytes) else json.dumps(told).encode()
                self.send_response(status)
                headers = {"Content-Type": "application/json", "Content-Length": str(len(raw)), **headers}
                for name, value in headers.items():
                    if value:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)
                if not headers["Content-Length"]:
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        self.port: int = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def wait_until(true: Callable[[], bool], timeout_s: float = 20.0) -> None:
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end, "waited in vain"
        threading.Event().wait(0.01)
