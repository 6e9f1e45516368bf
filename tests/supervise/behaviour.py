"""Small programs that behave in one way each: `behaviour.py NAME WORKERS`. Standard library only."""

import json
import os
import signal
import sys
import time
import urllib.request
from pathlib import Path

NAME, WORKERS = sys.argv[1], int(sys.argv[2])
RUN = os.environ["RUNHERD_RUN_ID"]
RESULT = Path(os.environ["RUNHERD_RESULT"])
CONTROL = Path("control")


def main() -> int:
    with (CONTROL / f"{RUN}.runs").open("a") as f:
        f.write(f"{os.getpid()} {WORKERS}\n")
    started = len((CONTROL / f"{RUN}.runs").read_text().splitlines())
    return globals()[NAME](started) or 0


def well(_: int, steps: int = 3) -> None:
    for step in range(1, steps + 1):
        say(f"step {step}/{steps} loss {1 / step:.3f}")
    RESULT.write_text(json.dumps({"metrics": {"loss": 1 / steps}, "complete": True}))


def say(text: str) -> None:
    print(text, flush=True)


def forever(text: str = "") -> None:
    n = 0
    while True:
        n += 1
        if text:
            say(text.format(n=n))
        time.sleep(0.05)


# -- ends of many kinds ----------------------------------------------------------
def fails(_: int) -> int:
    say("cannot go on")
    return 3


def writes_nothing(_: int) -> None:
    say("step 3/3 loss 0.1")


def half_written(_: int) -> None:
    RESULT.write_text('{"metrics": {"loss": 0.5}, "per_item": [{"id": 1, "corr')


def well_then_fails(_: int) -> int:
    well(1)
    return 3


def slow_and_quiet(_: int) -> None:
    say("step 1/2 loss 1.0")
    (CONTROL / f"{RUN}.ready").write_text("")
    while not (CONTROL / f"{RUN}.go").exists():
        time.sleep(0.02)
    well(1)


def waits_then_fails(_: int) -> None:
    slow_and_quiet(1)
    raise KeyError("no such column")


def waits_then_is_killed(started: int) -> None:
    slow_and_quiet(1)
    if started == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def recovers_from_oom(_: int) -> None:
    say("step 1/4 loss 1.0")
    say("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    say("step 2/4 loss 0.9")
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        say("step 3/4 loss 0.8")
        time.sleep(0.05)
    well(1, 4)


def talks_much(_: int) -> None:
    """Print until the log has been moved aside, then on until the next look has read the new one."""
    log = Path(os.environ["RUNHERD_WORKDIR"]).parent / "attempts" / "1"
    monitor = log.parents[1] / "monitor.json"
    step, told = 0, None
    while told is None or monitor.stat().st_mtime_ns == told:
        step += 1
        say(f"step {step}/1000000 loss 0.5 {'.' * 60}")
        time.sleep(0.001)
        if told is None and (log / "log.1.txt").exists():
            told = monitor.stat().st_mtime_ns
            (CONTROL / f"{RUN}.said").write_text('"rotated"\n')
    well(1)


def holds_gpu(_: int) -> None:
    (CONTROL / f"{RUN}.gpus").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "unset"))
    step = 0
    while not (CONTROL / f"{RUN}.go").exists():
        step += 1
        say(f"step {step}/100000 loss 0.5")
        time.sleep(0.02)
    well(1)


# -- what is healed ----------------------------------------------------------------
def stale(started: int) -> None:
    say("step 1/4 loss 1.0")
    if started == 1:
        forever()
    well(started)


def killed(started: int) -> None:
    say("step 1/4 loss 1.0")
    if started == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    well(started)


def keeps_states(started: int) -> None:
    """Leave a good state and a newer one that is cut, and be killed; the second time, tell what there is to go on from."""
    place = Path(os.environ["RUNHERD_CHECKPOINT"])
    found = sorted(p.name for p in place.iterdir()) if place.is_dir() else [place.name] if place.exists() else []
    with (CONTROL / f"{RUN}.found").open("a") as f:
        f.write(json.dumps([os.environ["RUNHERD_RESUME"], found]) + "\n")
    if started == 1:
        files = [place] if place.suffix else [place / "step-1.json", place / "step-2.json"]
        for i, path in enumerate(files):
            path.write_text('{"step": 1}' if path.stem == "step-1" else '{"step": 2, "wei')
            os.utime(path, (10**9 + i, 10**9 + i))
        os.kill(os.getpid(), signal.SIGKILL)
    well(started)


def quota(started: int) -> None:
    say("step 1/40 loss 1.0")
    if started == 1:
        forever("openai.RateLimitError: Error code: 429 - Too Many Requests (request {n})")
    well(started)


def always_limited(_: int) -> None:
    say("step 1/40 loss 1.0")
    forever("openai.RateLimitError: Error code: 429 - Too Many Requests (request {n})")


def slow_and_limited(_: int) -> None:
    """Each item takes long, and its calls are refused many times before they go well."""
    for n in range(1, 5):
        for _retry in range(25):
            say("openai.RateLimitError: Error code: 429 - Too Many Requests, asking again")
            time.sleep(0.1)
        say(f"item {n}/4 done")
    well(1)


