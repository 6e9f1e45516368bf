"""A whole run behind its guard: prepared, launched, validated, its counters in the records."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty import Faulty, completion, error

sys.path[:0] = [str(Path(__file__).parents[1] / "flow"), str(Path(__file__).parents[1] / "supervise")]

from live import Live  # noqa: E402

PROGRAM = '''
import json, os, signal, sys, urllib.request
from pathlib import Path
url, n = sys.argv[1], 10
saved = Path(os.environ["RUNHERD_CHECKPOINT"]) / "items.json"
items = json.loads(saved.read_text()) if saved.exists() else []
for i in range(len(items), n):
    body = json.dumps({"model": "gpt-4o", "messages": [{"content": f"q{i}"}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(url + "/chat/completions", body), timeout=60) as r:
        said = json.load(r)["choices"][0]["message"]["content"]
    items.append({"id": f"q{i}", "response": said, "correct": i % 3 > 0})
    saved.write_text(json.dumps(items))
    if i == 4 and os.environ.get("DIE") and os.environ["RUNHERD_RESUME"] == "0":
        os.kill(os.getpid(), signal.SIGKILL)
Path(os.environ["RUNHERD_RESULT"]).write_text(json.dumps({"metrics": {}, "per_item": items, "complete": True}))
'''


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Callable[..., Live]]:
    made: list[Live] = []

    def start(run: dict[str, Any]) -> Live:
        made.append(Live.make_live(tmp_path, {"R001": run}))
        (made[-1].root / "ask it.py").write_text(PROGRAM)
        return made[-1]

    yield start
    for p in made:
        p.close()


def test_a_run_goes_through_its_guard(project: Callable[..., Live], faulty: Callable[..., Faulty]) -> None:
    """Two endpoints, one dead, one limited now and then, the program killed once: ten items, all calls in the records."""
    dead = faulty()
    dead.stop()
    server = faulty(lambda n, b: (429, error("x"), {}) if n == 2 else (200, completion(b["messages"][0]["content"]), {}))
    p = project(
        {
            "command": "{{ python }} 'ask it.py' {{ base_url }}", "expected": 10, "dryrun": {"skip": "no need"},
            "endpoints": [
                {"name": "proxy", "url": dead.url},
                {"name": "direct", "url": "${DIRECT_URL}", "models": {"gpt-4o": "gpt-4o_x"}, "check_models": False},
            ],
            "execution": {"dual_backend": True, "vlm_retry_base_delay_s": 0.01, "env": {"DIE": "1", "OPENAI_BASE_URL": "x"}},
        }
    )  # fmt: skip
    [(code, said)] = p.launch("R001", DIRECT_URL=server.url).values()
    assert code == 0, said
    assert p.ended("R001")[0] == "done", said
    folder = p.root / "runs" / "R001"
    assert len(p.reasons("R001")) == 2
    counts = json.loads((folder / "guard.json").read_text())
    assert counts["endpoints"]["direct"]["calls"] == len(server.seen) == 11
    assert counts["program"]["answered"] == 10
    assert [b["messages"][0]["content"] for b in server.seen if b] == ["q0", "q1", "q1", *(f"q{i}" for i in range(2, 10))]
    validation = json.loads((folder / "validation.json").read_text())
    assert validation["counts"]["guard"]["rate_limited"] == validation["counts"]["rate_limited"] == 1
    assert validation["counts"]["calls"] == counts["calls"]
    rules = {f["rule"]: f for f in validation["findings"]}
    assert rules["rate_limited"]["level"] == "WARN"  # over 2 % of the calls
    assert "direct: gpt-4o as gpt-4o_x" in rules["renamed_model"]["message"]
    assert {"proxy"} == set(rules["endpoint_down"]["evidence"])
    settings = json.loads((folder / "attempts" / "1" / "guard.json").read_text())
    assert settings["max_concurrent"] == 30
    assert server.url not in json.dumps(settings)  # what comes from the environment is in no record


def test_no_endpoint_is_told_before_the_launch(project: Callable[..., Live]) -> None:
    """A guard without an endpoint blocks the run with a sentence."""
    p = project({"execution": {"guard": True}, "dryrun": {"skip": "no need"}})
    p.launch("R001")
    assert p.ended("R001")[0] == "blocked"
    assert "the guard has no endpoint to send calls to" in p.kinds("R001", "ended")[0]["note"]


@pytest.mark.skipif(importlib.util.find_spec("openai") is None, reason="the package openai is not installed")
def test_an_unchanged_openai_script_goes_through(project: Callable[..., Live], faulty: Callable[..., Faulty]) -> None:
    """The real client, plain, streamed and 20 at once, knows only its environment: no item lost, all of it counted."""

    def behave(n: int, body: dict[str, Any]) -> Any:
        name = body["messages"][0]["content"]
        if name == "refused":
            return 400, error("content_filter"), {}
        if name == "limited" or n in (2, 9, 10):
            return 429, error("rate_limit_exceeded"), {"Retry-After": "0"}
        if n == 5:
            return 503, error("overloaded"), {}
        if body.get("stream"):
            return 200, sse(name), {"Content-Type": "text/event-stream", "Content-Length": ""}
        return 200, completion(f"heard {name}"), {}

    a, b = (faulty(behave, models=["gpt-4o"], delay_s=0.02) for _ in range(2))
    p = project(
        {
            "command": "{{ python }} openai_client.py", "expected": 25, "dryrun": {"skip": "no need"}, "model": "gpt-4o",
            "endpoints": [{"name": "proxy", "url": a.url}, {"name": "direct", "url": b.url}],
            "execution": {"dual_backend": True, "max_concurrent_vlm": 6, "vlm_retry_base_delay_s": 0.01, "vlm_max_retries": 4},
        }
    )  # fmt: skip
    script = Path(__file__).with_name("openai_client.py").read_text()
    assert "base_url" not in script and "api_key" not in script and "127.0.0.1" not in script
    (p.root / "openai_client.py").write_text(script)
    [(code, said)] = p.launch("R001", OPENAI_API_KEY="").values()
    assert code == 0 and p.ended("R001")[0] == "done", said + p.log("R001")
    told = json.loads((p.root / "runs" / "R001" / "work" / "result.json").read_text())
    assert told["models"] == ["gpt-4o"] and told["failed"] == {
        "refused": [400, "content_filter"], "limited": [429, "rate_limit_exceeded"]
    }  # fmt: skip
    names = [*(f"s{i}" for i in range(3)), *(f"t{i}" for i in range(2)), *(f"a{i}" for i in range(20))]
    assert [(i["id"], i["response"]) for i in told["per_item"]] == [(n, f"heard {n}") for n in names]
    counts = json.loads((p.root / "runs" / "R001" / "guard.json").read_text())
    # 27, not 29: told that it need not try again, the client did not
    assert counts["program"] == {"items": 27, "answered": 27, "given_up": 1, "retries": counts["retries"], "abandoned": 0}
    assert counts["calls"] == len(a.seen) + len(b.seen) + 1  # and the list of models
    assert len(a.seen) + len(b.seen) == 27 + counts["retries"]
    assert counts["retries"] == counts["rate_limited"] + counts["failed"] - 1 >= 8
    assert (counts["content_policy"], counts["ok"], counts["nulls"]) == (1, 26, 0)
    assert (counts["prompt_tokens"], counts["completion_tokens"]) == (250, 75)
    assert a.peak <= 4 and b.peak <= 2 and counts["peak_in_flight"] <= 6
    validation = json.loads((p.root / "runs" / "R001" / "validation.json").read_text())
    assert validation["counts"]["guard"] == {k: counts[k] for k in validation["counts"]["guard"]}
    assert (validation["counts"]["items"], validation["counts"]["content_policy"]) == (25, 1)
    assert all("authorization" not in h for s in (a, b) for h in s.headers)  # no key of its own: none is sent on


def sse(name: str) -> bytes:
    """A streamed answer as OpenAI sends it, in three parts, the usage last."""
    parts: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "heard "}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": name}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}},
    ]
    about = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    lines = [json.dumps({**about, **part}) for part in parts] + ["[DONE]"]
    return "".join(f"data: {line}\n\n" for line in lines).encode()
