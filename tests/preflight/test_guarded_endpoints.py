"""Preflight asks the endpoints of guarded runs: dead, refused key, model not served; local servers only."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runherd import config
from runherd.guard import settings
from runherd.preflight.findings import Finding
from runherd.preflight.guarded_endpoints import Said, check, judge, understood

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "guard"), str(TESTS / "flow"), str(TESTS / "supervise")]

from faulty import Faulty  # noqa: E402
from live import Live  # noqa: E402


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to any other host fails the test."""
    connect = socket.create_connection

    def checked(address: tuple[str, int], *args: Any, **kw: Any) -> socket.socket:
        assert address[0] in ("127.0.0.1", "localhost"), f"a request left for {address}"
        return connect(address, *args, **kw)

    monkeypatch.setattr(socket, "create_connection", checked)


@pytest.fixture
def faulty() -> Iterator[Callable[..., Faulty]]:
    begun: list[Faulty] = []

    def start(**kw: Any) -> Faulty:
        begun.append(Faulty(**kw))
        return begun[-1]

    yield start
    for f in begun:
        f.stop()


def spec_of(root: Path, body: dict[str, Any]) -> config.Spec:
    (root / "configs" / "runs").mkdir(parents=True, exist_ok=True)
    settings_ = {"command": "x {{ base_url }}", "execution": {"guard": True}, **body}
    (root / "configs" / "runs" / "R1.yaml").write_text(json.dumps(settings_))
    return config.resolve(config.load_project(root), config.RowInput("R1", "M0", {}, {}), {})


def found(root: Path, body: dict[str, Any], timeout_s: float = 5.0, **environ: str) -> list[Finding]:
    return list(check({"R1": spec_of(root, body)}, timeout_s, environ))


# -- deciding -----------------------------------------------------------------------
A = {"name": "a", "url": "http://a/v1"}
B = {"name": "b", "url": "http://b/v1"}
OK, DEAD, LISTS = Said(), Said("does not answer: refused"), Said(models=frozenset({"gpt-4o", "o3"}))


@pytest.mark.parametrize(
    ("endpoints", "model", "certain", "said", "wanted"),
    [
        ([A, B], "gpt-4o", True, [OK, LISTS], []),
        ([A, B], "gpt-4o", True, [DEAD, LISTS], [("a", False, "calls go to b")]),
        ([A, B], "gpt-4o", True, [DEAD, DEAD], [("a", True, "no other endpoint is left"), ("b", True, "no other")]),
        ([A], "gpt-4o", True, [DEAD], [("a", True, "does not answer: refused; no other endpoint is left (R1 and R2)")]),
        ([A, B], "gpt-5", True, [OK, LISTS], [("b", False, "does not serve gpt-5 (it lists gpt-4o and o3); calls go to a")]),
        ([A, B], "gpt-5", True, [DEAD, LISTS], [("a", True, "no other"), ("b", True, "does not serve gpt-5")]),
        ([A], "gpt4o", False, [LISTS], [("a", False, "set endpoint.model if the program asks for another name")]),
        ([{**A, "models": {"gpt-5": "gpt-4o"}}], "gpt-5", True, [LISTS], []),
        ([{**A, "check_models": False}], "gpt-5", True, [LISTS], []),
        ([{**A, "serves": ["gpt-5"]}], "gpt-5", True, [LISTS], []),
        ([{**A, "serves": ["GPT-5*", "o3"]}], "gpt-5-2026-01-01", True, [LISTS], []),
        ([{**A, "serves": ["gpt-5-[0-9]*"]}], "gpt-5-mini", True, [OK], [("a", True, "does not serve gpt-5-mini")]),
        ([{**A, "serves": ["a", "b", "gpt-5-mini", "z"]}], "gpt-5-mimi", True, [OK], [("a", True, "(it lists gpt-5-mini, a, b and z)")]),
        ([{**A, "serves": ["x"]}], "gpt-5", True, [OK], [("a", True, "does not serve gpt-5 (it lists x)")]),
        ([A, {**B, "second_phase": ["o3"]}], "o3", True, [LISTS, DEAD], [("b", True, "the second phase of o3 is bound to it")]),
        ([A, {**B, "second_phase": ["o3*"]}], "o3", True, [LISTS, DEAD], [("b", True, "the second phase of o3 is bound to it")]),
        ([{**A, "second_phase": ["o*"]}, {**B, "second_phase": ["o3"]}], "o3", True, [LISTS, DEAD], [("b", True, "bound to it")]),
        ([A], "", False, [LISTS], []),
    ],
)  # fmt: skip
def test_what_stops_and_what_warns(
    endpoints: list[dict[str, Any]], model: str, certain: bool, said: list[Said], wanted: list[tuple[str, bool, str]]
) -> None:
    """What another endpoint can carry is a warning; no endpoint left, or a bound second phase, stops."""
    chosen = settings.read({"endpoints": endpoints}, {})
    names = [e.name for e in chosen.endpoints]
    got = list(judge(chosen, model, certain, ("R1", "R2"), dict.fromkeys(names, "u"), dict(zip(names, said, strict=True))))
    assert [(f.what.split()[1], f.stops) for f in got] == [(name, stops) for name, stops, _ in wanted]
    assert all(words in f.what for f, (_, _, words) in zip(got, wanted, strict=True)), [f.what for f in got]


