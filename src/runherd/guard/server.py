"""The guard's HTTP side on the loopback: what the program talks to."""

from __future__ import annotations

import select
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

from runherd.guard import answers
from runherd.guard.dispatch import Call, CallerGone, Dispatcher, Given
from runherd.guard.upstream import Broken

PHASE_HEADER = "x-runherd-phase"
SECOND_PHASE = ("b", "2", "second")  #: values of the header, and `/phase-b` before the path
BACKLOG = 1024
STACK_BYTES = 512 * 1024


def listen() -> socket.socket:
    """A listening socket on a free port of the loopback."""
    return socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, sock: socket.socket, dispatcher: Dispatcher) -> None:
        super().__init__(sock.getsockname(), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = sock
        self.dispatcher = dispatcher

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that went away is nothing to tell of; anything else is."""
        import sys

        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def serve(sock: socket.socket, dispatcher: Dispatcher, poll_s: float = 60.0) -> Server:
    """Serve in threads of their own; returns at once. `poll_s` is how long `shutdown` may take."""
    threading.stack_size(STACK_BYTES)
    server = Server(sock, dispatcher)
    threading.Thread(target=dispatcher.ask_models, daemon=True).start()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": poll_s}, daemon=True).start()
    return server


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        self._carry()

    do_GET = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Calls are counted, not logged."""

    def _carry(self) -> None:
        dispatcher = self.server.dispatcher
        counted = self.command == "POST"
        if counted:
            dispatcher.counters.program("items")
        try:
            given = dispatcher.carry(self._call())
        except CallerGone:
            dispatcher.counters.program("abandoned")
            self.close_connection = True
            return
        try:
            if given.stream is not None:
                self._stream(given)
            else:
                self._whole(given)
        except OSError:
            dispatcher.counters.program("abandoned")
            self.close_connection = True
            return
        finally:
            if given.stream is not None:
                given.stream.close()
            given.release()
        if counted:
            dispatcher.counters.program("answered")

    def _call(self) -> Call:
        body = self._body()
        told = answers.as_object(body) if "multipart" not in self.headers.get("Content-Type", "") else {}
        path, second = self.path, self.headers.get(PHASE_HEADER, "").lower() in SECOND_PHASE
        if path.startswith("/phase-b/"):
            path, second = path.removeprefix("/phase-b"), True
        path = path.removeprefix("/v1")
        model = told.get("model")
        return Call(
            self.command, path, list(self.headers.items()), body, model if isinstance(model, str) else "", second,
            bool(told.get("stream")), self._caller_gone,
        )  # fmt: skip

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def _caller_gone(self) -> bool:
        """Whether the program has closed its end of the connection."""
        try:
            if not select.select([self.connection], [], [], 0)[0]:
                return False
            return not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True

    def _head(self, given: Given) -> None:
        self.send_response_only(given.status)
        for name, value in given.headers:
            self.send_header(name, value)
        self.send_header("x-runherd-endpoint", given.endpoint or "none")

    def _whole(self, given: Given) -> None:
        self._head(given)
        self.send_header("Content-Length", str(len(given.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(given.body)

    def _stream(self, given: Given) -> None:
        """Pass a stream on as it comes. If it breaks, the connection does too: a cut answer must not look whole."""
        dispatcher, stream = self.server.dispatcher, given.stream
        assert stream is not None
        self._head(given)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        part, tail = given.body, b""
        try:
            while part:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                tail = (tail + part)[-(1 << 16) :]
                part = stream.read_some()
        except Broken as e:
            dispatcher.counters.add(given.endpoint, "broken_streams")
            dispatcher.counters.event(f"{given.endpoint}: {e}")
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")
        for line in reversed(tail.splitlines()):
            if line.startswith(b"data:") and b'"usage"' in line:
                dispatcher.count_body(given.endpoint, line[5:].strip())
                break
