"""W&B by its real client, which asks a local stand-in for the server (`wandb_server.py`); no account, no network.

Without the package these tests are skipped; what the client's answers mean is
then still tested on conversations that were recorded with wandb 0.31.0.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from wandb_server import KEY, Run, WandbServer

from runherd.collect import collect, wandb_api
from runherd.collect.recorder import Recorder
from runherd.collect.wandb_api import UNKNOWN, Seen, live, look, look_again, named_in, reading_of, understood
from runherd.collect.wandb_ask import why_not

HAVE = importlib.util.find_spec("wandb") is not None
real_client = pytest.mark.skipif(not HAVE, reason="the package wandb is not installed: pip install 'runherd[wandb]'")
ROWS = [{"_step": i, "train/loss": 1 / (i + 1), "_runtime": i} for i in range(3)]
SUMMARY = {"accuracy": 0.9, "eval": {"f1": 0.5}, "_runtime": 3}
VERIFY = "Failed to verify credentials with http://127.0.0.1:4030: "  #: how the client begins whatever the matter is
DEMO = Path(__file__).parent / "data" / "wandb" / "run-demo.wandb"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., WandbServer]]:
    """serve({run: Run(...)}) starts a stand-in to which the client of this environment goes, with a good key."""
    begun: list[WandbServer] = []
    monkeypatch.setenv("HOME", str(tmp_path))  # no key of the person's own
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.delenv("WANDB_MODE", raising=False)

    def start(runs: dict[str, Run] | None = None, **how: Any) -> WandbServer:
        begun.append(WandbServer(runs or {}, **how))
        monkeypatch.setenv("WANDB_BASE_URL", begun[-1].url)
        return begun[-1]

    yield start
    for server in begun:
        server.stop()


@pytest.fixture
def gather(tmp_path: Path) -> Callable[..., Any]:
    """gather(**options) collects a run whose log names two W&B runs; `gather.work` is where its files lie."""
    work = tmp_path / "läufe 'x'" / "work"
    work.mkdir(parents=True)
    log = work.parent / "log.txt"
    log.write_text("wandb: View run at https://wandb.ai/other/p/runs/old\nwandb: https://wandb.ai/e/p/runs/abc1 go\n")

    def run(**options: Any) -> Any:
        how = {"timeout_s": 3, "pauses_s": [], **options}
        env, since = how.pop("env", {}), how.pop("since", 0.0)
        spec = {"model": "gpt4o", "collect": {"format": "wandb_api", "options": how}, "execution": {"env": env}}
        return collect(spec, work, log, since, work / "result.json")

    run.work, run.log = work, log  # type: ignore[attr-defined]
    return run


def dead_port() -> int:
    server = WandbServer({})
    server.stop()
    return server.port


# -- by the real client ----------------------------------------------------------------
@real_client
def test_summary_history_and_state(serve: Callable[..., WandbServer], gather: Callable[..., Any]) -> None:
    """The run that the log names last is asked for; its summary becomes metrics, every row of its history the curve."""
    rows = [{"_step": i, "train/loss": 1 / (i + 1)} for i in range(2500)]  # three pages of the client
    server = serve({"e/p/abc1": Run(summary=SUMMARY, config={"model": "gpt4o"}, rows=rows)})
    got = gather()
    assert (got.complete, got.metrics, got.missing) == (True, {"accuracy": 0.9, "eval/f1": 0.5}, None)
    assert got.wandb_url == f"{server.url}/e/p/runs/abc1" and got.model == "gpt4o"
    points = [json.loads(line) for line in got.curve.read_text().splitlines()]
    assert [(p["step"], p["loss"]) for p in points] == [(r["_step"], r["train/loss"]) for r in rows]
    assert server.asked.count("history") == 3
    assert got.extra["wandb"] == {"run": "e/p/abc1", "state": "finished", "last_step": 2499}


@real_client
def test_a_run_that_has_crashed(serve: Callable[..., WandbServer], gather: Callable[..., Any]) -> None:
    """A state other than finished is no whole result, and is named, whatever the summary holds; a NaN is null with a finding."""
    serve({"a/b/c": Run("crashed", {**SUMMARY, "loss": float("nan")})})
    got = gather(run="a/b/c")
    assert (got.complete, got.missing) == (False, "the W&B run a/b/c crashed")
    assert got.metrics["loss"] is None and "not_finite" in {f.rule for f in got.findings}


@real_client
@pytest.mark.parametrize("fault", ["no server", "silent", 503])
def test_unreachable_is_not_broken(
    serve: Callable[..., WandbServer], gather: Callable[..., Any], fault: int | str
) -> None:
    """Refused connection, silence, 5xx: nothing is said of the run."""
    server = serve({"e/p/abc1": Run(summary=SUMMARY, rows=ROWS)}, fault=None if fault == "no server" else fault)
    if fault == "no server":
        server.stop()
    got = gather(timeout_s=1)
    assert not got.complete and got.metrics == {}
    assert got.missing.startswith("W&B cannot be reached, which says nothing of the run (e/p/abc1: ")
    [finding] = got.findings
    assert (finding.rule, finding.level) == ("wandb_unreachable", "WARN")
    assert "left no result file of its own" in finding.message


@real_client
def test_a_history_that_breaks_off_is_no_curve(serve: Callable[..., WandbServer], gather: Callable[..., Any]) -> None:
    """State and summary stand, a part of the curve is not taken for the whole, and the row is told."""
    serve({"e/p/abc1": Run(summary=SUMMARY, rows=ROWS)}, fault="cut")
    got = gather(timeout_s=1)
    assert (got.complete, got.metrics, got.curve) == (True, {"accuracy": 0.9, "eval/f1": 0.5}, None)
    [finding] = got.findings
    assert (finding.rule, finding.level) == ("wandb_history", "WARN") and finding.message.endswith("there is no curve")


@real_client
def test_a_history_that_does_not_come_is_not_waited_for(serve: Callable[..., WandbServer]) -> None:
    """The whole question has a bound, also where the client itself would wait for ever; what came before it stands."""
    serve({"e/p/abc1": Run(summary=SUMMARY, rows=ROWS)}, fault="late")
    seen = look("e/p/abc1", timeout_s=1, limit_s=5)
    assert (seen.state, seen.history, seen.cut) == ("finished", (), "no answer within 5 s")


@real_client
def test_a_key_that_is_wrong_or_not_there(
    serve: Callable[..., WandbServer], gather: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused key and no key at all are told apart from each other and from an outage."""
    server = serve({"e/p/abc1": Run(summary=SUMMARY)})
    for key, state in (("0" * 40, "refused"), (None, "no_key")):
        monkeypatch.setenv("WANDB_API_KEY", key) if key else monkeypatch.delenv("WANDB_API_KEY")
        got = gather()
        assert got.missing.startswith(UNKNOWN[state]), got.missing
        assert [f.rule for f in got.findings] == [f"wandb_{state}"]
    assert set(server.asked) == {"refused"}


