"""Carries one request of the program to an answer: waits for a slot, sends, judges, tries again, gives up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from runherd.guard import answers, soundness, upstream
from runherd.guard.answers import Kind
from runherd.guard.counters import Counters
from runherd.guard.routing import Router, Slot
from runherd.guard.settings import Endpoint, Settings
from runherd.guard.upstream import Answer, Broken, Malformed

LOOK_S = 1.0  #: how often a waiting call looks whether its caller is still there


class CallerGone(Exception):
    """The program no longer waits for this answer."""


@dataclass
class Call:
    """One request of the program; `path` follows the base URL."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes
    model: str = ""
    second_phase: bool = False
    stream: bool = False  #: the program asks for a stream
    caller_gone: Callable[[], bool] = lambda: False


@dataclass
class Given:
    """What the program is to be told. `stream` is open and to be closed; else `body` is all there is."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    stream: Answer | None = None
    endpoint: str = ""
    release: Callable[[], None] = field(default=lambda: None)  #: gives the slot back; to be called once


class Dispatcher:
    """All state of the guard: routing, keys, counters, which endpoint serves what."""

    def __init__(self, settings: Settings, counters: Counters) -> None:
        self.settings = settings
        self.counters = counters
        self.keys = upstream.Keys()
        self.router = Router(settings)
        self.changed = threading.Condition()
        self.listed: dict[str, frozenset[str]] = {}  #: what endpoints have answered that they serve
        self.lacks: set[tuple[str, str]] = set()  #: (endpoint, model) that answered "no such model"
        self.asked = threading.Event()  #: set once /v1/models has been asked for
        self.by_name = {e.name: e for e in settings.endpoints}

    # -- which endpoint serves what --------------------------------------------
    def ask_models(self) -> None:
        """Ask every endpoint, at the same time, what it serves; one that does not say is taken to serve all."""
        threads = [
            threading.Thread(target=self._ask, args=(e,), daemon=True)
            for e in self.settings.endpoints
            if e.check_models and not e.serves
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(upstream.CONNECT_TIMEOUT_S)
        self.asked.set()

    def _ask(self, endpoint: Endpoint) -> None:
        try:
            headers = [*self.keys.headers(endpoint).items()]
            answer = upstream.send(endpoint, "GET", "/models", headers, b"", upstream.CONNECT_TIMEOUT_S)
            try:
                listed = answers.as_object(answer.read()).get("data") if answer.status == 200 else None
            finally:
                answer.close()
        except Broken as e:
            self.counters.event(f"{endpoint.name} does not say what it serves: {e}")
            return
        if isinstance(listed, list) and listed:
            self.listed[endpoint.name] = frozenset(str(m.get("id")) for m in listed if isinstance(m, dict))

    def serving(self, model: str) -> list[str]:
        """Names of the endpoints that serve `model`, as far as they say."""
        names = []
        for e in self.settings.endpoints:
            own, listed = e.own_name(model), self.listed.get(e.name)
            if not model or (e.has(own, listed) and (e.name, model) not in self.lacks):
                names.append(e.name)
            elif (e.name, model) not in self.lacks:
                self._drop(e.name, model, own, e.lists(own, listed))
        return names

    def _drop(self, name: str, model: str, own: str, lists: str = "") -> None:
        with self.changed:
            if (name, model) in self.lacks:
                return
            self.lacks.add((name, model))
        self.counters.event(f"{name} does not serve {own}{f' (it lists {lists})' if lists else ''}: dropped for this model")

    def _not_served(self, model: str) -> str:
        lists = [(e, e.lists(e.own_name(model), self.listed.get(e.name))) for e in self.settings.endpoints]
        said = "; ".join(f"{e.name} lists {names}" for e, names in lists if names)
        return f"no endpoint serves the model {model!r}" + (f": {said}" if said else "")

    def pin(self, call: Call, serving: Sequence[str]) -> str | None:
        """The endpoint that a call of a second phase is bound to; `serving` are those that have its model."""
        if not call.second_phase and not call.path.startswith("/responses"):
            return None
        named = self.settings.bound_to(call.model)
        if named is None and serving and self.settings.keeps_second_phase(call.model):
            return serving[-1]
        return named

    # -- one call ----------------------------------------------------------------
    def carry(self, call: Call) -> Given:
        """Bring a call to its answer. Raises `CallerGone`."""
        self.asked.wait(upstream.CONNECT_TIMEOUT_S + 1)
        tried, avoid, refreshed = 0, None, False
        last: Given | None = None
        while tried <= self.settings.max_retries:
            serving = self.serving(call.model)
            only = self.pin(call, serving)
            if not serving or (only is not None and only not in serving):
                return last or _own_answer(404, "model_not_found", self._not_served(call.model))
            slot = self._take(call, serving, only, avoid)
            if slot is None:
                tried += 1  # every circuit stayed open
                continue
            name = slot.name
            last, kind, wait_s = self._try(slot, call)
            if last.stream is not None or kind in (Kind.ANSWER, Kind.REFUSAL, Kind.BAD_REQUEST):
                return last
            if kind is Kind.UNAUTHORISED and not refreshed and self.by_name[name].token_command:
                refreshed = True
                continue  # with a new token, at once, not counted
            if kind is Kind.NO_MODEL:
                self._drop(name, call.model, self.by_name[name].own_name(call.model))
                continue
            tried += 1
            avoid = name
            if kind is Kind.UNAUTHORISED and not self._others(serving, name, only):
                return last  # a wrong key does not become right by waiting
            if tried <= self.settings.max_retries:
                self.counters.program("retries")
                if kind is Kind.LIMITED or not self._others(serving, name, only):
                    self._pause(call, answers.delay_s(
                        tried, self.settings.base_delay_s, self.settings.max_delay_s,
                        limited=kind is Kind.LIMITED, retry_after_s=wait_s,
                    ))  # fmt: skip
        self.counters.program("given_up")
        return _given_up(last, tried)

    def _others(self, serving: Sequence[str], name: str, only: str | None) -> bool:
        with self.changed:
            return only is None and self.router.another_is_up(serving, name, time.monotonic())

    def _take(self, call: Call, serving: Sequence[str], only: str | None, avoid: str | None) -> Slot | None:
        """Wait for a slot; None when every circuit was open, and still is after the first could have closed."""
        began_chance: float | None = None
        with self.changed:
            while True:
                now = time.monotonic()
                slot = self.router.take(call.model, serving, now, only=only, avoid=avoid)
                if slot is not None:
                    self.counters.peak = max(self.counters.peak, self.router.peak)
                    return slot
                chance = self.router.next_chance(serving, now, only)
                if chance is not None:
                    if began_chance is None:
                        began_chance = chance
                    elif now >= began_chance and chance > began_chance:
                        return None
                self.changed.wait(LOOK_S if chance is None else max(0.001, min(LOOK_S, chance - now)))
                if call.caller_gone():
                    raise CallerGone

    def _pause(self, call: Call, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_S))
            if call.caller_gone():
                raise CallerGone

    def _try(self, slot: Slot, call: Call) -> tuple[Given, Kind, float | None]:
        """Send the call to one endpoint whose slot is taken; the slot is free again unless a stream is open."""
        name, endpoint, freed = slot.name, self.by_name[slot.name], threading.Event()

        def release() -> None:
            if freed.is_set():
                return
            freed.set()
            with self.changed:
                self.router.give(slot, call.model)
                self.changed.notify_all()

        self.counters.add(name, "calls")
        keep = False
        try:
            given, kind, wait_s = self._send(endpoint, call)
            self._judge(slot, given, kind)
            keep = given.stream is not None
            given.release = release if keep else given.release
            return given, kind, wait_s
        except Broken as e:
            self.counters.add(name, "failed")
            if isinstance(e, Malformed):
                self.counters.add(name, "malformed")
            self._failed(slot, str(e), at_once=e.at_once)
            return _own_answer(502, "endpoint_failed", f"{name}: {e}", name), Kind.FAILED, None
        finally:
            if not keep:
                release()

    def _send(self, endpoint: Endpoint, call: Call) -> tuple[Given, Kind, float | None]:
        key = self.keys.headers(endpoint)
        own = endpoint.own_name(call.model)
        if own != call.model:
            self.counters.renamed(endpoint.name, call.model, own)
        answer = upstream.send(
            endpoint, call.method, call.path, _headers(call, key), _renamed(call, own), self.settings.timeout_s, own
        )
        kept = [(k, v) for k, v in answer.headers if k.lower() not in upstream.OWN_HEADERS]
        judged = soundness.judged(call.method, call.path, answer.status)
        content_type = answer.header("content-type") or ""
        try:
            if answer.status < 400 and soundness.is_stream(content_type) and (call.stream or not judged):
                first = answer.read_first_event() if judged else answer.read_some()
                return Given(answer.status, kept, first, answer, endpoint.name), Kind.ANSWER, None
            body = answer.read()
        except Broken:
            answer.close()
            raise
        answer.close()
        refused = judged and answers.has_refusal_code(body)
        if judged and not refused:
            encoding = answer.header("content-encoding") or ""
            fault = soundness.fault_of_body(call.path, content_type, encoding, body)
            if fault is None and call.stream:
                fault = soundness.fault_of_head(content_type)
            if fault is not None:
                raise Malformed(fault)
        kind = Kind.REFUSAL if refused else answers.kind(answer.status, body)
        if kind is Kind.UNAUTHORISED:
            self.keys.refused(endpoint, key)
        return Given(answer.status, kept, body, None, endpoint.name), kind, answers.retry_after_s(
            answer.header("retry-after")
        )  # fmt: skip

    def _judge(self, slot: Slot, given: Given, kind: Kind) -> None:
        """Count an answer, and open or close the endpoint's circuit by it."""
        name = slot.name
        counted = {
            Kind.ANSWER: "ok", Kind.REFUSAL: "content_policy", Kind.LIMITED: "rate_limited", Kind.FORBIDDEN: "forbidden",
            Kind.UNAUTHORISED: "unauthorised", Kind.NO_MODEL: "bad_request", Kind.BAD_REQUEST: "bad_request",
            Kind.FAILED: "failed",
        }[kind]  # fmt: skip
        self.counters.add(name, counted)
        if kind is Kind.ANSWER and given.stream is None:
            self.count_body(name, given.body)
        if kind in (Kind.FORBIDDEN, Kind.FAILED, Kind.UNAUTHORISED):
            self._failed(slot, f"status {given.status}")
            return
        with self.changed:
            back = self.router.answered(slot)
            self.changed.notify_all()
        if back:
            self.counters.event(f"{name} is back")

    def count_body(self, name: str, body: bytes) -> None:
        """Count what the body of an answer reports: tokens, a null, the model's own name."""
        told = answers.as_object(body)
        if not told:
            return
        into, out = answers.usage(told)
        for what, n in (("prompt_tokens", into), ("completion_tokens", out), ("reported_usage", bool(into or out))):
            if n:
                self.counters.add(name, what, int(n))
        if answers.is_filtered(told):
            self.counters.add(name, "content_policy")
        if "choices" in told and not told.get("object", "").endswith(".chunk") and answers.is_null(told):
            self.counters.add(name, "nulls")
        if isinstance(told.get("model"), str) and told["model"]:
            self.counters.answered_as(name, told["model"])

    def _failed(self, slot: Slot, why: str, *, at_once: bool = False) -> None:
        name = slot.name
        with self.changed:
            opened = self.router.failed(slot, time.monotonic(), at_once=at_once)
            self.changed.notify_all()
        if opened:
            self.counters.add(name, "cooldowns")
            self.counters.event(f"{name} is left alone for {self.settings.cooldown_s:g} s: {why}")


