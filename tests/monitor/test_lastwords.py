"""Whether a log says of itself that its program ended well or stopped by choice."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreignprogram import Foreign

from runherd.diagnose.lines import split
from runherd.monitor.lastwords import of_lines, said_ended

EPOCHS = "epoch 4/100 loss 0.4\nepoch 5/100 loss 0.3\n"
ENDED = [
    "EarlyStopping: val_loss did not improve for 3 checks. Stopping training.\nTest accuracy: 0.913",
    "Early stopping at epoch 5",
    "`Trainer.fit` stopped: `max_time` reached.",
    "`Trainer.fit` stopped: `max_epochs=5` reached.",
    "All done. Finished successfully in 3.2s",
    "Training complete in 3m 2s",
    "Training completed. Do not forget to share your model on huggingface.co/models =)\n{'train_runtime': 3.2, 'train_loss': 0.3}",
    "Epoch 00005: early stopping",
    "INFO:root:Early stopping triggered after 5 epochs",
    "EarlyStopping counter: 3 out of 3\nEarly stopping",
    "Monitored metric val_loss did not improve in the last 3 records. Best score: 0.123. Signaling Trainer to stop.",
    "2024-01-01 10:00:00,123 INFO Finished.",
    "finished",
    "Done!",
    "Test accuracy: 0.913",
    "Test set: Average loss: 0.0477, Accuracy: 9838/10000 (98%)",
    "no improvement for 10 epochs, stopping",
    "5 epochs completed in 0.012 hours.\nOptimizer stripped from runs/train/weights/last.pt",
    "Converged after 5 epochs",
    "Maximum number of steps reached, exiting",
    "Time budget of 3600 s exhausted, stopping",
    "Early stopping at epoch 5\nTesting: 100%|####| 10/10 [00:01<00:00]\nTest accuracy: 0.9",
    "Reached max_steps, saving final checkpoint",
    "Best val accuracy: 0.93 (epoch 2)",
    "training stopped: target accuracy reached",
    "Training: finished after early stop (patience 3)",
    "2026-11-29 [INFO] training done",
    "Process finished with exit code 0",
    "Run finished. wandb: synced",
    "training complete\nSaving model to out/final.pt\nwandb: Run history: loss",
    "Trainer: stopping criterion reached, stopping training",
    "Stopped early: validation loss rises",
]
NOT_ENDED = [
    "EarlyStopping counter: 1 out of 5",
    "Early stopping enabled (patience=3)",
    "Using early stopping with patience 3",
    "Evaluation: val acc 0.5",
    "Saved checkpoint to ckpt/5.pt",
    "Epoch 5 finished in 3.2s",
    "early_stopping=True",
    "received SIGTERM, stopping training",
    "slurmstepd: error: *** JOB 1 ON n1 CANCELLED DUE TO TIME LIMIT ***",
    "Training failed: not finished",
    "Training complete (fold 1)\nepoch 1/100 loss 0.9",
    "No improvement for 2 epochs",
    "Traceback (most recent call last):\n  File \"x.py\", line 3\nKeyError: 'x'",
    "loss 0.2 test acc",
    "val_loss did not improve from 0.3",
    "step 40/100 done",
    "best loss so far",
    "Will stop early if no improvement",
    "estimated time to finish: 3 h until training is done",
    "task 5 finished",
    "Validation done in 3.1s",
    "Preprocessing done",
    "data loading finished",
    "training not finished",
    "ERROR training ended with 3 errors",
    "resuming training; max_steps=100",
    "Download complete",
    "epoch 5 test accuracy 0.9",
    "Loaded 3 test samples",
    "Compiling done.",
    "GPU memory: 3 GB",
]


@pytest.mark.parametrize("words", ENDED)
def test_an_end_of_its_own(words: str) -> None:
    """Each way in which programs say that they are done or stop by a rule counts, below the total."""
    assert of_lines(split(EPOCHS + words + "\n")) is not None


@pytest.mark.parametrize("words", ["", *NOT_ENDED])
def test_no_end_of_its_own(words: str) -> None:
    """Settings, counters, parts of the work, failures and ends from outside are no such words."""
    assert of_lines(split(EPOCHS + words + "\n")) is None


def test_what_is_measured_after_each_epoch_is_no_end() -> None:
    """A test's accuracy after every epoch says nothing; after the last one alone it does, and so do plain words."""
    epochs = "".join(f"epoch {i}/100 loss 0.3\nTest accuracy: 0.{i}\n" for i in range(1, 9))
    assert of_lines(split(epochs)) is None
    assert of_lines(split(epochs + "Early stopping.\n")) == "Early stopping."


