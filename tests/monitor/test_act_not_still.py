"""Programs that are quiet and well: they save, or compute. `--act stop` leaves them, and says by which sign."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from foreignprogram import Foreign

from runherd import processes
from runherd.monitor.usage import of_tree

#: Saves all the time by renaming; its clock is ahead, as the command's will be.
SAVES = """
import os, pathlib, sys, time
print("step 1 of 9", flush=True)
folder = pathlib.Path(sys.argv[2]); folder.mkdir(parents=True, exist_ok=True)
while True:
    (folder / "part").write_text("x")
    os.utime(folder / "part", (time.time() + 1330,) * 2)
    os.replace(folder / "part", folder / "last.pt")
    time.sleep(0.02)
"""
COMPUTES = """
import subprocess, sys, time
print("step 1 of 9", flush=True)
BURN = "while True: pass"
if sys.argv[2] == "itself":
    exec(BURN)
elif sys.argv[2] == "child":
    subprocess.run([sys.executable, "-c", BURN])
else:  # many short ones, as a compiler's
    while True:
        subprocess.run([sys.executable, "-c", "sum(range(2000000))"])
"""


def three_looks(foreign: Foreign, pid: int) -> list[tuple[int, str]]:
    return [foreign.look("--pid", str(pid), "--act", "stop", after_s=after) for after in (0, 1300, 30)]


@pytest.mark.parametrize("place", ["lightning_logs/v 0/ckpts", "runs", "mlruns/1/a/b/c", "out", "tb", "../élsewhere"])
def test_what_saves_anywhere_where_it_works_is_not_stopped(foreign: Foreign, place: str) -> None:
    """Checkpoints below the working directory, however the folder is called, and in one of the command line."""
    foreign.program.write_text(SAVES)
    foreign.argv.append(place)
    process = foreign.start()
    saved = foreign.log.parent / place / "last.pt"
    foreign.until(saved.exists)
    code, out = three_looks(foreign, process.pid)[-1]
    assert code == 5 and process.poll() is None
    told = os.path.normpath(saved)
    assert f"it is not still: {told} was written" in out or f"{Path(told).parent / 'part'} was written" in out
    assert "CPU time" in out and "STALE" in out


@pytest.mark.parametrize("who", ["itself", "child", "many"])
def test_what_computes_is_not_stopped(foreign: Foreign, who: str) -> None:
    """CPU time of the program, of a child, or of children that have come and gone, rises between the looks."""
    foreign.program.write_text(COMPUTES)
    foreign.argv.append(who)
    process = foreign.start()
    words = ("--pid", str(process.pid), "--act", "stop")
    foreign.look(*words)
    code, out = foreign.look(*words, after_s=1300)
    assert code == 1 and "CPU time" in out and "in all" in out
    before = of_tree(process.pid)
    assert before is not None
    foreign.until(lambda: (now := of_tree(process.pid)) is not None and now.cpu_s > before.cpu_s + 1.0)
    code, out = foreign.look(*words, after_s=29)
    for pid in [p.pid for p in processes.tree("", [process.pid])]:
        os.kill(pid, 9)
    assert code == 5 and process.poll() is None
    assert "it is not still: CPU time" in out and "% of a core" in out


def test_what_saves_where_nobody_knows_is_not_stopped(foreign: Foreign, tmp_path: Path) -> None:
    """Checkpoints of some size in a folder that only its configuration names: the bytes that it writes are the sign."""
    far = tmp_path / "far away"
    far.mkdir()
    (foreign.log.parent / "conf.txt").write_text(str(far))
    foreign.program.write_text(
        "import os, pathlib, time\nprint('step 1 of 9', flush=True)\nfar = pathlib.Path(open('conf.txt').read())\n"
        "while True:\n    (far / 'x').write_bytes(bytes(1 << 18))\n    os.replace(far / 'x', far / 'y')\n    time.sleep(0.05)\n"
    )
    process = foreign.start()
    words = ("--pid", str(process.pid), "--act", "stop")
    foreign.look(*words)
    foreign.look(*words, after_s=1300)
    before = of_tree(process.pid)
    assert before is not None
    foreign.until(lambda: (now := of_tree(process.pid)) is not None and now.written > before.written + (2 << 20))
    code, out = foreign.look(*words, after_s=30)
    assert code == 5 and process.poll() is None and "MiB written, in the" in out


def test_cpu_time_stands_beside_stale(foreign: Foreign) -> None:
    """Without `--act` too each look that says STALE tells the CPU time, in all and then since the look before."""
    process = foreign.start()
    foreign.look("--pid", str(process.pid))
    _, first = foreign.look("--pid", str(process.pid), after_s=1300)
    _, second = foreign.look("--pid", str(process.pid), after_s=30)
    assert "why:     CPU time" in first and "in all" in first
    assert "why:     CPU time 0.0 s, 0 % of a core, in the 30 s since the look before" in second


def test_a_checkpoint_that_is_not_there_is_told(foreign: Foreign) -> None:
    """A misspelt folder after `--checkpoint` is a sign; one that is there is none."""
    foreign.start()
    _, out = foreign.look("--checkpoint", str(foreign.log.parent), "--checkpoint", "nodir")
    assert f"sign:    the checkpoint {os.path.abspath('nodir')} is not there" in out and out.count("is not there") == 1


def test_the_folder_to_name_is_quoted(foreign: Foreign) -> None:
    """The advice to name a folder can be pasted into a shell."""
    foreign.program.write_text(SAVES)
    foreign.argv.append("it's here")
    process = foreign.start()
    foreign.until((foreign.log.parent / "it's here" / "last.pt").exists)
    _, out = three_looks(foreign, process.pid)[-1]
    folder = str(foreign.log.parent / "it's here")
    assert f"--checkpoint {shlex.quote(folder)}" in out
