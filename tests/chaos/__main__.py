"""Kill until N kills are done, and report: ``python -m chaos --kills 300 [--seed S] [--harms all] [--without-leases]``.

Exit code 0 when every promise held (with `--without-leases`: when doubles were
reported, as they must be then).
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from chaos import harm
from chaos.scene import CHECKOUT, Scene
from chaos.trial import Tally, Trial
from chaos.unleased import checkout_without_leases

HARMS = ("stop", "full", "readonly", "torn", "clock", "pid", "boot")
ORDER = ("no record", "requested", "launched", "running", "exited", "judged", "resuming", "ended")


def trials(
    kills: int, seed: int, parent: Path, *, checkout: Path = CHECKOUT, runs: int = 4, volleys: int = 14,
    deadline_s: float = 240.0, patience_s: float = 8.0, rivals: int = 0, tally: Tally | None = None,
    harms: Sequence[str] = (),
) -> Tally:  # fmt: skip
    """Run trials until `kills` processes have been killed; what broke is in the tally's `faults`.

    Two or three of `harms` befall each trial besides.
    """
    tally, rng = tally or Tally(), random.Random(seed)
    while tally.kills < kills:
        number = tally.trials
        root = parent / f"trial {number} 'π'"
        ids = tuple(f"R{i:03}" for i in range(1, runs + 1))
        some = frozenset(rng.sample(list(harms), min(len(harms), rng.randint(2, 3))))
        scene = Scene(root, ids, checkout, steps=rng.randint(8, 24), pace_s=rng.choice((0.1, 0.2, 0.3)), harms=some)
        found = Trial(scene, tally, rng, min(volleys, kills - tally.kills), deadline_s, patience_s, rivals).run()
        said = f"trial {number} ({', '.join(sorted(some)) or 'kills alone'}): {tally.kills} kills so far"
        print("\n  FAULT ".join([said, *found]), flush=True)
        if found:
            print(f"  its folder: {root}", flush=True)
        else:
            shutil.rmtree(root)
    return tally


def possible(asked: str) -> list[str]:
    """The harms that are asked for and can be had here; what cannot is said."""
    wanted = [] if asked == "none" else list(HARMS) if asked == "all" else asked.split(",")
    if strange := set(wanted) - set(HARMS):
        raise SystemExit(f"no such harm: {', '.join(sorted(strange))}; there are {', '.join(HARMS)}")
    not_here = harm.impossible()
    for kind in wanted:
        if kind in not_here:
            print(f"without `{kind}`: {not_here[kind]}", flush=True)
    return [kind for kind in wanted if kind not in not_here]


def histogram(hits: Counter[tuple[str, str]], what: str = "victim") -> str:
    """A table of kills (or harms): victims down, ledger states across."""
    kinds = sorted({k for k, _ in hits})
    states = [s for s in ORDER if any(n and t == s for (_, t), n in hits.items())]
    width = max(map(len, [*kinds, what]))
    lines = [what.ljust(width) + "".join(s.rjust(11) for s in states)]
    lines += [k.ljust(width) + "".join(str(hits[k, s] or ".").rjust(11) for s in states) for k in kinds]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="chaos", description="kill parts of runherd at random moments")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--runs", type=int, default=4, help="runs of a trial")
    parser.add_argument("--harms", default="all", help="other harms, by comma: all, none, " + ", ".join(HARMS))
    parser.add_argument("--without-leases", action="store_true", help="try a copy whose locks lock nothing")
    args = parser.parse_args()
    began = time.monotonic()
    parent = Path(tempfile.mkdtemp(prefix="chaos "))
    checkout = checkout_without_leases(parent / "unleased") if args.without_leases else CHECKOUT
    print(f"seed {args.seed}, in {parent}", flush=True)
    harms = [] if args.without_leases else possible(args.harms)
    deadline_s = 90 if args.without_leases else 240
    tally = Tally()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to stop: report what there is
    try:
        trials(
            args.kills, args.seed, parent, checkout=checkout, runs=args.runs, deadline_s=deadline_s, tally=tally,
            rivals=3 if args.without_leases else 0, harms=harms,
        )  # fmt: skip
    except KeyboardInterrupt:
        print("stopped before its end", flush=True)
    doubles = sum("executed twice" in f for f in tally.faults)
    print(f"\n{histogram(tally.hits)}\n")
    if harms:
        print(f"{histogram(tally.harms, 'harm')}\n")
    print(
        f"{tally.kills} kills in {tally.volleys} volleys ({tally.several} of several at once), {tally.trials} trials "
        f"of {args.runs} runs, {tally.second_controllers} second controllers, {time.monotonic() - began:.0f} s"
    )
    print(f"causes of attempts: {dict(tally.causes)}")
    print(f"executed twice at once: {doubles}; other broken promises: {len(tally.faults) - doubles}")
    if args.without_leases:
        return 0 if doubles else 1
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
