"""Answers that claim success and are none: tried again elsewhere, before the program has seen a byte of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from faulty import Faulty, completion, error
from guardkit import Guard

from runherd.guard import soundness

Start = Callable[..., Guard]
Fault = Callable[..., Faulty]

WHOLE = json.dumps(completion("grün")).encode()
PAGE = b"<html><body>please log in</body></html>"
HTML = {"Content-Type": "text/html; charset=utf-8"}
EVENTS = {"Content-Type": "text/event-stream", "Content-Length": ""}
GOOD_STREAM = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n'


def two(bad: Faulty, good: Faulty) -> list[dict[str, Any]]:
    """The bad one is taken first."""
    return [{"name": n, "url": s.url, "check_models": False} for n, s in (("bad", bad), ("good", good))]


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (200, b'{"id": "x", "choices": [', {}),
        (200, WHOLE[:-1], {}),
        (200, WHOLE.replace(b"\\u00fc", b"\xfc"), {}),
        (200, b"", {}),
        (200, PAGE, HTML),
        (200, PAGE, {}),
        (200, PAGE, {"Content-Type": ""}),
        (200, WHOLE, HTML),
        (200, b"OK", {"Content-Type": "text/plain"}),
        (200, b'"maintenance"', {}),
        (200, b"[]", {}),
        (200, b'{"status": "maintenance"}', {}),
        (200, json.dumps(error("upstream_error")).encode(), {}),
        (200, GOOD_STREAM, EVENTS),
        (204, b"", {}),
        (302, PAGE, {**HTML, "Location": "/login"}),
    ],
)
def test_an_answer_that_is_none_is_asked_for_elsewhere(
    guard: Start, faulty: Fault, status: int, body: bytes, headers: dict[str, str]
) -> None:
    """Cut or foreign, whatever it says of itself: a failed try, counted as such, and the healthy endpoint answers."""
    bad, good = faulty(lambda n, _: (status, body, headers)), faulty()
    g = guard(two(bad, good), max_retries=1)
    got, told, _ = g.ask("ä")
    assert (got, told["choices"][0]["message"]["content"]) == (200, "answer ä")
    counts = g.counts()
    assert (len(bad.seen), len(good.seen)) == (1, 1)
    assert [counts["endpoints"]["bad"][k] for k in ("calls", "ok", "failed", "malformed")] == [1, 0, 1, 1]
    assert (counts["ok"], counts["malformed"], counts["retries"], counts["given_up"]) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (WHOLE, {}),
        (WHOLE, {"Content-Type": "text/plain"}),
        (WHOLE, {"Content-Type": ""}),
        (b"\xef\xbb\xbf" + WHOLE, {}),
        (json.dumps(completion(None)).encode(), {}),
        (json.dumps({**completion("<html>no</html>"), "error": None}).encode(), {}),
    ],
)
def test_a_whole_answer_goes_to_the_program_as_it_is(
    guard: Start, faulty: Fault, body: bytes, headers: dict[str, str]
) -> None:
    """What is whole JSON with choices is an answer, whatever content type a small server gives it."""
    server = faulty(lambda n, _: (200, body, headers))
    g = guard([{"name": "a", "url": server.url, "check_models": False}])
    assert g.ask()[:2] == (200, json.loads(body))
    assert (g.counts()["ok"], g.counts()["malformed"]) == (1, 0)


def test_an_error_of_content_policy_within_a_200_is_never_retried(guard: Start, faulty: Fault) -> None:
    """A refusal stays one where the endpoint gives it the status of a success."""
    bad, good = faulty(lambda n, _: (200, error("content_filter"), {})), faulty()
    g = guard(two(bad, good))
    assert g.ask()[:2] == (200, error("content_filter"))
    assert (len(bad.seen), len(good.seen), g.counts()["content_policy"]) == (1, 0, 1)


def test_nothing_but_malformed_answers_ends_as_an_error(guard: Start, faulty: Fault) -> None:
    """Given up, the program gets an error of status 502 and never the page; the endpoint's circuit has opened."""
    server = faulty(lambda n, _: (200, PAGE, HTML))
    g = guard([{"name": "a", "url": server.url, "check_models": False}], max_retries=2, cooldown_s=0.01)
    status, told, headers = g.ask()
    assert (status, headers["x-runherd-guard"], headers["x-should-retry"]) == (502, "retry_exhausted", "false")
    assert "text/html" in told["error"]["message"]
    counts = g.counts()
    assert (counts["malformed"], counts["failed"], counts["given_up"], counts["cooldowns"]) == (3, 3, 1, 1)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (PAGE, HTML),
        (PAGE, EVENTS),
        (WHOLE, {}),
        (b'data: {"id": "x", "choi\n\n', EVENTS),
        (b'data: {"id": "x", "choi', EVENTS),
        (b"data: <html>\n\n", EVENTS),
        (b"data: [DONE]\n\n", EVENTS),
        (b'data: {"error": {"message": "overloaded"}}\n\n', EVENTS),
        (b": ping\n\n", EVENTS),
        (b"", EVENTS),
    ],
)
def test_a_stream_that_is_none_is_asked_for_elsewhere(
    guard: Start, faulty: Fault, body: bytes, headers: dict[str, str]
) -> None:
    """The first event decides, and the program sees nothing of a stream that begins with none."""
    bad, good = faulty(lambda n, _: (200, body, headers)), faulty(lambda n, _: (200, GOOD_STREAM, EVENTS))
    g = guard(two(bad, good), max_retries=1, max_concurrent=2)
    assert g.ask(stream=True)[:2] == (200, GOOD_STREAM)
    counts = g.counts()
    assert (len(bad.seen), len(good.seen), counts["broken_streams"]) == (1, 1, 0)
    assert [counts["endpoints"]["bad"][k] for k in ("ok", "failed", "malformed")] == [0, 1, 1]
    assert all(s.in_flight == 0 for s in g.dispatcher.router.states.values())