@pytest.mark.parametrize(
    ("status", "had_key", "problem"),
    [(200, True, None), (404, True, None), (405, False, None), (401, False, None), (401, True, "refuses the key (401)"),
     (403, True, "answers 403"), (500, False, "answers 500"), (503, True, "answers 503")],
)  # fmt: skip
def test_what_an_answer_means(status: int, had_key: bool, problem: str | None) -> None:
    """A 401 without a key is an answer, with one a refusal; 403 and 5xx are none."""
    assert understood(status, b"{}", had_key).problem == problem


# -- asking -----------------------------------------------------------------------------
def test_each_endpoint_is_asked_with_its_own_key(tmp_path: Path, faulty: Callable[..., Faulty], monkeypatch: pytest.MonkeyPatch) -> None:
    """Key from the environment in its own header, token from its command, else the program's key; no call of a model is made."""
    a, b, c = faulty(models=["m"]), faulty(models=["m"]), faulty(models=["m"])
    monkeypatch.setenv("A_KEY", "k-a")
    body = {"model": "m", "endpoints": [
        {"name": "a", "url": a.url, "key_env": "A_KEY", "key_header": "api-key"},
        {"name": "b", "url": "${B_URL}", "token_command": [sys.executable, "-c", "print('tok')"]},
        {"name": "c", "url": c.url},
    ]}  # fmt: skip
    assert found(tmp_path, body, A_KEY="k-a", B_URL=b.url, OPENAI_API_KEY="own") == []
    assert [s.asked[0].get("api-key") for s in (a, b, c)] == ["k-a", None, None]
    assert [s.asked[0].get("authorization") for s in (a, b, c)] == [None, "Bearer tok", "Bearer own"]
    assert not (a.seen or b.seen or c.seen)


def test_all_that_is_wrong_with_them(tmp_path: Path, faulty: Callable[..., Faulty]) -> None:
    """Dead, refused, failing, without the model, a token command that fails, silent: one finding each, by name."""
    dead = faulty()
    dead.stop()
    held = socket.create_server(("127.0.0.1", 0))  # takes the connection and says nothing
    refusing, failing, other = faulty(listing=401), faulty(listing=503), faulty(models=["gpt-4o"])
    body = {"endpoint": {"model": "gpt-5"}, "endpoints": [
        {"name": "dead", "url": dead.url}, {"name": "refusing", "url": refusing.url}, {"name": "failing", "url": failing.url},
        {"name": "other", "url": other.url}, {"name": "tokenless", "url": other.url, "token_command": "exit 3"},
        {"name": "silent", "url": f"http://127.0.0.1:{held.getsockname()[1]}/v1"},
    ]}  # fmt: skip
    try:
        got = found(tmp_path, body, 0.5, OPENAI_API_KEY="k")
    finally:
        held.close()
    said = {f.what.split()[1]: f.what for f in got}
    for name, words in {
        "dead": "does not answer: no connection to", "refusing": "refuses the key (401)", "failing": "answers 503",
        "other": "does not serve gpt-5 (it lists gpt-4o)", "tokenless": "the token command failed with exit code 3",
        "silent": "does not answer", 
    }.items():  # fmt: skip
        assert words in said[name] and "no other endpoint is left (R1)" in said[name]
    assert all(f.stops and f.check == "endpoint" for f in got)


def test_settings_that_are_missing(tmp_path: Path) -> None:
    """A variable that is not set, or no endpoint at all, is told with the run's name before anything starts."""
    [finding] = found(tmp_path, {"endpoints": [{"name": "a", "url": "${NOT_SET}/v1"}]})
    assert finding.stops and finding.what == "R1: the environment variable NOT_SET is not set"
    [finding] = found(tmp_path, {})
    assert finding.stops and "the guard has no endpoint to send calls to" in finding.what
    assert list(check({"R1": spec_of(tmp_path, {"execution": {"guard": False}})}, 1.0, {})) == []


def test_one_report_for_all(tmp_path: Path, faulty: Callable[..., Faulty]) -> None:
    """`runherd preflight` tells a dead endpoint, a refused key and a model that is not there at once, and launches nothing."""
    dead, refusing, other = faulty(), faulty(listing=401), faulty(models=["gpt-4o"])
    dead.stop()
    command, model = "{{ python }} behaviour.py well 1 {{ base_url }}", {"model": "gpt-5"}
    project = Live.make_live(
        tmp_path,
        {
            name: {"command": command, "endpoint": model, "execution": {"guard": True}, "endpoints": [{"name": name, "url": s.url}]}
            for name, s in (("one", dead), ("two", refusing), ("three", other))
        },
    )
    try:
        done = subprocess.run(
            [sys.executable, "-m", "runherd.cli.main", "preflight"], cwd=project.root, capture_output=True, text=True,
            env={**project.environment(), "OPENAI_API_KEY": "k"}, timeout=60,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert done.returncode == 2, said
        for words in ("endpoint one", "endpoint two", "refuses the key (401)", "endpoint three", "does not serve gpt-5"):
            assert words in said
        assert said.count("STOP: endpoint") == 3 and project.processes() == []
    finally:
        project.close()
