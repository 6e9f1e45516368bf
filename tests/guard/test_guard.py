"""The guard against a server that injects faults: nothing lost, bounds kept, counters right."""

from __future__ import annotations

import http.client
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from faulty import Faulty, completion, error, wait_until
from guardkit import Guard

Start = Callable[..., Guard]
Fault = Callable[..., Faulty]


def one(server: Faulty, name: str = "a", **more: Any) -> dict[str, Any]:
    return {"name": name, "url": server.url, "check_models": False, **more}


def test_rate_limits_are_waited_out(guard: Start, faulty: Fault) -> None:
    """A burst of 429 loses no item, is counted exactly, and never breaks the limit of concurrent calls."""
    server = faulty(
        lambda n, body: (429, error("rate_limit"), {}) if n <= 15 else (200, completion(body["messages"][0]["content"]), {}),
        delay_s=0.01,
    )
    g = guard([one(server)], max_concurrent=4, max_retries=20)
    answers = g.ask_many(40, 16)
    assert [a[0] for a in answers] == [200] * 40
    assert [a[1]["choices"][0]["message"]["content"] for a in answers] == [f"q{i}" for i in range(40)]
    assert server.peak <= 4
    counts = g.counts()
    assert (counts["calls"], counts["rate_limited"], counts["ok"], counts["retries"]) == (55, 15, 40, 15)
    assert counts["program"] == {"items": 40, "answered": 40, "given_up": 0, "retries": 15, "abandoned": 0}
    assert counts["peak_in_flight"] == 4
    assert (counts["prompt_tokens"], counts["completion_tokens"]) == (400, 120)


def test_calls_are_split_by_weight(guard: Start, faulty: Fault) -> None:
    """Two equal endpoints get near 65 and 35 per cent, one call at a time as well as many, each within its share."""
    a, b = faulty(delay_s=0.02), faulty(delay_s=0.02)
    g = guard([one(a, "proxy"), one(b, "direct")], max_concurrent=12)
    answers = g.ask_many(1000, 30)
    assert [x[1]["choices"][0]["message"]["content"] for x in answers] == [f"answer q{i}" for i in range(1000)]
    assert len(a.seen) + len(b.seen) == 1000 and 0.62 <= len(a.seen) / 1000 <= 0.68
    assert a.peak <= 8 and b.peak <= 4
    before = len(a.seen)
    for _ in range(20):
        g.ask()
    assert 8 <= len(a.seen) - before <= 17  # little is paid back of what the many left
    counts = g.counts()
    assert {n: e["calls"] for n, e in counts["endpoints"].items()} == {"proxy": len(a.seen), "direct": len(b.seen)}
    assert counts["peak_in_flight"] <= 12


def test_a_dead_endpoint_is_left_alone_and_comes_back(guard: Start, faulty: Fault) -> None:
    """Calls go to the living one, within its own share; after the cool-down the other takes part again."""
    a, b = faulty(delay_s=0.005), faulty(delay_s=0.005)
    port = a.port
    a.stop()
    g = guard([one(a, "proxy"), one(b, "direct")], max_concurrent=12, cooldown_s=0.5)
    answers = g.ask_many(60, 24)
    assert [x[0] for x in answers] == [200] * 60
    assert len(b.seen) == 60 and b.peak <= 4
    dead = g.counts()
    assert dead["given_up"] == 0
    assert 1 <= dead["endpoints"]["proxy"]["cooldowns"] <= 3
    assert any("proxy is left alone" in e["text"] for e in dead["events"])
    again = faulty(port=port)
    wait_until(lambda: g.ask()[0] == 200 and len(again.seen) > 0)
    assert any(e["text"] == "proxy is back" for e in g.counts()["events"])
    before = len(again.seen)
    g.ask_many(40, 4)
    assert 0.5 <= (len(again.seen) - before) / 40 <= 0.8


