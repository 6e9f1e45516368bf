"""Door to the short-lived steps that a supervisor starts: `step NAME PLACE [ARGS…]`."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from runherd.steps.job import die_with_parent
from runherd.supervise.place import Place
from runherd.supervise.shortstep import CRASHED, MAY_PASS


def main(argv: Sequence[str]) -> int:
    """Run one step by name; exit code 0 when it did its work, `CRASHED` when it broke on what it was given.

    Any other code says nothing about the run: the machine kept the step from
    its work (a full disk, a read-only folder), which may pass, or it was
    killed. It ends with the supervisor that started it.
    """
    die_with_parent()
    try:
        return _run(argv[0], Place.from_arg(argv[1]), list(argv[2:]))
    except Exception as e:
        traceback.print_exc()  # where even this cannot be written, that ends us, as it should
        return MAY_PASS if by_the_machine(e) else CRASHED


def by_the_machine(e: BaseException | None) -> bool:
    """Whether an exception comes from the operating system, itself or by what it was raised from."""
    while e is not None:
        if isinstance(e, OSError):
            return True
        e = e.__cause__ or e.__context__
    return False


def _run(name: str, place: Place, args: list[str]) -> int:
    if name == "prepare":
        from runherd.lifecycle.prepare import prepare

        prepare(place, int(args[0]), args[1], args[2])
    elif name == "announce":
        from runherd.lifecycle.announce import announce

        announce(place)
    elif name == "look":
        from runherd.lifecycle.look import look

        print(look(place, int(args[0])))
    elif name == "settle":
        from runherd.lifecycle.settle import settle

        settle(place, int(args[0]))
    elif name == "unsettled":
        from runherd.lifecycle.unsettled import unsettled

        unsettled(place, int(args[0]))
    elif name == "withdraw":
        from runherd.lifecycle.withdraw import withdraw

        withdraw(place)
    elif name == "finish":
        from runherd.lifecycle.finish import finish

        finish(place)
    else:
        print(f"unknown step {name!r}", file=sys.stderr)
        return 2
    return 0
