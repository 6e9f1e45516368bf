"""Writing files: locks, atomic exchange, mode and owner, and every way in which it may fail."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runherd.errors import UserError
from runherd.tracker import Status, Update, parse, read, storage, update

TABLE = "| Run ID | Status | Notes |\n|---|---|---|\n| R1 | TODO | mine |\n| R2 | TODO | |\n"
DONE = [Update("R1", Status.DONE, note="n")]
ROOT = os.geteuid() == 0


@pytest.fixture
def tracker(tmp_path: Path) -> Path:
    folder = tmp_path / 'it\'s a "fólder" 实验'
    folder.mkdir()
    path = folder / "EXPERIMENT TRACKER.md"
    path.write_text("# T\n\n" + TABLE + "\nprose\n", encoding="utf-8")
    return path


@pytest.fixture
def public_tracker() -> Iterator[Path]:
    """A tracker that another user can reach too (pytest's own folders are private)."""
    with tempfile.TemporaryDirectory(prefix="run herd é'") as name:
        folder = Path(name)
        folder.chmod(0o777)
        path = folder / "TRACKER.md"
        path.write_text(TABLE, encoding="utf-8")
        path.chmod(0o666)
        yield path
        folder.chmod(0o777)


def as_another_user(path: Path) -> str:
    """Update R1 in a child without privileges; return its refusals as text."""
    child = run_python(
        """
        import os, sys
        from pathlib import Path
        from runherd.tracker import Status, Update, update
        if os.geteuid() == 0:
            os.setgid(65534); os.setuid(65534)
        print(update(Path(sys.argv[1]), [Update("R1", Status.DONE)]).refused)
        """,
        path,
    )
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    return out


def status_of(path: Path, run_id: str) -> Status:
    return next(row.status for row in read(path).rows if row.id == run_id)


def leftovers(path: Path) -> list[str]:
    return [entry.name for entry in path.parent.iterdir() if entry.name.endswith(".tmp")]


def run_python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python child on this source tree with pipes for its input and output."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(storage.__file__).parents[2])},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_outcome_tells_what_was_written_and_what_not(tracker: Path) -> None:
    """Written runs come with their new status, the others with a reason; the second time nothing changes."""
    outcome = update(tracker, [*DONE, Update("R9", Status.DONE)])
    assert outcome.written == {"R1": Status.DONE}
    assert outcome.refused == {"R9": "no such row in the tracker"}
    assert outcome.changed
    inode = tracker.stat().st_ino
    assert not update(tracker, DONE).changed
    assert tracker.stat().st_ino == inode
    assert "| R1 | DONE | mine [runherd: n] |" in tracker.read_text(encoding="utf-8")


def test_mode_owner_and_attributes_stay(tracker: Path) -> None:
    """The new file has the old one's mode and owner, and no temporary file stays."""
    tracker.chmod(0o640)
    if ROOT:
        os.chown(tracker, 1234, 4321)
    before = tracker.stat()
    update(tracker, DONE)
    after = tracker.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert status_of(tracker, "R1") is Status.DONE
    assert leftovers(tracker) == []


def test_symlink_stays(tracker: Path, tmp_path: Path) -> None:
    """Through a symlink (to a symlink) the real file changes and the links stay links."""
    middle, link = tmp_path / "middle.md", tmp_path / "link.md"
    middle.symlink_to(tracker)
    link.symlink_to(middle)
    assert update(link, DONE).changed
    assert link.is_symlink() and middle.is_symlink()
    assert status_of(tracker, "R1") is Status.DONE


def test_read_only_file_is_refused(tracker: Path) -> None:
    """A file without any write permission is left alone, for root too, and written once it may be."""
    tracker.chmod(0o444)
    before = tracker.read_bytes()
    assert "read-only" in update(tracker, DONE).refused["R1"]
    assert tracker.read_bytes() == before
    tracker.chmod(0o644)
    assert update(tracker, DONE).written == {"R1": Status.DONE}


def test_read_only_folder_is_refused(public_tracker: Path) -> None:
    """In a folder where no file can be made the old file stays whole and the update arrives later."""
    public_tracker.parent.chmod(0o555)
    before = public_tracker.read_bytes()
    assert "Permission denied" in as_another_user(public_tracker)
    assert public_tracker.read_bytes() == before
    public_tracker.parent.chmod(0o777)
    assert update(public_tracker, DONE).written == {"R1": Status.DONE}


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 64 KiB, where root may mount one."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not ROOT or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs root and the right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def test_out_of_space(full_disk: Path) -> None:
    """On a full disk the old file stays whole, nothing is left over, and the update arrives later."""
    path = full_disk / "TRACKER.md"
    path.write_text(TABLE + "x" * 30_000, encoding="utf-8")
    filler = full_disk / "filler"
    filler.write_bytes(b"x" * 28_000)
    before = path.read_bytes()
    assert "No space left" in update(path, DONE).refused["R1"]
    assert path.read_bytes() == before and leftovers(path) == []
    filler.unlink()
    assert update(path, DONE).written == {"R1": Status.DONE}


def test_file_size_limit(tracker: Path) -> None:
    """A write cut short by the file size limit counts as out of space too."""
    tracker.write_text(TABLE + "x" * 50_000, encoding="utf-8")
    before = tracker.read_bytes()
    child = run_python(
        """
        import resource, signal, sys
        from pathlib import Path
        from runherd.tracker import Status, Update, update
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        print(update(Path(sys.argv[1]), [Update("R1", Status.DONE)]).refused)
        """,
        tracker,
    )
    out, err = child.communicate(timeout=60)
    assert "File too large" in out, err
    assert tracker.read_bytes() == before and leftovers(tracker) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 20_000
    assert update(tracker, DONE).written == {"R1": Status.DONE}


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_at_the_exchange(tracker: Path, moment: str) -> None:
    """SIGKILL just before the exchange leaves the old file whole, after it the new one; no lock stays."""
    before = tracker.read_bytes()
    child = run_python(
        """
        import os, signal, sys
        from pathlib import Path
        from runherd.tracker import Status, Update, exchange, update
        real = exchange.exchange
        def killed(one, other):
            if sys.argv[2] == "after":
                real(one, other)
            os.kill(os.getpid(), signal.SIGKILL)
        exchange.exchange = killed
        update(Path(sys.argv[1]), [Update("R1", Status.DONE, note="n")])
        """,
        tracker, moment,
    )  # fmt: skip
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    if moment == "before":
        assert tracker.read_bytes() == before
    assert update(tracker, DONE, lock_timeout_s=0).written == {"R1": Status.DONE}
    assert len(parse(tracker.read_bytes()).rows) == 2


def test_locked_by_another_process(tracker: Path) -> None:
    """While somebody holds the lock the update is refused after the timeout, and arrives later."""
    child = run_python(
        """
        import fcntl, sys
        f = open(sys.argv[1], "r+b")
        fcntl.flock(f, fcntl.LOCK_EX)
        print("ready", flush=True)
        sys.stdin.readline()
        """,
        tracker,
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    began = time.monotonic()
    refused = update(tracker, DONE, lock_timeout_s=0.2).refused
    assert "locked by another process" in refused["R1"]
    assert time.monotonic() - began >= 0.2
    child.communicate("\n", timeout=60)
    assert update(tracker, DONE, lock_timeout_s=5).written == {"R1": Status.DONE}


def test_a_waiter_locks_the_file_that_replaced_the_one_it_waited_for(
    tracker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock on a file that is the tracker no longer is neither waited for nor held to count."""
    pauses = []

    def replaced_meanwhile() -> None:
        pauses.append(1)
        save_by_rename(tracker, TABLE.replace("R2", "R3"))

    monkeypatch.setattr(storage, "_pause", replaced_meanwhile)
    with tracker.open("r+b") as old:
        fcntl.flock(old, fcntl.LOCK_EX)
        outcome = update(tracker, [Update("R3", Status.DONE)], lock_timeout_s=5)
    assert outcome.written == {"R3": Status.DONE}
    assert len(pauses) == 1


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "latin-1"])
def test_other_encodings_are_refused(tracker: Path, encoding: str) -> None:
    """A tracker that is not UTF-8 is not written, and reading it names the file and the way out."""
    tracker.write_bytes(
        ("# 实验é\n" if encoding != "latin-1" else "# é\n").encode(encoding) + TABLE.encode(encoding)
    )
    before = tracker.read_bytes()
    assert "not UTF-8" in update(tracker, DONE).refused["R1"]
    assert tracker.read_bytes() == before
    with pytest.raises(UserError, match="not UTF-8") as caught:
        read(tracker)
    assert caught.value.exit_code == 2
    assert "iconv" in str(caught.value)


def test_missing_tracker(tmp_path: Path) -> None:
    """A missing file is a user's mistake when read and a refusal when written; a folder likewise."""
    with pytest.raises(UserError, match="no such tracker"):
        read(tmp_path / "nothing.md")
    assert "gone" in update(tmp_path / "nothing.md", DONE).refused["R1"]
    assert "not a regular file" in update(tmp_path, DONE).refused["R1"]


def save_by_rename(path: Path, text: str) -> None:
    fresh = path.with_name("editor's new file")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def save_in_place(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("save", [save_by_rename, save_in_place])
@pytest.mark.parametrize("when", ["before the look", "after the look"])
def test_an_editor_saves_meanwhile(tracker: Path, monkeypatch: pytest.MonkeyPatch, save, when: str) -> None:  # type: ignore[no-untyped-def]
    """What an editor saves while we write is kept, whether before or after our last look at the file."""
    look = storage._unchanged
    saves = iter(["prose, edited once", "prose, edited twice"])

    def looked(real: Path, data: bytes, seen: os.stat_result) -> bool:
        text = next(saves, None) if real == tracker else None
        edit = None if text is None else real.read_text(encoding="utf-8").replace("prose", text)
        if edit is not None and when == "before the look":
            save(real, edit)
        same = look(real, data, seen)
        if edit is not None and when == "after the look":
            save(real, edit)
        return same

    monkeypatch.setattr(storage, "_unchanged", looked)
    outcome = update(tracker, DONE)
    text = tracker.read_text(encoding="utf-8")
    assert outcome.written == {"R1": Status.DONE}
    assert "| R1 | DONE | mine [runherd: n] |" in text
    assert "edited once" in text
    assert leftovers(tracker) == []


def test_a_row_that_the_editor_removed_meanwhile_is_refused(
    tracker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outcome tells of the file as it now is, not as it was read."""
    look = storage._unchanged

    def looked(real: Path, data: bytes, seen: os.stat_result) -> bool:
        same = look(real, data, seen)
        if real == tracker:
            save_by_rename(real, TABLE.replace("R1", "R5"))
        return same

    monkeypatch.setattr(storage, "_unchanged", looked)
    outcome = update(tracker, DONE)
    assert outcome.written == {} and "no such row" in outcome.refused["R1"]
    assert tracker.read_text(encoding="utf-8") == TABLE.replace("R1", "R5")


def test_an_editor_that_never_stops_saving(tracker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When every attempt meets a newer save, the last save stays and our update is still due."""
    look = storage._unchanged
    saves = []

    def looked(real: Path, data: bytes, seen: os.stat_result) -> bool:
        same = look(real, data, seen)
        if real == tracker:
            saves.append(f"{TABLE}\nsave {len(saves)}\n")
            save_by_rename(real, saves[-1])
        return same

    monkeypatch.setattr(storage, "_unchanged", looked)
    assert "changed under every attempt" in update(tracker, DONE).refused["R1"]
    assert tracker.read_text(encoding="utf-8") == saves[-1]
    assert len(saves) > 10 and leftovers(tracker) == []


def test_where_files_cannot_be_exchanged(tracker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without the exchange the file is replaced after the last look."""
    monkeypatch.setattr("runherd.tracker.exchange.exchange", lambda one, other: False)
    assert update(tracker, DONE).changed
    assert status_of(tracker, "R1") is Status.DONE and leftovers(tracker) == []


@pytest.mark.skipif(not ROOT, reason="only root can make a file of another owner")
def test_an_owner_that_cannot_be_kept_is_refused(public_tracker: Path) -> None:
    """Somebody else's file is not replaced by a file of ours."""
    os.chown(public_tracker, 1234, 1234)
    assert "belongs to uid 1234" in as_another_user(public_tracker)
    assert public_tracker.stat().st_uid == 1234 and status_of(public_tracker, "R1") is Status.TODO
    assert stat.S_IMODE(public_tracker.stat().st_mode) == 0o666
    assert leftovers(public_tracker) == []


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_tracker_that_never_ends_is_refused(tmp_path: Path, kind: str) -> None:
    """A named pipe or a device is told at once, and nobody waits for its end."""
    path = tmp_path / "trä 'cker'.md"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(UserError, match="not a regular file"):
        read(path)


def test_a_tracker_through_a_pipe_of_the_shell() -> None:
    """A pipe that a shell has opened, as `<(git show HEAD:tracker.md)`, is read to its end."""
    reading, writing = os.pipe()
    os.write(writing, b"| Run ID | Status |\n|---|---|\n| R1 | TODO |\n")
    os.close(writing)
    try:
        assert [row.id for row in read(Path(f"/dev/fd/{reading}")).rows] == ["R1"]
    finally:
        os.close(reading)