@pytest.mark.parametrize("begin", [b": waiting\r\n\r\n", b"\xef\xbb\xbf", b"event: message\nid: 1\n", b""])
def test_what_comes_before_the_first_event_is_passed_on_too(guard: Start, faulty: Fault, begin: bytes) -> None:
    """Comments and other fields of a stream are no events; the stream arrives byte for byte."""
    server = faulty(lambda n, _: (200, begin + GOOD_STREAM, {**EVENTS, "Content-Type": "Text/Event-Stream; charset=utf-8"}))
    g = guard([{"name": "a", "url": server.url, "check_models": False}])
    assert g.ask(stream=True)[:2] == (200, begin + GOOD_STREAM)
    assert g.counts()["malformed"] == 0


def test_other_calls_are_not_looked_into(guard: Start, faulty: Fault) -> None:
    """What is no completion may be answered with anything: speech is no JSON."""
    server = faulty(lambda n, _: (200, b"RIFF\x00\xff", {"Content-Type": "audio/wav"}))
    g = guard([{"name": "a", "url": server.url, "check_models": False}])
    assert g.ask(path="/audio/speech", stream=True)[:2] == (200, b"RIFF\x00\xff")
    assert g.counts()["malformed"] == 0


@pytest.mark.parametrize(
    ("begun", "ended", "wanted"),
    [
        (b'data: {"a"', False, None), (b'data: {"a"', True, b'{"a"'), (b'data: {"a": 1}\r', False, b'{"a": 1}'),
        (b"data", False, None), (b": x\n", False, None), (b": x\n", True, b""), (b"data:1\ndata:2\n", False, b"1"),
        (b"event: data: x\n", False, None),
    ],
)  # fmt: skip
def test_the_first_event_is_waited_for(begun: bytes, ended: bool, wanted: bytes | None) -> None:
    """A line that has not come whole decides nothing while more may come."""
    assert soundness.first_event(begun, ended=ended) == wanted


def test_what_is_compressed_unasked_is_handed_on(guard: Start, faulty: Fault) -> None:
    """The guard does not judge what it cannot read, but a page is one by its type."""
    packed = b"\x1f\x8b\x08\x00"
    server = faulty(lambda n, _: (200, packed, {**EVENTS, "Content-Encoding": "gzip"}))
    g = guard([{"name": "a", "url": server.url, "check_models": False}])
    assert g.ask(stream=True)[:2] == (200, packed)
    path = "/chat/completions"
    assert soundness.fault_of_body(path, "application/json", "gzip", packed) is None
    assert soundness.fault_of_body(path, "text/html", "gzip", packed) is not None


@pytest.mark.parametrize(("path", "wanted"), [("/completions?v=1", False), ("/responses", True), ("/embeddings", True)])
def test_only_completions_must_hold_choices(path: str, wanted: bool) -> None:
    """Responses and embeddings are JSON objects of other shapes; a cut one is a failed try as well."""
    assert soundness.judged("POST", path, 200)
    assert (soundness.fault_of_body(path, "application/json", "", b'{"data": []}') is None) is wanted
    assert soundness.fault_of_body(path, "application/json", "", b'{"data": [') is not None
