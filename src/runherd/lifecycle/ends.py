"""The classes of ends that no log tells, and what to do about each: the words of notes, records and pages alike."""

from __future__ import annotations

from typing import NamedTuple


class Advice(NamedTuple):
    """What a person can do; RUN stands for the run's id. `restart`: whether the same again can go well (None: perhaps)."""

    text: str
    restart: bool | None = None


#: Ends that the run's record tells: stops of ours, results that are not there or not good, launches that never were.
ENDS = {
    "STALE": Advice(
        "See what it did last: it may wait for a lock, a dead worker, a download or an endpoint without a time limit. "
        "If it may be silent for so long, raise monitor.stale_s, or let it write a line or a checkpoint.", True,
    ),
    "WALL_TIME": Advice("Raise execution.wall_time, then set TODO: it goes on from its checkpoint.", True),
    "HIGH_NULL_RATE": Advice(
        "Look at the null responses of its result and at their reasons, mend the prompt, the parser or the endpoint, then set TODO.", False,
    ),
    "CANCELLED": Advice("Set TODO to go on.", True),
    "STOPPED_BY_PERSON": Advice("Set TODO to go on from the checkpoint.", False),
    "INTERRUPTED": Advice("Find out what interrupts it so often (heal.max_interruptions is the bound), then set TODO.", True),
    "NO_RESULT": Advice(
        "Let the program write a whole result to the place that the sentence names, or mend `collect:`; then set TODO.", False,
    ),
    "ADOPTED_INCOMPLETE": Advice(
        "See how far it came, and let the program write the result that the sentence names, or mend `collect:`; then set TODO.",
    ),
    "VALIDATION": Advice(
        "Look at the numbers (runherd validate RUN), mend the data, the program or `validate:`, then set TODO.", False,
    ),
    "UNSETTLED": Advice(
        "Mend `collect:`, `validate:` or the file that the sentence names, then set TODO: nothing is launched anew.", False,
    ),
    "DRYRUN_FAILED": Advice("Mend what the dry-run failed at (its command: runherd explain RUN), then set TODO.", False),
    "CONFIG": Advice("Mend the configuration (runherd explain RUN), then set TODO.", False),
    "NEED_FAILED": Advice("See to the run that it needs and set that one's row to TODO: this one follows by itself.", False),
    "WAITING": Advice("Wait for its launch, or see what it waits for (runherd status RUN)."),
}  # fmt: skip
#: Classes that a log may tell too, where a stop of ours has it and the log says nothing that can be acted upon.
STOPPED_FOR = {
    "DIVERGED": Advice(
        "Look at the data and the learning rate at the step where it began; lower the rate, clip gradients, or use bf16; then set TODO.",
        False,
    ),
    "API_QUOTA": Advice("Use fewer workers or raise the limit of the account.", True),
    "PROXY_DOWN": Advice("Bring the endpoint up, or name another one (heal.proxy_fallback_env).", True),
    "OOM": Advice("Give it more memory, or a smaller batch (heal.oom_set).", True),
    "CODE_BUG": Advice("Mend what it fails at again and again, then set TODO.", False),
    "CACHE_COLD": Advice("Warm the cache, or mend the keys that differ from the baseline's; then set TODO.", False),
}  # fmt: skip


def advice(cls: str, run_id: str) -> Advice:
    """The advice for a class; `run_id` as a shell takes it."""
    found = ENDS.get(cls) or STOPPED_FOR.get(cls) or Advice("")
    return found._replace(text=found.text.replace("RUN)", f"{run_id})"))
