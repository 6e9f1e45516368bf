"""One request to one endpoint, with its key or token; raises nothing but `Broken`."""

from __future__ import annotations

import http.client
import os
import ssl
import subprocess
import threading
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from runherd.guard import soundness
from runherd.guard.answers import as_object, has_refusal_code
from runherd.guard.settings import Endpoint

PLACEHOLDER_KEY = "runherd-guard"  #: what the program sends where it has no key of its own
CONNECT_TIMEOUT_S = 10.0
TOKEN_TIMEOUT_S = 60.0
#: Headers that belong to one connection, or that the guard sets itself.
OWN_HEADERS = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
     "upgrade", "host", "content-length", "accept-encoding", "expect", "x-runherd-phase")
)  # fmt: skip


class Broken(Exception):
    """No answer: the connection could not be made (`at_once`), broke, or timed out."""

    def __init__(self, why: str, at_once: bool = False) -> None:
        super().__init__(why)
        self.at_once = at_once


class Malformed(Broken):
    """There was an answer with the status of a success, and it was none."""


@dataclass
class Answer:
    """Status and headers are there; the body is read by the caller, who closes."""

    status: int
    headers: list[tuple[str, str]]
    response: http.client.HTTPResponse
    connection: http.client.HTTPConnection

    def header(self, name: str) -> str | None:
        return next((v for k, v in self.headers if k.lower() == name), None)

    def read(self) -> bytes:
        """The whole body. Raises `Broken`."""
        try:
            return self.response.read()
        except (OSError, http.client.HTTPException) as e:
            raise Broken(f"{type(e).__name__} within the answer") from e

    def read_some(self) -> bytes:
        """What has come of a stream, empty at its end. Raises `Broken`."""
        try:
            part = self.response.read1(1 << 16)
        except (OSError, http.client.HTTPException) as e:
            raise Broken(f"{type(e).__name__} within the stream") from e
        if not part and self.response.length:  # `read1` says nothing of what was promised and has not come
            raise Broken(f"the stream ended {self.response.length} bytes early")
        return part

    def read_first_event(self) -> bytes:
        """What has come of a stream of events, at least the whole of the first one. Raises `Broken`, `Malformed`.

        A stream that is compressed although nobody asked for that is not looked into.
        """
        begun = part = self.read_some()
        if (self.header("content-encoding") or "identity") != "identity":
            return begun
        while (event := soundness.first_event(begun, ended=not part)) is None:
            if len(begun) > soundness.FIRST_EVENT_BYTES:
                raise Malformed(f"the stream's first event is longer than {soundness.FIRST_EVENT_BYTES} bytes")
            part = self.read_some()
            begun += part
        if not has_refusal_code(event) and (fault := soundness.fault_of_event(event)) is not None:
            raise Malformed(fault)
        return begun

    def close(self) -> None:
        self.response.close()
        self.connection.close()


class Keys:
    """Keys and tokens of the endpoints; a token is made once and made anew when it is refused."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, str] = {}

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """The header that authorises a call; empty where the program's own key is to be used. Raises `Broken`."""
        value = None
        if endpoint.token_command:
            with self._lock:
                value = self._tokens.get(endpoint.name)
                if value is None:
                    value = self._tokens[endpoint.name] = new_token(endpoint.token_command)
        elif endpoint.key_env:
            value = os.environ.get(endpoint.key_env)
        if not value:
            return {}
        return {endpoint.key_header: f"Bearer {value}" if endpoint.key_header == "Authorization" else value}

    def refused(self, endpoint: Endpoint, sent: Mapping[str, str]) -> bool:
        """Forget the token that was refused; True when a new one can be made. One that is new already stays."""
        if not endpoint.token_command:
            return False
        with self._lock:
            known = self._tokens.get(endpoint.name)
            if known is not None and any(value.endswith(known) for value in sent.values()):
                del self._tokens[endpoint.name]
        return True


def new_token(command: Sequence[str]) -> str:
    """Run a token command. Raises `Broken` when it fails or prints nothing; its output is never shown."""
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TOKEN_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Broken(f"the token command failed: {type(e).__name__}", at_once=True) from None
    told: dict[str, Any] = as_object(done.stdout.encode())
    token = next((told[k] for k in ("accessToken", "access_token", "token") if told.get(k)), done.stdout.strip())
    if done.returncode != 0 or not token:
        raise Broken(f"the token command failed with exit code {done.returncode}", at_once=True)
    return str(token)


def send(
    endpoint: Endpoint, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes, timeout_s: float,
    model: str = "", connect_s: float = CONNECT_TIMEOUT_S,
) -> Answer:
    """Send one request; `path` comes after the endpoint's url (`/chat/completions`, with its query). Raises `Broken`."""
    base = urlsplit(endpoint.url.replace("{model}", quote(model, safe="")))
    target, _, query = path.partition("?")
    query = "&".join(q for q in (base.query, query) if q)
    connection = _connection(base.scheme, base.netloc, base.hostname or "", base.port, connect_s)
    try:
        connection.connect()
    except OSError as e:
        connection.close()
        raise Broken(f"no connection to {base.netloc}: {e.strerror or e}", at_once=True) from e
    try:
        assert connection.sock is not None
        connection.sock.settimeout(timeout_s)
        connection.putrequest(method, base.path.rstrip("/") + target + (f"?{query}" if query else ""),
                              skip_accept_encoding=True)  # fmt: skip
        for name, value in headers:
            connection.putheader(name, value)
        connection.putheader("Accept-Encoding", "identity")
        if body or method == "POST":
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)
        response = connection.getresponse()
    except (OSError, http.client.HTTPException, ValueError) as e:
        connection.close()
        said = "timed out" if isinstance(e, TimeoutError) else type(e).__name__
        raise Broken(f"{base.netloc}: {said}") from e
    return Answer(response.status, response.getheaders(), response, connection)


def _connection(
    scheme: str, netloc: str, host: str, port: int | None, connect_s: float
) -> http.client.HTTPConnection:
    """A connection, through the proxy that the environment names for this host."""
    proxies = urllib.request.getproxies()
    proxy = None if urllib.request.proxy_bypass(netloc) else proxies.get(scheme)
    via = urlsplit(proxy if "//" in proxy else f"//{proxy}") if proxy else None
    first, first_port = (via.hostname or "", via.port) if via else (host, port)
    if scheme == "https":
        secure = http.client.HTTPSConnection(
            first, first_port, timeout=connect_s, context=ssl.create_default_context()
        )
        if via:
            secure.set_tunnel(host, port or 443)
        return secure
    plain = http.client.HTTPConnection(first, first_port, timeout=connect_s)
    if via:
        plain.set_tunnel(host, port or 80)
    return plain
