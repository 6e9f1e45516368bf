"""Which host carries a run: a lease with heartbeat and fencing, for file systems whose locks end at the host.

Within a host the kernel's locks decide. Between hosts nobody can see whether a
program lives; so a run that another host carries is left alone until that host
has given it back: by ending it, by the scheduler's starting the same job again,
or by the word of a person (`runherd takeover`). Silence alone frees nothing.

`runs/<id>/leases/<fence>.json` is created exclusively (a hard link, atomic on
NFS too); the highest fence counts, and whoever holds a lower one stops. Age is
judged by whether the beat changes, so that clocks of hosts need not agree.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runherd import clock
from runherd.cluster import own_job
from runherd.processes import Identity

BEAT_S = 20.0  #: between two signs of life
TTL_S = 90.0  #: without one for so long, a holder is called silent


class Fenced(Exception):
    """Another host has taken the run over: stop, and write nothing more."""


@dataclass(frozen=True)
class Lease:
    """A claim on a run; `holder` None: given back."""

    fence: int
    holder: Identity | None
    beat: int = 0
    at: str = ""  #: of the last beat, by the holder's clock
    job: str = ""  #: the scheduler's job, where there is one

    def to_json(self) -> dict[str, Any]:
        holder = self.holder.to_json() if self.holder else None
        return {"schema": 1, "fence": self.fence, "holder": holder, "beat": self.beat, "at": self.at, "job": self.job}


def current(folder: Path) -> Lease | None:
    """The lease that counts; None when nobody ever took one."""
    fences = sorted(int(p.stem) for p in folder.glob("*.json") if p.stem.isdigit()) if folder.is_dir() else []
    for fence in reversed(fences):
        try:
            raw = json.loads((folder / f"{fence}.json").read_bytes())
            return Lease(fence, Identity.from_json(raw["holder"]), int(raw["beat"]), str(raw["at"]), str(raw["job"]))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError):
            unknown = Identity("an unreadable lease", "", 0, 0, 0)
            return Lease(fence, unknown)
    return None


def elsewhere(held: Lease | None, host: str, our_job: str) -> Lease | None:
    """The lease, when it keeps this host from the run; None when the run may be taken here. Pure."""
    if held is None or held.holder is None or held.holder.host == host:
        return None
    return None if our_job and our_job == held.job else held


def acquire(folder: Path, me: Identity) -> Lease:
    """Take the run for this host; the caller holds its supervisor lock. Raises `Fenced` when another host has it."""
    held = current(folder)
    if (other := elsewhere(held, me.host, own_job())) is not None and other.holder is not None:
        raise Fenced(f"carried by {other.holder.host}")
    mine = Lease(held.fence + 1 if held else 1, me, 1, clock.now(), own_job())
    folder.mkdir(parents=True, exist_ok=True)
    draft = _draft(folder, mine)
    try:
        os.link(draft, _path(folder, mine))
    except FileExistsError:
        raise Fenced("another host took it at this moment") from None
    finally:
        draft.unlink()
    for old in folder.glob("*.json"):
        if old.stem.isdigit() and int(old.stem) < mine.fence:
            old.unlink(missing_ok=True)
    return mine


def renew(folder: Path, mine: Lease) -> Lease:
    """Give a sign of life. Raises `Fenced` when somebody holds a higher fence."""
    held = current(folder)
    if held is None or held.fence != mine.fence or held.holder != mine.holder:
        raise Fenced("the lease was taken over")
    fresh = replace(mine, beat=mine.beat + 1, at=clock.now())
    os.replace(_draft(folder, fresh), _path(folder, fresh))
    return fresh


def release(folder: Path, held: Lease) -> None:
    """Give the run back: its generation has ended, or a person says that its host is gone."""
    if (now := current(folder)) is not None and now.fence == held.fence:
        free = replace(held, holder=None, at=clock.now())
        os.replace(_draft(folder, free), _path(folder, free))


class Watch:
    """Whether another host's holder still gives signs, by our own clock."""

    def __init__(self) -> None:
        self._seen: tuple[int, int] | None = None
        self._since = time.monotonic()
        self.looks = 0

    def silent_s(self, held: Lease) -> float:
        """For how long the beat has not changed since we began to look, in seconds."""
        self.looks += 1
        if (held.fence, held.beat) != self._seen:
            self._seen, self._since = (held.fence, held.beat), time.monotonic()
        return time.monotonic() - self._since


def _path(folder: Path, lease: Lease) -> Path:
    return folder / f"{lease.fence}.json"


def _draft(folder: Path, lease: Lease) -> Path:
    path = folder / f".{os.uname().nodename}.{os.getpid()}.tmp"
    path.write_text(json.dumps(lease.to_json()))
    return path
