"""What is found in new bytes of a log."""

from __future__ import annotations

import random
from typing import Any

import pytest

from runherd.diagnose.catalogue import load
from runherd.monitor.logreader import Block
from runherd.monitor.progress import is_progress, mark, series_end
from runherd.monitor.scan import STATUS_NUMBER, empty, scan


def look(*texts: str | bytes) -> dict[str, Any]:
    counters, at = empty(), 0
    for text in texts:
        data = text.encode() if isinstance(text, str) else text
        scan(Block(at, data), counters, load())
        at += len(data)
    return counters


@pytest.mark.parametrize(
    ("text", "done", "total"),
    [
        ("Evaluating:  61%|██████    | 85/140 [01:02<00:40,  1.4it/s]", 85, 140),
        ("step 120/500", 120, 500),
        ("[2026-01-02 10:00:00] Step: 1,200 of 5,000 | loss 0.5", 1200, 5000),
        ("85/140 (60.7%) done", 85, 140),
        ("epoch 3", 3, None),
        ("Epoch 3/10, batch 7/99", 3, 10),
        ("processed 12/30", 12, 30),
        ("{'loss': 0.3, 'global_step': 44}", 44, None),
    ],
)
def test_progress_marks(text: str, done: int, total: int | None) -> None:
    """The usual ways to tell progress are read."""
    found = mark(text)
    assert found is not None and (found.done, found.total) == (done, total)


@pytest.mark.parametrize(
    "text", ["date 2026/01/02", "see http://a/b/12/13", "ratio 3/2 (150%)", "loading shards"]
)
def test_no_progress(text: str) -> None:
    """Dates, addresses and impossible counts are not progress."""
    found = mark(text)
    assert found is None or found.total is None


def test_failed_step_is_no_progress() -> None:
    """A line that tells of a failure is no sign of work, though it names a step."""
    assert not is_progress("RuntimeError: step 12 failed")
    assert is_progress("retry succeeded after 2 attempts")


def test_hits_and_recovery_positions() -> None:
    """A cause is counted with its place, so that later progress can outweigh it."""
    counters = look("RuntimeError: CUDA out of memory. Tried\n", "step 3/9 loss 0.5\n")
    hit = counters["hits"]["cuda-oom"]
    assert (hit["count"], hit["first"]) == (1, 0)
    assert counters["progress_at"] > hit["last"]
    assert counters["progress"] == {"done": 3, "total": 9, "unit": "step", "at": 40}


def test_calls() -> None:
    """HTTP status lines and refused connections are counted, harmless words are not."""
    counters = look(
        'INFO httpx: HTTP Request: POST http://h "HTTP/1.1 200 OK"\n' * 3
        + 'INFO httpx: HTTP Request: POST http://h "HTTP/1.1 429 Too Many Requests"\n' * 2
        + 'x "HTTP/1.1 503 Service Unavailable"\nError code: 429 - limit\nrate_limit: 0\n'
        + "ConnectionRefusedError: [Errno 111] Connection refused\n0 connection refused so far\n"
    )
    assert (counters["calls"], counters["limited"], counters["server_errors"]) == (6, 3, 1)
    assert counters["refused"] == 1


def test_losses_with_nan() -> None:
    """The last losses are kept in order, those that are not finite as None."""
    assert look("loss: 2.5\n{'loss': 1e-3}\nstep 3 loss=nan\ntrain_loss = inf\n")["losses"] == [
        2.5,
        0.001,
        None,
        None,
    ]


def test_loss_of_zero_beside_a_broken_norm() -> None:
    """The Trainer logs a loss of 0.0 when it was NaN; the gradient norm gives it away."""
    assert look("{'loss': 0.0, 'grad_norm': nan}\n{'loss': 0.0, 'grad_norm': 1.0}\n")["losses"] == [None, 0.0]


def test_cache() -> None:
    """Cache hits and misses are counted, and a reported ratio is taken."""
    counters = look("cache hit a\ncache miss b\ncache_hit: c\ncache hit rate: 12.5%\n")
    assert (counters["cache_hits"], counters["cache_misses"], counters["cache_rate"]) == (2, 1, 0.125)


@pytest.mark.parametrize(
    "text",
    [
        "error rate: 0.0",
        "0 failed, 140 passed",
        "retry succeeded after 2 attempts",
        'DEBUG urllib3: http://h:80 "POST /v1/chat HTTP/1.1" 200 512',
        "caught CUDA out of memory, halving the batch",
        "no errors found; killed 0 workers; exceptions: none",
        "429 items left",
        "loading fatal_error_dataset.json",
    ],
)
def test_scary_words_are_no_cause(text: str) -> None:
    """Harmless lines with frightening words leave no hit and no count."""
    counters = look(text + "\n")
    assert counters["hits"] == {}
    assert counters["limited"] == counters["refused"] == counters["server_errors"] == 0


def test_garbage_does_no_harm() -> None:
    """Random bytes, a line of 3 MB and ANSI colours raise nothing."""
    look(random.Random(2).randbytes(1 << 20), b"error " * 500_000)
    assert "disk-full" in look("\x1b[31mOSError: No space left on device\x1b[0m\n")["hits"]


def test_word_in_a_long_line_is_found() -> None:
    """A cause far inside a line of a megabyte is still seen."""
    assert "disk-full" in look("x" * 600_000 + " OSError: No space left on device " + "y" * 300_000)["hits"]


def test_status_words_are_all_found() -> None:
    """Every number among the catalogue's words is one that the quick search finds."""
    numbers = [word for word in load().by_word if word.isdigit()]
    assert numbers and all(STATUS_NUMBER.fullmatch(word.encode()) for word in numbers)


@pytest.mark.parametrize(
    ("lines", "end"),
    [
        (["shard 7 stored", "x", "shard 8 stored", "shard 9 stored", "end"], 3),
        (["[turn 1] ok", "[turn 2] failed", "[turn 3] ok"], 2),
        (["shard 7 stored", "shard 8 stored"], -1),
        (["port 3 open", "port 9000 open", "port 20 open"], -1),
        (["2026-01-02 10:00:01 a", "2026-01-02 10:00:02 b", "2026-01-02 10:00:03 c"], -1),
        (["retry 3", "retry 3", "retry 3"], -1),
    ],
)
def test_end_of_a_rising_count(lines: list[str], end: int) -> None:
    """Only three or more lines with the same words and a rising number are a count that goes on."""
    assert series_end(lines) == end


@pytest.mark.parametrize(
    ("blocks", "wanted"),
    [
        (("step 40/100\n", "best checkpoint was step 12/100\n"), (40, 100)),
        (("step 40/100\nbest checkpoint was step 12/100\n",), (40, 100)),
        (("step 40/100\nstep 12/100 was the best so far\n",), (40, 100)),
        (("Epoch 4/100\nBest model from epoch 2 saved\n",), (4, 100)),
        (("Epoch 4/100\n", "Early stopping at epoch 4\n"), (4, 100)),
        (("Epoch 4/100\n", "Epoch 5: loss=0.3\n"), (5, 100)),
        (("Epoch 4/100\nEpoch 5: loss=0.3\n",), (5, 100)),
        (("step 7\nrestored weights from step 3\n",), (7, None)),
        (("saved checkpoint at step 40\n",), (40, None)),
        (("saved checkpoint at step 40\n", "saved checkpoint at step 50\n"), (50, None)),
        (("saved checkpoint at step 40\n", "step 41/90\n", "saved checkpoint at step 40\n"), (41, 90)),
        (("  Num Epochs = 3\n  Total optimization steps = 500\n",), None),
        (("  Total optimization steps = 500\n{'loss': 2.3, 'epoch': 0.18}\n",), None),
        (("step 12/500\n{'loss': 2.3, 'epoch': 0.18}\n",), (12, 500)),
    ],
)
def test_what_is_told_of_another_point_counts_nothing(blocks: tuple[str, ...], wanted: tuple[int, int | None] | None) -> None:
    """A sentence about the best or the last saved step, a setting, a part of an epoch: none hides the count."""
    found = look(*blocks)["progress"]
    assert (found and (found["done"], found["total"])) == wanted