def asks_endpoint(_: int) -> None:
    """Work as long as the endpoint of API_BASE answers, and complain when it does not."""
    done, misses = 0, 0
    while done < 6:
        try:
            urllib.request.urlopen(os.environ["API_BASE"], timeout=5).read()
            done += 1
            say(f"item {done}/6 done")
        except OSError as e:
            misses += 1
            say(f"openai.APIConnectionError: Connection error: {e} (miss {misses})")
        time.sleep(0.05)
    well(1)


def eats_memory(_: int) -> None:
    batch = int(os.environ.get("BATCH", "64"))
    say(f"step 1/4 loss 1.0 batch {batch}")
    held = bytearray(batch << 24)
    for i in range(0, len(held), 4096):
        held[i] = 1
    well(1)


def always_killed(_: int) -> None:
    say("step 1/4 loss 1.0")
    os.kill(os.getpid(), signal.SIGKILL)


def crashes_once(started: int) -> None:
    say("step 1/4 loss 1.0")
    if started == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    well(started)


def always_crashes(_: int) -> None:
    say("step 1/4 loss 1.0")
    os.kill(os.getpid(), signal.SIGSEGV)


def job_hits_its_limit_once(started: int) -> int:
    """It hands its work to a job of its own, whose scheduler ends it; what is left is an exit code."""
    say("step 1/4 loss 1.0")
    if started == 1:
        say("slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***")
        return 1
    well(started)
    return 0


def job_is_cancelled(_: int) -> int:
    say("step 1/4 loss 1.0")
    say("slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-02T03:04:05 ***")
    return 1


def another_failure_each_time(started: int) -> None:
    say("step 1/4 loss 1.0")
    if started % 2:
        os.kill(os.getpid(), signal.SIGKILL)
    raise MemoryError


# -- what is warned of, or stopped for the quality of what it does ---------------
def answers(null_share: float, more: int = 0) -> None:
    """Write a growing result; `null_share` of its answers are null. Goes on for ever unless `more` ends it."""
    items: list = []
    while not more or len(items) < more:
        null = len(items) % 100 < 100 * null_share
        items.append({"id": len(items), "response": None if null else f"answer {len(items)}", "correct": not null})
        if null:
            items[-1]["null_reason"] = "retry_exhausted"
        draft = RESULT.with_suffix(".part")
        draft.write_text(json.dumps({"per_item": items, "complete": len(items) == more}))
        draft.replace(RESULT)
        say(f"item {len(items)} answered")
        time.sleep(0.02)


def many_nulls(_: int) -> None:
    answers(0.4)


def many_nulls_to_the_end(_: int) -> None:
    answers(0.4, 20)


def some_nulls(_: int) -> None:
    answers(0.10, 120)


def cold_cache(_: int) -> None:
    forever("cache miss: frames of video {n}")


def warm_cache(_: int) -> None:
    for n in range(60):
        say(f"cache hit: frames of video {n}")
        time.sleep(0.03)
    well(1)


def slow_training(_: int) -> None:
    """Train until it is told to end; losses and rates are those that LOSS and RATE say, by step."""
    loss, rate = os.environ.get("LOSS", "1/(1+s/10)"), os.environ.get("RATE", "1e-3")
    step = 0
    while not (CONTROL / f"{RUN}.go").exists():
        step += 1
        say(f"step {step}/100000 loss {eval(loss, {'s': step}):.4f} lr {eval(rate, {'s': step}):.3e}")
        time.sleep(0.02)
    well(1)


def learns(_: int) -> None:
    """A short training that leaves its curve."""
    history = [{"step": s, "loss": 1 / (1 + s / 10)} for s in range(1, 2000)]
    RESULT.write_text(json.dumps({"metrics": {"loss": 0.01}, "history": history, "complete": True}))


# -- what is stopped -------------------------------------------------------------------
def diverges(_: int) -> None:
    say("step 1/100 loss 1.0")
    forever("step 2/100 loss nan")


def blows_up(_: int) -> None:
    for step in range(1, 21):
        say(f"step {step}/100 loss {1 / step:.3f}")
    for step in range(21, 25):
        say(f"step {step}/100 loss 900.0")
    forever()


def asks_in_vain(_: int) -> None:
    """Learn a little, tell what it meets, and wait for ever; to a SIGTERM it answers with a traceback of its own."""
    say("step 1/4 loss 1.0")
    say("ConnectionError: no route to the parameter server")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{1 / 0}"))
    forever()


def is_told_to_stop(_: int) -> None:
    say("step 1/4 loss 1.0")
    os.kill(os.getpid(), signal.SIGTERM)


def traceback(_: int) -> None:
    say("step 1/4 loss 1.0")
    raise ValueError("shapes (3,4) and (5,) do not fit")


def works_on(_: int) -> None:
    forever("step {n}/100000 loss 0.5")


if __name__ == "__main__":
    sys.exit(main())
