"""Start the guard of a run, then become the program: `main.py CONFIG -- program argument ...`.

Run by path under `python -I -S`. The guard is a process of its own that ends
with the program; this process turns into the program (`exec`), so that its pid,
signals, exit code and resources are the program's own. `http://runherd-guard.invalid`
in arguments and environment becomes the guard's address, whose port is known only here.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from runherd.guard import server, settings
from runherd.guard.counters import Record
from runherd.guard.dispatch import Dispatcher
from runherd.guard.settings import ADDRESS
from runherd.guard.upstream import PLACEHOLDER_KEY

WRITE_S = 2.0  #: between two writings of the counters
M_ARENA_MAX = -8


def main(argv: list[str]) -> int:
    """Never returns where the program could be started; else its exit code as a shell would tell it."""
    config, program = argv[0], argv[2:]
    chosen = settings.read(json.loads(Path(config).read_text()), os.environ)
    sock = server.listen()
    sys.stdout.flush()
    pidfd = os.pidfd_open(os.getpid())
    child = os.fork()
    if child == 0:
        if os.fork() == 0:  # not a child of the program, which may wait for all of its own
            guard(chosen, sock.fileno(), pidfd)
        os._exit(0)
    os.waitpid(child, 0)
    os.close(pidfd)
    address = f"http://127.0.0.1:{sock.getsockname()[1]}"
    sock.close()
    env = {name: value.replace(ADDRESS, address) for name, value in os.environ.items()}
    env["OPENAI_API_KEY"] = env.get("OPENAI_API_KEY") or PLACEHOLDER_KEY  # the client refuses to start without
    env["NO_PROXY"] = env["no_proxy"] = ",".join(filter(None, [env.get("NO_PROXY") or env.get("no_proxy"), "127.0.0.1"]))
    for s in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and that would be inherited
        signal.signal(s, signal.SIG_DFL)
    words = [word.replace(ADDRESS, address) for word in program]
    try:
        os.execvpe(words[0], words, env)
    except OSError as e:
        print(f"[runherd] cannot start {words[0]!r}: {e.strerror}", flush=True)
        return 127 if isinstance(e, FileNotFoundError) else 126


def guard(chosen: settings.Settings, listening: int, program: int) -> None:
    """Serve until the program has ended, then write the counters down and go. Never returns."""
    import socket

    os.setsid()
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(s, signal.SIG_IGN)  # the program may want answers while it writes its checkpoint
    _let_go({listening, program}, Path(chosen.record).with_suffix(".log"))
    ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)  # many threads under a limit of address space
    record = Record(Path(chosen.record), chosen.generation, [e.name for e in chosen.endpoints])
    server.serve(socket.socket(fileno=listening), Dispatcher(chosen, record.counters))
    while True:
        record.write()
        if select.select([program], [], [], WRITE_S)[0]:
            break
    record.write()
    os._exit(0)


def _let_go(kept: set[int], log: Path) -> None:
    """Close what was inherited (locks, the run's log), so that only the program holds it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    null, out = os.open(os.devnull, os.O_RDWR), os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for fd, target in ((null, 0), (null, 1), (out, 2)):
        os.dup2(fd, target)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
