"""Whether an answer that claims success is one at all: whole JSON, or a stream whose first event is. Pure.

What is in front of an endpoint (a gateway, a login page, a server that was
killed within its answer) may say 200 to anything. Such an answer is a failed
try, not something for the program to choke on.
"""

from __future__ import annotations

import json
from typing import Any

CHOICES = ("/chat/completions", "/completions")  #: answers hold `choices`
JSON_ANSWERS = (*CHOICES, "/responses", "/embeddings")  #: calls whose answers are JSON, as the OpenAI API has them
FIRST_EVENT_BYTES = 1 << 20  #: an event that is longer is none
EVENTS = "text/event-stream"


def judged(method: str, path: str, status: int) -> bool:
    """Whether an answer of this status to this call must be JSON: a success, or a redirect that drops the question."""
    ours = method == "POST" and path.partition("?")[0].rstrip("/").endswith(JSON_ANSWERS)
    return ours and (200 <= status < 300 or status in (301, 302, 303))


def fault_of_body(path: str, content_type: str, encoding: str, body: bytes) -> str | None:
    """What is wrong with the body of a successful answer; None when it is whole.

    A body that is compressed although nobody asked for that is not looked into.
    """
    kind = _kind(content_type)
    if "html" in kind:
        return f"status 2xx or 3xx with a page ({kind}) instead of an answer"
    if encoding not in ("", "identity"):
        return None
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return f"the answer is not whole JSON ({len(body)} bytes, {kind or 'no content type'})"
    return _fault_of(told, "the answer", path.partition("?")[0].rstrip("/").endswith(CHOICES))


def is_stream(content_type: str) -> bool:
    return _kind(content_type) == EVENTS


def fault_of_head(content_type: str) -> str | None:
    """What is wrong with the head of an answer to a call that asked for a stream."""
    kind = _kind(content_type)
    return None if is_stream(content_type) else f"a stream was asked for, and {kind or 'something without content type'} came"


def first_event(begun: bytes, *, ended: bool) -> bytes | None:
    """The first `data:` line of a stream without its field name; None while it has not come whole.

    With `ended`, what there is counts as whole; empty when there is none.
    """
    for line in begun.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True):
        if line.startswith(b"data:") and (ended or line.endswith((b"\n", b"\r"))):
            return line[5:].strip()
    return b"" if ended else None


def fault_of_event(event: bytes) -> str | None:
    """What is wrong with the first event of a stream; None when the stream may be passed on."""
    try:
        told = json.loads(event)
    except (ValueError, RecursionError):
        return "the stream does not begin with JSON" if event else "the stream ended before its first event"
    return _fault_of(told, "the stream's first event", False)


def _fault_of(told: Any, what: str, choices: bool) -> str | None:
    if not isinstance(told, dict):
        return f"{what} is no JSON object"
    if told.get("error") and not isinstance(told.get("choices"), list):
        return f"{what} is an error with the status of a success"
    if choices and not isinstance(told.get("choices"), list):
        return f"{what} holds no choices"
    return None


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