def test_a_flood_of_403_opens_the_circuit(guard: Start, faulty: Fault) -> None:
    """An endpoint that forbids everything gets a handful of calls, not thousands; all items come from the other."""
    a, b = faulty(lambda n, body: (403, error("forbidden"), {})), faulty()
    g = guard([one(a, "proxy"), one(b, "direct")], cooldown_s=60)
    answers = g.ask_many(80, 8)
    assert [x[0] for x in answers] == [200] * 80
    counts = g.counts()
    assert counts["forbidden"] == len(a.seen) < 20
    assert counts["retries"] == len(a.seen)


def test_one_endpoint_that_recovers_loses_nothing(guard: Start, faulty: Fault) -> None:
    """With a single endpoint down for a while, the calls wait for it."""
    server = faulty(lambda n, body: (503, error("down"), {}) if n <= 4 else (200, completion(), {}))
    g = guard([one(server)], cooldown_s=0.2)
    assert [x[0] for x in g.ask_many(12, 6)] == [200] * 12
    assert g.counts()["given_up"] == 0


def test_giving_up_is_told_and_bounded(guard: Start, faulty: Fault) -> None:
    """What stays refused is given up after the configured retries, marked so that the client does not try again."""
    server = faulty(lambda n, body: (429, error("rate_limit"), {"Retry-After": "0"}))
    g = guard([one(server)], max_retries=3)
    status, body, headers = g.ask()
    assert (status, body["error"]["code"]) == (429, "rate_limit")
    assert (headers["x-should-retry"], headers["x-runherd-guard"]) == ("false", "retry_exhausted")
    assert len(server.seen) == 4
    assert (g.counts()["given_up"], g.counts()["retries"]) == (1, 3)