@real_client
def test_the_runs_own_server_is_asked_and_an_old_run_is_not_taken(
    serve: Callable[..., WandbServer], gather: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the run sets for W&B holds when it is asked, too; a run last heard of before the attempt is an earlier one."""
    server = serve({"e/p/abc1": Run(summary=SUMMARY, heartbeat_at="2026-11-29T10:05:00")})
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OWN_KEY", KEY)
    monkeypatch.delenv("WANDB_API_KEY")
    heard = datetime(2026, 11, 29, 10, 5, tzinfo=UTC).timestamp()
    os.utime(gather.log, (heard + 100, heard + 100))  # type: ignore[attr-defined]
    env = {"WANDB_BASE_URL": server.url, "WANDB_API_KEY": "${OWN_KEY}"}
    assert gather(env=env, since=heard - 60).complete
    got = gather(env=env, since=heard + 60)
    assert (got.complete, got.metrics) == (False, {})
    assert got.missing == "the W&B run e/p/abc1 was last heard of at 2026-11-29T10:05:00 UTC, before this attempt began"


@real_client
def test_no_such_run(serve: Callable[..., WandbServer], gather: Callable[..., Any]) -> None:
    """A run that W&B does not have is told apart from a W&B that does not answer."""
    serve({})
    got = gather()
    assert got.missing.startswith("W&B has no such run") and [f.rule for f in got.findings] == ["wandb_missing"]


@real_client
def test_the_runs_own_files_decide(serve: Callable[..., WandbServer], gather: Callable[..., Any]) -> None:
    """While W&B is away a result file of the run counts, else the `.wandb` file that its log names; both with the finding."""
    serve({}, fault=404)
    folder = gather.work.parent / "W B" / "run-20261129_1-abc1"  # type: ignore[attr-defined]
    folder.mkdir(parents=True)
    shutil.copy(DEMO, folder / "run-abc1.wandb")
    with gather.log.open("a") as f:  # type: ignore[attr-defined]
        f.write(f"wandb: Run data is saved locally in {folder}\nwandb: Find logs at: x\n")
    got = gather()
    [source] = got.sources
    assert (got.complete, source["collector"]) == (True, "wandb_api") and source["path"].endswith("run-abc1.wandb")
    assert "wandb_unreachable" in {f.rule for f in got.findings} and got.metrics
    (gather.work / "result.json").write_text('{"metrics": {"accuracy": 0.25}, "complete": true}')  # type: ignore[attr-defined]
    got = gather()
    assert (got.complete, got.metrics) == (True, {"accuracy": 0.25})
    assert any(f.message.endswith("the result is from result.json") for f in got.findings)
    (gather.work / "result.json").write_text('{"metrics": {"accuracy": 0.25}, "complete": false}')  # type: ignore[attr-defined]
    assert "result.json says of itself" in gather().missing


@real_client
def test_an_outage_at_the_end_is_waited_out(serve: Callable[..., WandbServer]) -> None:
    """Asked again after growing pauses, a server that comes back is heard; one that stays away costs three tries."""
    server = serve({"e/p/abc1": Run(summary=SUMMARY)})
    server.stop()
    waited: list[float] = []

    def come_back(pause: float) -> None:
        waited.append(pause)
        if len(waited) == 2:
            serve({"e/p/abc1": Run(summary=SUMMARY)}, port=server.port)

    assert look_again("e/p/abc1", sleep=come_back, timeout_s=1).state == "finished"
    assert waited == [2.0, 8.0]


@real_client
def test_a_state_that_lags_is_waited_for(serve: Callable[..., WandbServer]) -> None:
    """W&B that still says `running` when the program has ended is asked again."""
    run = Run("running", SUMMARY)
    serve({"e/p/abc1": run})

    def finish(_: float) -> None:
        run.state = "finished"

    assert look_again("e/p/abc1", sleep=finish, timeout_s=3).state == "finished"


@real_client
def test_a_living_run_for_the_monitor(serve: Callable[..., WandbServer]) -> None:
    """State, last step and the age of the heartbeat, without the history."""
    beat = datetime.fromtimestamp(time.time() - 90, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    server = serve({"e/p/abc1": Run("running", SUMMARY, rows=ROWS, heartbeat_at=beat)})
    seen = live("e/p/abc1")
    assert (seen.state, seen.last_step, seen.is_known) == ("running", 2, True)
    assert seen.heartbeat_age_s is not None and 89 <= seen.heartbeat_age_s <= 120
    assert "history" not in server.asked
    server.runs["e/p/abc1"] = Run("crashed", heartbeat_at=None)
    seen = live("e/p/abc1")
    assert (seen.state, seen.last_step, seen.heartbeat_age_s) == ("crashed", None, None)


@real_client
def test_asking_leaves_nothing_behind(
    serve: Callable[..., WandbServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's service process ends, and no folder of its own stays in the home, the temporary or the present one."""
    serve({"e/p/abc1": Run(summary=SUMMARY)})
    (tmp_path / "here").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    before = _alive()
    assert look("e/p/abc1").state == "finished"
    end = time.monotonic() + 20
    while not _alive() <= before:
        assert time.monotonic() < end, "the client's service process lives on"
        threading.Event().wait(0.05)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["here", "tmp"]


@real_client
def test_the_server_of_a_projects_own_settings_is_asked(
    serve: Callable[..., WandbServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that stands in `wandb/settings` of the folder is the one that is asked."""
    server = serve({"e/p/abc1": Run(summary=SUMMARY)})
    monkeypatch.delenv("WANDB_BASE_URL")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wandb").mkdir()
    (tmp_path / "wandb" / "settings").write_text(f"[default]\nbase_url = {server.url}\n")
    assert look("e/p/abc1", timeout_s=3).state == "finished"
    assert "run" in server.asked


def _alive() -> set[int]:
    """Processes of W&B's service."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and b"wandb-core" in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
        except OSError:
            continue
    return found


# -- from records of what it says --------------------------------------------------
@pytest.mark.parametrize(
    ("said", "state"),
    [
        (f"{VERIFY}Failed to execute API request: the service process is busy and did not respond in time.", "unreachable"),
        (VERIFY + 'returned error 404: {"data":null}', "unreachable"),
        (f"{VERIFY}invalid character '<' looking for beginning of value", "unreachable"),
        (f"{VERIFY}user is not logged in", "refused"),
        (VERIFY + 'returned error 403: {"data":null}', "refused"),
        (f"{VERIFY}invalid credentials: the server did not recognize an account for the configured credentials", "refused"),
        ("WANDB_API_KEY invalid: API key must have 40+ characters, has 5.", "refused"),
        ("No API key configured. Use `wandb login` to log in.", "no_key"),
        ("Could not find run <Run e/p/abc (not found)>", "missing"),
        ("api_key not configured (no-tty). call wandb.login(key=[your_api_key])", "no_key"),
        ("The API key you provided is either invalid or missing. If the `WANDB_API_KEY` environment variable is set, …", "refused"),
        ("HTTPConnectionPool(host='127.0.0.1', port=9): Max retries exceeded with url: /graphql (Caused by …)", "unreachable"),
    ],
)  # fmt: skip
def test_what_the_clients_words_mean(said: str, state: str) -> None:
    """Sentences of the client, each recorded from wandb 0.31.0 or 0.18.7, are read as what they say of our knowledge."""
    assert why_not(RuntimeError(said))["state"] == state


def test_a_recorded_conversation() -> None:
    """The lines that the asking process wrote for a finished run, whole and cut at every line."""
    lines = [
        '{"state": "finished", "url": "http://h/e/p/runs/abc", "summary": {"accuracy": 0.9}, "config": {"model": "m"}, '
        '"last_step": 1, "heartbeat_at": "2026-11-29T10:05:00", "created_at": "2026-11-29T10:00:00"}',
        '{"row": {"_step": 0, "loss": 1}}', '{"row": {"_step": 1, "loss": NaN}}', '{"end": true}',
    ]  # fmt: skip
    seen = understood("\n".join(lines))
    assert (seen.state, seen.last_step, seen.summary, len(seen.history)) == ("finished", 1, {"accuracy": 0.9}, 2)
    assert understood("", "late") == Seen("unreachable", "late")
    assert understood('{"state": "refused", "why": "x"}\n') == Seen("refused", "x")
    for cut in (lines[:1], lines[:2], lines[:3], [*lines[:2], lines[2][:9]]):
        seen = understood("\n".join(cut), "late")
        assert (seen.state, seen.summary, seen.history, seen.cut) == ("finished", {"accuracy": 0.9}, (), "late")
    seen = understood("\n".join([*lines[:2], '{"state": "unreachable", "why": "x"}']))
    assert (seen.state, seen.history, seen.cut) == ("finished", (), "x")


@pytest.mark.parametrize(
    ("seen", "missing"),
    [
        (Seen("finished", summary=SUMMARY), None),
        (Seen("finished", summary={"_runtime": 1}), "nothing was logged to the W&B run r"),
        (Seen("running", summary=SUMMARY), "the W&B run r is running"),
        (Seen("pending"), "the W&B run r is pending"),
        (Seen("failed", summary=SUMMARY), "the W&B run r failed"),
        (Seen("killed", summary=SUMMARY), "the W&B run r was killed"),
        (Seen("preempted", summary=SUMMARY), "the W&B run r was preempted"),
    ],
)
def test_what_each_state_comes_to(seen: Seen, missing: str | None, tmp_path: Path) -> None:
    """Only a finished run that logged something is a whole result."""
    recorder = Recorder(tmp_path)
    try:
        assert reading_of("r", seen, recorder).missing == missing
    finally:
        recorder.discard()


@pytest.mark.parametrize("state", sorted(UNKNOWN))
def test_what_is_not_known_is_no_state_of_the_run(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a monitor every kind of not knowing keeps its own name and is marked as such."""
    monkeypatch.setattr(wandb_api, "look", lambda run, **how: Seen(state, "why"))
    seen = live("e/p/abc1")
    assert (seen.state, seen.is_known, seen.heartbeat_age_s, seen.last_step) == (state, False, None, None)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, gather: Callable[..., Any], tmp_path: Path) -> None:
    """Without the client it says how to get it; the run's own file counts all the same."""
    (tmp_path / "wandb.py").write_text("raise ImportError('hidden by the test')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "pip install 'runherd[wandb]'" in gather().missing
    assert live("e/p/abc1").state == "no_client"
    (gather.work / "result.json").write_text('{"metrics": {"accuracy": 0.5}, "complete": true}')  # type: ignore[attr-defined]
    got = gather()
    assert got.complete and [f.rule for f in got.findings] == ["wandb_no_client"]


def test_a_log_without_an_address(tmp_path: Path) -> None:
    """No run is guessed."""
    log = tmp_path / "log.txt"
    log.write_text("nothing here")
    assert named_in(log) is None and named_in(tmp_path / "none") is None