def test_training_that_goes_on_after_the_words_is_no_end() -> None:
    """The next fold takes the words back; an evaluation with a bar of its own does not; nor do lines of runherd's."""
    stopped = EPOCHS + "Early stopping at epoch 5\n"
    assert of_lines(split(stopped + "fold 2/5\nepoch 1/100 loss 0.9\n")) is None
    after = "Testing: 100%|####| 10/10 [00:01<00:00]\n[runherd] 2026-01-01T00:00:00Z stopping process 7\n"
    assert of_lines(split(stopped + after)) == "Early stopping at epoch 5"


@pytest.mark.parametrize("more", ["Best model from epoch 2/100 restored", "average loss 0.31", "saved epoch 5/100 to out"])
def test_what_is_told_afterwards_takes_nothing_back(more: str) -> None:
    """A count or a loss in another form than that of the work before is no work."""
    assert of_lines(split(f"{EPOCHS}Training complete\n{more}\n")) is not None


def test_words_of_an_attempt_before() -> None:
    """What was said before runherd started it again is not of the program that runs since."""
    again = "[runherd] 2026-01-01T00:00:00Z starting again (stale): x\nloading\n"
    assert of_lines(split(f"{EPOCHS}Training stopped\n{again}")) is None
    assert of_lines(split(f"{EPOCHS}Training stopped\n{again}{EPOCHS}Training complete\n")) == "Training complete"


def test_any_of_the_logs(tmp_path: Path) -> None:
    """One of several logs is enough; one that is not there says nothing."""
    (tmp_path / "lög 'x'").write_text(EPOCHS)
    (tmp_path / "out").write_text(EPOCHS + "Training complete\n")
    logs = [str(tmp_path / name) for name in ("none", "lög 'x'", "out")]
    assert said_ended(logs[:2]) is None and said_ended(logs) == "Training complete"


@pytest.mark.parametrize(
    "last",
    [
        "EarlyStopping: val_loss does not fall. Stopping training.\\nTest accuracy: 0.913",
        "Early stopping at epoch 5",
        "`Trainer.fit` stopped: `max_time` reached.",
        "All done. Finished successfully in 3.2s",
    ],
)
def test_what_finished_well_is_not_started_again(foreign: Foreign, last: str) -> None:
    """A real program that ends by itself at epoch 5 of 100: refused with its own line, nothing is started."""
    foreign.program.write_text(
        f"import sys\nopen(sys.argv[1], 'a').write('x')\nprint('epoch 5/100 loss 0.3, step')\nprint('{last}', flush=True)\n"
    )
    process = foreign.start()
    process.wait(20)
    words = ("--pid", str(process.pid), "--act", "--restart", foreign.restart)
    for after in (0, 30, 60):
        code, out = foreign.look(*words, after_s=after)
        assert code == 5 or "COMPLETE" in out, out
        assert "SIGKILL" not in out and "starting again" not in foreign.log.read_text() and foreign.count() == 1
    assert "it ended by itself: " in out or "COMPLETE" in out


def test_hung_after_its_end_is_left_to_a_person(foreign: Foreign) -> None:
    """A program that is done and does not go away is neither stopped nor started again."""
    foreign.program.write_text(
        "import sys, time\nopen(sys.argv[1], 'a').write('x')\nprint('step 5/100')\n"
        "print('Training complete', flush=True)\ntime.sleep(600)\n"
    )
    process = foreign.start()
    foreign.until(lambda: b"complete" in foreign.log.read_bytes())
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", "--restart", foreign.restart, after_s=after)
    assert code == 5 and "'Training complete'" in out and process.poll() is None and foreign.count() == 1
