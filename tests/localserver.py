"""A quiet HTTP server on the loopback, in threads of this process, that stand-ins for other programs' servers use."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers in JSON over connections that stay open; logs nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def lower_headers(self) -> dict[str, str]:
        return {k.lower(): v for k, v in self.headers.items()}

    def reply(self, status: int, told: Any, headers: Mapping[str, str] | None = None) -> None:
        """Send bytes as they are, anything else as JSON. Status 0 breaks the connection; an empty header is left out."""
        if status == 0:
            self.close_connection = True
            return
        raw = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(raw)), **(headers or {})}
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)
        if not headers["Content-Length"]:
            self.close_connection = True


class LocalServer:
    """Serves with `handler` from the start until `stop`."""

    PATH = ""  #: of `url`

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        self.server = _Server(("127.0.0.1", port), handler)
        self.port: int = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.PATH}"

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass
