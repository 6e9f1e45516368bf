"""Losses that look bad and are not: such a living program is not stopped; one that has diverged is."""

from __future__ import annotations

import pytest
from foreignprogram import Foreign

from runherd.diagnose.catalogue import load
from runherd.monitor import scan
from runherd.monitor.logreader import Block
from runherd.monitor.rules import _falls_again, not_finite

ALIVE = """
import sys, time
open(sys.argv[1], "a").write("x")
print("step by step", flush=True)
BEFORE
for i in range(END):
    print(LINE, flush=True)
print("told", flush=True)
time.sleep(600)
"""
LINES = {
    "second phase": (
        "'phase 1 step %d/400 loss: %g' % (j, 9 / (j + 1)) ",
        "'phase 2 step %d/400 loss: %d' % (i, 900 - i)",
        39,
        0,
    ),
    "samples without a label": (
        "",
        "'[%d/500] sample %d loss: %s' % (i, i, 0.5 if i % 4 == 0 else 'nan (empty label, ignored)')",
        100,
        0,
    ),
    "loss of an evaluation": ("", "'step %d/500 train_loss=0.%d val_loss=nan' % (i, 9 - i % 3)", 60, 0),
    "all nan": ("", "'step %d/500 loss: %s' % (i, 0.5 if i < 9 else 'nan')", 60, 4),
    "nan in spite of some at the start": ("", "'step %d/500 loss: %s' % (i, 0.5 if 2 < i < 9 else 'nan')", 60, 4),
    "blown up": ("", "'step %d/500 loss: %g' % (i, 1 / (i + 1) if i < 20 else 40 + i)", 60, 4),
}


@pytest.mark.parametrize("name", LINES)
def test_a_living_program(foreign: Foreign, name: str) -> None:
    """Three looks at the same last lines, with `--act stop`: only what has diverged is stopped."""
    before, line, end, code_in_the_end = LINES[name]
    program = ALIVE.replace("LINE", line).replace("END", str(end))
    loop = f"for j in range(20):\n    print({before}, flush=True)" if before else ""
    foreign.program.write_text(program.replace("BEFORE", loop))
    process = foreign.start()
    foreign.until(lambda: b"told" in foreign.log.read_bytes())
    for after in (0, 30, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", "stop", after_s=after)
        if code == 4:
            break
    assert code == code_in_the_end, out
    assert ("Loss: nan" in out) == (name in ("samples without a label", "all nan", "nan in spite of some at the start"))
    assert process.wait(20) < 0 if code else process.poll() is None and "DIVERGED" not in out


def test_a_drift_is_no_fall() -> None:
    """Losses that stay up, rise, or fall by chance only do not count as falling; a small steady fall does."""
    start = [9.0, 5.0, 3.0, 2.0]
    assert _falls_again([*start, *(900.0 - i for i in range(39))], 20)
    assert not _falls_again([*start, *(900.0 + i % 2 for i in range(39))], 20)
    assert not _falls_again([*start, *(900.0 + i for i in range(39))], 20)


def test_what_was_got_over_before() -> None:
    """As many again as were got over are no divergence; more than three times as many are."""
    nan = [None]
    assert not_finite([0.1, *nan * 3]) == 3 and not_finite([]) == 0 and not_finite([None, 0.1]) == 0
    assert not_finite([*nan * 2, 0.1, *nan * 6]) == 0 and not_finite([*nan * 2, 0.1, *nan * 7]) == 7


@pytest.mark.parametrize(
    ("text", "losses"),
    [
        ("train_loss=0.2 val_loss=nan", [0.2]),
        ("{'loss': 0.5, 'eval_loss': nan}", [0.5]),
        ("val/loss: nan loss 0.1\nval/loss: 0.3", [0.1, 0.3]),
        ("epoch 1 loss: 0.5 - val_loss: 0.7\repoch 2 loss: nan - val_cls_loss: 0.4", [0.5, None]),
        ("validation loss: nan\nvalidation loss: nan", [None, None]),
    ],
)
def test_the_loss_of_training_goes_first(text: str, losses: list[float | None]) -> None:
    """Beside a loss of training on the same line one of an evaluation is not counted; alone it is."""
    counters = scan.empty()
    scan.scan(Block(0, text.encode() + b"\n"), counters, load())
    assert counters["losses"] == losses