def test_all_down_gives_up_in_the_end(guard: Start) -> None:
    """Where no endpoint can be reached at all, a call ends after as many cool-downs as it has retries."""
    dead = Faulty()
    dead.stop()
    g = guard([one(dead)], max_retries=2, cooldown_s=0.05)
    status, _, headers = g.ask()
    assert status in (502, 503) and headers["x-should-retry"] == "false"
    assert g.counts()["given_up"] == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error("content_filter")),
        (400, {"error": {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
        (403, error("content_policy_violation")),
    ],
)
def test_refusals_by_policy_are_never_retried(guard: Start, faulty: Fault, status: int, body: Any) -> None:
    """A content-policy refusal goes to the program as it is, after one call, and harms no circuit."""
    server = faulty(lambda n, _: (status, body, {}))
    g = guard([one(server)], failures=1)
    assert g.ask()[:2] == (status, body)
    assert len(server.seen) == 1
    counts = g.counts()
    assert (counts["content_policy"], counts["forbidden"], counts["cooldowns"]) == (1, 0, 0)


def test_a_bad_request_is_the_callers_own(guard: Start, faulty: Fault) -> None:
    """An error of the request itself is handed on at once."""
    server = faulty(lambda n, _: (400, error("invalid_image"), {}))
    g = guard([one(server)])
    assert g.ask()[0] == 400
    assert len(server.seen) == 1


def test_slow_answers_take_only_their_slots(guard: Start, faulty: Fault) -> None:
    """Slow answers are waited for; answers slower than the time-out are asked for again."""
    held = threading.Event()

    def behave(n: int, body: dict[str, Any]) -> Any:
        if n == 1:
            held.wait(5)
        return 200, completion(), {}

    server = faulty(behave, delay_s=0.05)
    g = guard([one(server)], timeout_s=0.5, max_concurrent=2)
    try:
        assert [x[0] for x in g.ask_many(6, 6)] == [200] * 6
    finally:
        held.set()
    assert server.peak <= 3  # the server still holds the call that was given up
    assert g.counts()["failed"] == 1


def test_a_broken_answer_is_asked_for_again(guard: Start, faulty: Fault) -> None:
    """An answer that breaks off within its body never reaches the program."""
    server = faulty(
        lambda n, _: (200, b'{"choices": [', {"Content-Length": "500"}) if n == 1 else (0, b"", {}) if n == 2 else (200, completion(), {})
    )
    server.server.RequestHandlerClass.timeout = 0.3  # type: ignore[attr-defined]
    g = guard([one(server)], failures=9)
    status, body, _ = g.ask()
    assert (status, body["choices"][0]["message"]["content"]) == (200, "yes")
    assert g.counts()["failed"] == 2


def test_nulls_and_answering_models_are_counted(guard: Start, faulty: Fault) -> None:
    """An answer without content is a null; which model answered is kept."""
    server = faulty(lambda n, _: (200, completion(None if n == 2 else "x", model="gpt-4o-2024-08-06"), {}))
    g = guard([one(server)])
    g.ask_many(3, 1)
    counts = g.counts()
    assert counts["nulls"] == 1
    assert counts["endpoints"]["a"]["answered_as"] == {"gpt-4o-2024-08-06": 3}


def test_streams_are_passed_on_as_they_come(guard: Start, faulty: Fault) -> None:
    """A stream arrives byte for byte, and its usage is counted."""
    said = ['{"choices": [{"delta": {"content": "a"}}]}', '{"usage": {"prompt_tokens": 7, "completion_tokens": 2}}', "[DONE]"]
    sse = "".join(f"data: {part}\n\n" for part in said).encode()
    server = faulty(lambda n, _: (200, sse, {"Content-Type": "text/event-stream", "Content-Length": ""}))
    g = guard([one(server)], max_concurrent=1)
    assert g.ask(stream=True)[:2] == (200, sse)
    assert g.ask(stream=True)[:2] == (200, sse)  # the slot is free again
    wait_until(lambda: g.counts()["prompt_tokens"] == 14)


PART = b'data: {"choices": []}\n\n'


@pytest.mark.parametrize(
    ("sent", "headers"),
    [(PART, {"Content-Length": "500"}), (b"%x\r\n%s\r\n" % (len(PART), PART), {"Transfer-Encoding": "chunked", "Content-Length": ""})],
    ids=["by length", "chunked"],
)
def test_a_stream_that_breaks_is_told_and_frees_its_place(
    guard: Start, faulty: Fault, sent: bytes, headers: dict[str, str]
) -> None:
    """A cut answer must not look whole: the program's connection breaks too; it is counted, and the next call goes on."""
    events = {"Content-Type": "text/event-stream", **headers}
    server = faulty(lambda n, _: (200, sent, events) if n == 1 else (200, completion(), {}))
    server.server.RequestHandlerClass.timeout = 0.3  # type: ignore[attr-defined]
    g = guard([one(server)], max_concurrent=1)
    with pytest.raises(http.client.IncompleteRead):
        g.ask(stream=True)
    assert g.ask()[0] == 200
    counts = g.counts()
    assert (counts["broken_streams"], counts["ok"]) == (1, 2)


def test_all_faults_at_once_lose_nothing(guard: Start, faulty: Fault) -> None:
    """1,200 calls through two endpoints that limit, forbid, fail, break, dawdle and refuse: each item is answered once,
    the counters add up, and the limits hold."""
    sent: Counter[str] = Counter()
    lock = threading.Lock()

    def behave(seed: int) -> Callable[[int, dict[str, Any]], Any]:
        rng = random.Random(seed)

        def answer(n: int, body: dict[str, Any]) -> Any:
            name = body["messages"][0]["content"]
            with lock:
                draw = rng.random()
                burst = n % 100 < 6  # what limits, limits several in a row
                kind = "refused" if int(name[1:]) % 50 == 0 else "limited" if burst else "ok"
                kind = kind if kind != "ok" or draw > 0.06 else rng.choice(["forbidden", "failed", "broken", "slow"])
                sent[kind] += 1
            if kind == "slow":
                threading.Event().wait(0.1)
            return {
                "refused": (400, error("content_filter"), {}), "limited": (429, error("rate_limit"), {"Retry-After": "0"}),
                "forbidden": (403, error("forbidden"), {}), "failed": (503, error("down"), {}), "broken": (0, b"", {}),
            }.get(kind, (200, completion(f"answer {name}"), {}))  # fmt: skip

        return answer

    a, b = faulty(behave(1), delay_s=0.002), faulty(behave(2), delay_s=0.002)
    g = guard([one(a, "proxy"), one(b, "direct")], max_concurrent=12, max_retries=30, cooldown_s=0.05)
    answers = g.ask_many(1200, 24)
    for i, (status, body, _) in enumerate(answers):
        if i % 50 == 0:
            assert (status, body["error"]["code"]) == (400, "content_filter")
        else:
            assert (status, body["choices"][0]["message"]["content"]) == (200, f"answer q{i}")
    counts = g.counts()
    assert counts["program"] == {"items": 1200, "answered": 1200, "given_up": 0, "retries": counts["retries"], "abandoned": 0}
    assert counts["calls"] == sum(sent.values()) == len(a.seen) + len(b.seen) == 1200 + counts["retries"]
    assert {k: counts[k] for k in ("ok", "rate_limited", "forbidden", "failed", "content_policy")} == {
        "ok": sent["ok"] + sent["slow"], "rate_limited": sent["limited"], "forbidden": sent["forbidden"],
        "failed": sent["failed"] + sent["broken"], "content_policy": 24,
    }  # fmt: skip
    assert sent["limited"] > 50 and sent["forbidden"] > 5 and sent["broken"] > 5
    assert a.peak <= 8 and b.peak <= 4 and counts["peak_in_flight"] <= 12


def test_a_token_is_made_once_and_anew_when_refused(guard: Start, faulty: Fault, place: Path) -> None:
    """The token command runs once for many calls, and again when the endpoint says 401; its token replaces the key."""
    used = place / "how often"
    script = f"""if True:
        import json, pathlib
        p = pathlib.Path({str(used)!r})
        text = (p.read_text() if p.exists() else "") + "x"
        p.write_text(text)
        print(json.dumps({{"accessToken": f"made-{{len(text)}}"}}))"""
    state = {"good": "Bearer made-1"}
    server = faulty()
    server.behave = lambda n, _: (
        (200, completion(), {}) if server.headers[n - 1]["authorization"] == state["good"] else (401, error("expired"), {})
    )
    g = guard([one(server, token_command=[sys.executable, "-I", "-c", script])])
    assert [x[0] for x in g.ask_many(5, 1)] == [200] * 5
    assert used.read_text() == "x"
    state["good"] = "Bearer made-2"
    assert [x[0] for x in g.ask_many(5, 1)] == [200] * 5
    assert used.read_text() == "xx"
    assert g.counts()["unauthorised"] == 1
    assert "made-" not in g.record.path.read_text()


def test_keys_come_from_the_environment_or_the_program(
    guard: Start, faulty: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint's own key, in its own header, replaces the program's; without one the program's is passed on."""
    monkeypatch.setenv("DIRECT_KEY", "k-1")
    a, b = faulty(), faulty()
    g = guard([one(a, "a", key_env="DIRECT_KEY", key_header="api-key"), one(b, "b")])
    g.ask_many(20, 1)
    assert {h.get("api-key") for h in a.headers} == {"k-1"}
    assert {h.get("authorization") for h in a.headers} == {None}
    assert {h["authorization"] for h in b.headers} == {"Bearer program-key"}


def test_models_are_renamed_and_that_is_told(guard: Start, faulty: Fault) -> None:
    """The endpoint is asked for its own name of the model, also in the url; the record says so."""
    a = faulty()
    g = guard([{**one(a), "url": a.url.replace("/v1", "/openai/{model}?api-version=1"), "models": {"gpt-4o": "gpt-4o_2024"}}])
    assert g.ask()[0] == 200
    assert a.seen[0]["model"] == "gpt-4o_2024"
    assert a.paths[0] == "/openai/gpt-4o_2024/chat/completions?api-version=1"
    assert g.counts()["endpoints"]["a"]["renamed"] == {"gpt-4o": "gpt-4o_2024"}


def test_an_endpoint_without_the_model_is_dropped(guard: Start, faulty: Fault) -> None:
    """What does not list the model, or answers that it has none, gets no further calls; the other takes the whole."""
    a, b = faulty(models=["gpt-4o"]), faulty(models=["gpt-4o", "gpt-5.2"])
    c = faulty(lambda n, _: (404, error("DeploymentNotFound"), {}))
    ends = [{**one(s, n), "check_models": True} for s, n in ((a, "a"), (b, "b"), (c, "c"))]
    g = guard(ends, max_concurrent=6)
    assert [x[0] for x in g.ask_many(12, 8, model="gpt-5.2")] == [200] * 12
    assert (len(a.seen), len(b.seen)) == (0, 12)
    assert 1 <= len(c.seen) <= 6
    said = [e["text"] for e in g.counts()["events"]]
    assert "a does not serve gpt-5.2 (it lists gpt-4o): dropped for this model" in said
    assert "c does not serve gpt-5.2: dropped for this model" in said
    status, body, _ = g.ask(model="nobody-has-this")
    assert (status, body["error"]["code"] in ("model_not_found", "DeploymentNotFound")) == (404, True)


def test_what_an_endpoint_serves_may_be_said_by_patterns(guard: Start, faulty: Fault) -> None:
    """`serves` holds patterns, as the other lists of models do; a model that none fits is refused with the nearest names first."""
    a, b = faulty(models=["only-this"]), faulty()
    ends = [{**one(a, "a"), "serves": ["gpt-5*"]}, {**one(b, "b"), "serves": ["zzz", "gpt-4o-mini", "GPT-4o"]}]
    g = guard(ends)
    assert g.ask(model="gpt-5.2-2026-01-01")[0] == g.ask(model="gpt-4o")[0] == 200
    assert (len(a.seen), len(b.seen), a.asked) == (1, 1, [])
    status, body, _ = g.ask(model="gpt-4o-mimi")
    told = body["error"]["message"]
    assert status == 404 and "a lists gpt-5*; b lists gpt-4o-mini, GPT-4o and zzz" in told, told


def test_the_second_phase_stays_on_its_endpoint(guard: Start, faulty: Fault) -> None:
    """By path, by header and for /responses a pinned model's calls go to one endpoint; its first phase to both."""
    a, b = faulty(), faulty()
    g = guard([one(a, "proxy"), one(b, "direct", second_phase=["o4-mini", "o3"])])
    for _ in range(4):
        g.ask(model="o4-mini", base="/phase-b/v1")
        g.ask(model="o3", headers={"X-Runherd-Phase": "B"})
        g.ask(model="o3", path="/responses")
    assert (len(a.seen), len(b.seen)) == (0, 12)
    assert set(b.paths) == {"/v1/chat/completions", "/v1/responses"}
    assert all("x-runherd-phase" not in h for h in b.headers)
    g.ask_many(20, 1, model="o4-mini")
    g.ask_many(10, 1, model="gpt-4o", base="/phase-b/v1")
    assert len(a.seen) > 10


def test_an_endpoints_second_phase_takes_patterns(guard: Start, faulty: Fault) -> None:
    """A pattern binds what fits it, in any case; an endpoint that names the model comes before one whose pattern fits."""
    a, b, c = faulty(), faulty(), faulty()
    g = guard([one(a, "a", second_phase=["o*"]), one(b, "b"), one(c, "c", second_phase=["o3", "x[1]"])])
    for model in ("o4-mini", "O4mini", "o3-2025"):
        g.ask(model=model, base="/phase-b/v1")
        g.ask(model=model, base="/phase-b/v1")
    assert (len(a.seen), len(b.seen), len(c.seen)) == (6, 0, 0)
    for model in ("o3", "x[1]"):
        g.ask(model=model, base="/phase-b/v1")
    assert (len(a.seen), len(c.seen)) == (6, 2)


def test_an_answer_from_before_the_cool_down_does_not_end_it(guard: Start, faulty: Fault) -> None:
    """A call that was under way when the endpoint failed is answered, and the endpoint is left alone all the same."""
    held = threading.Event()

    def behave(n: int, body: dict[str, Any]) -> Any:
        if body["messages"][0]["content"] == "slow":
            held.wait(10)
            return 200, completion(), {}
        return 503, error("down"), {}

    server = faulty(behave)
    g = guard([one(server)], failures=1, cooldown_s=600, max_retries=0)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(g.ask, "slow")
        wait_until(lambda: len(server.seen) == 1)
        assert g.ask("quick")[0] == 503
        held.set()
        assert slow.result()[0] == 200
    counts = g.counts()
    assert (counts["ok"], counts["failed"], counts["cooldowns"]) == (1, 1, 1)
    assert not any("is back" in e["text"] for e in counts["events"])


def test_the_second_phase_of_reasoning_models_stays_without_being_told(guard: Start, faulty: Fault) -> None:
    """Where no endpoint names the model, the last one listed that serves it keeps its second phase; others are spread."""
    a, b, c = faulty(models=["o3", "gpt-4o"]), faulty(models=["o3", "gpt-4o"]), faulty(models=["gpt-4o"])
    ends = [{**one(s, n), "check_models": True} for s, n in ((a, "a"), (b, "b"), (c, "c"))]
    g = guard(ends, second_phase=["o4-mini*", "o3*"])
    wait_until(lambda: g.dispatcher.asked.is_set())
    g.ask_many(12, 4, model="o3", base="/phase-b/v1")
    assert (len(a.seen), len(b.seen), len(c.seen)) == (0, 12, 0)
    g.ask_many(12, 1, model="o3")
    assert len(a.seen) > 3 and len(c.seen) == 0
    before = len(a.seen)
    g.ask_many(12, 1, model="gpt-4o", base="/phase-b/v1")
    assert len(a.seen) > before and len(c.seen) > 0


def test_qwen_is_called_one_at_a_time(guard: Start, faulty: Fault) -> None:
    """A clamped model never has two calls in flight, others beside it may."""
    server = faulty(delay_s=0.01)
    g = guard([one(server)], serial=["qwen*"])
    g.ask_many(8, 8, model="Qwen2-VL")
    assert server.peak == 1
    g.ask_many(16, 8)
    assert server.peak > 1


def test_a_caller_that_leaves_frees_its_place(guard: Start, faulty: Fault) -> None:
    """A program that hangs up while its call waits costs the endpoint nothing."""
    import json
    import socket

    held = threading.Event()
    server = faulty(lambda n, _: (held.wait(10), (200, completion(), {}))[1])
    g = guard([one(server)], max_concurrent=1)
    body = json.dumps({"model": "m", "messages": [{"content": "x"}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    port = int(g.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as first:
        first.sendall(head + body)
        wait_until(lambda: len(server.seen) == 1)
        with socket.create_connection(("127.0.0.1", port)) as second:
            second.sendall(head + body)
            wait_until(lambda: g.counts()["program"]["items"] == 2)
        wait_until(lambda: g.counts()["program"]["abandoned"] == 1)
        held.set()
        assert first.recv(100).startswith(b"HTTP/1.1 200")
    assert len(server.seen) == 1


def test_counters_go_on_in_the_next_attempt(guard: Start, faulty: Fault, place: Path) -> None:
    """Attempts of one generation add up; a new generation begins at nothing."""
    from runherd.guard.counters import Record

    g = guard([one(faulty())])
    g.ask_many(3, 1)
    g.counts()
    again = Record(place / "guard.json", 1, ["a"])
    again.counters.add("a", "calls")
    assert again.counters.to_json()["calls"] == 4
    assert again.counters.to_json()["program"]["items"] == 3
    assert Record(place / "guard.json", 2, ["a"]).counters.to_json()["calls"] == 0