def _headers(call: Call, key: dict[str, str]) -> list[tuple[str, str]]:
    """The program's headers without those of its connection, and the endpoint's own key instead of its."""
    kept = [(k, v) for k, v in call.headers if k.lower() not in upstream.OWN_HEADERS]
    placeholder = f"Bearer {upstream.PLACEHOLDER_KEY}"
    if key:
        kept = [(k, v) for k, v in kept if k.lower() not in ("authorization", "api-key")]
    return [(k, v) for k, v in kept if v != placeholder] + list(key.items())


def _renamed(call: Call, own: str) -> bytes:
    if own == call.model:
        return call.body
    import json

    return json.dumps({**answers.as_object(call.body), "model": own}).encode()


def _own_answer(status: int, code: str, message: str, endpoint: str = "") -> Given:
    """An error in the form that OpenAI clients know, from the guard itself."""
    import json

    body = json.dumps({"error": {"message": f"[runherd guard] {message}", "type": "runherd_guard", "code": code}})
    headers = [("Content-Type", "application/json"), ("x-should-retry", "false"), ("x-runherd-guard", code)]
    return Given(status, headers, body.encode(), endpoint=endpoint)


def _given_up(last: Given | None, tried: int) -> Given:
    """The endpoint's last words, marked so that no client tries the whole again."""
    if last is None:
        return _own_answer(503, "retry_exhausted", f"every endpoint stayed down over {tried} tries")
    marked = [h for h in last.headers if h[0].lower() not in ("x-should-retry", "x-runherd-guard", "retry-after")]
    marked += [("x-should-retry", "false"), ("x-runherd-guard", "retry_exhausted")]
    return Given(last.status, marked, last.body, None, last.endpoint)
