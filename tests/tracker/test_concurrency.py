"""Many processes, an editor and a reader at one tracker: nothing is lost and the file is always whole."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Event
from pathlib import Path

from runherd.tracker import Status, Update, parse, read, update
from runherd.tracker.exchange import exchange

PROCESSES = 32
UPDATES = 2_000
ROWS_EACH = 2
CONTEXT = multiprocessing.get_context("fork")
Queue = "multiprocessing.SimpleQueue[tuple[str, object]]"


def rows_of(worker: int) -> list[str]:
    return [f"W{worker:02d}-{i}" for i in range(ROWS_EACH)]


def write_tracker(path: Path) -> None:
    ids = [run_id for worker in range(PROCESSES) for run_id in rows_of(worker)]
    rows = "".join(f"| {run_id} | M0 | probe | TODO | by hand |\n" for run_id in ids)
    path.write_text(
        "# Prosa é 实验\n\n| Run ID | Stage | System | Status | Notes |\n|---|---|---|---|---|\n"
        + rows
        + "\n## Diary\n",
        encoding="utf-8",
    )


def notes_in(path: Path) -> dict[str, str]:
    return {row.id: row.cells["notes"] for row in read(path).rows}


def work(path: Path, worker: int, count: int, queue: Queue) -> None:
    """Update the own rows in turn; before each look whether the one before it is still there."""
    mine = rows_of(worker)
    last: dict[str, str] = {}
    lost = 0
    for n in range(count):
        run_id = mine[n % ROWS_EACH]
        shown = notes_in(path)
        for known, note in last.items():
            if f"[runherd: {note}]" not in shown[known]:
                lost += 1
                update(path, [Update(known, note=note)], lock_timeout_s=120)
        last[run_id] = f"update {n}"
        status = Status.RUNNING if n + ROWS_EACH < count else Status.DONE
        outcome = update(path, [Update(run_id, status, note=last[run_id])], lock_timeout_s=120)
        if outcome.refused:
            queue.put(("refused", outcome.refused))
    queue.put(("worker", (lost, last)))


def edit(path: Path, stop: Event, queue: Queue) -> None:
    """Save as editors do: read, add a line, make sure that the file did not change, rename.

    The save is an exchange, so that the test learns when the file changed in the
    instant between the check and the rename, which no program can prevent.
    """
    saved, clobbered = 0, 0
    fresh = path.with_name("editor.tmp")
    while not stop.is_set():
        seen = path.stat()
        text = path.read_text(encoding="utf-8")
        fresh.write_text(text + f"line {saved} by the editor\n", encoding="utf-8")
        now = path.stat()
        if (now.st_ino, now.st_mtime_ns) == (seen.st_ino, seen.st_mtime_ns):
            assert exchange(fresh, path)
            clobbered += fresh.read_text(encoding="utf-8") != text
            saved += 1
        stop.wait(0.15)
    fresh.unlink(missing_ok=True)
    queue.put(("editor", (saved, clobbered)))


def sample(path: Path, stop: Event, queue: Queue) -> None:
    """Read all along; every moment the file holds all rows, each one writable, and nothing is wrong."""
    broken, looks = 0, 0
    while not stop.is_set():
        document = parse(path.read_bytes())
        whole = len(document.rows) == PROCESSES * ROWS_EACH and not document.problems
        broken += not whole or any(row.readonly or row.status is Status.UNKNOWN for row in document.rows)
        looks += 1
        stop.wait(0.02)
    queue.put(("reader", (looks, broken)))


def test_processes_an_editor_and_a_reader(tmp_path: Path) -> None:
    """2,000 updates by 32 processes while an editor adds prose: all is there, and always was whole."""
    path = tmp_path / "tra cker's 实验.md"
    write_tracker(path)
    queue: Queue = CONTEXT.SimpleQueue()
    stop = CONTEXT.Event()
    shares = [UPDATES // PROCESSES + (worker < UPDATES % PROCESSES) for worker in range(PROCESSES)]
    workers = [CONTEXT.Process(target=work, args=(path, w, n, queue)) for w, n in enumerate(shares)]
    others = [CONTEXT.Process(target=f, args=(path, stop, queue)) for f in (edit, sample)]
    for process in [*others, *workers]:
        process.start()
    reports = [queue.get() for _ in workers]
    stop.set()
    reports += [queue.get() for _ in others]
    for process in [*workers, *others]:
        process.join(60)
        assert process.exitcode == 0
    assert sum(shares) == UPDATES
    assert [report for report in reports if report[0] == "refused"] == []
    found = dict(report for report in reports if report[0] != "worker")
    saved, clobbered = found["editor"]
    looks, broken = found["reader"]
    assert broken == 0 and looks > 20
    text = path.read_text(encoding="utf-8")
    assert saved > 5
    assert all(f"line {n} by the editor\n" in text for n in range(saved))
    shown = notes_in(path)
    lost = sum(report[1][0] for report in reports if report[0] == "worker")
    print(f"{saved} saves, {clobbered} over an update, {lost} written again, {looks} looks")
    assert lost <= clobbered * ROWS_EACH  # only what the editor itself wrote over, and that was written again
    expected = {
        run_id: note for report in reports if report[0] == "worker" for run_id, note in report[1][1].items()
    }
    assert len(expected) == PROCESSES * ROWS_EACH
    missing = [run_id for run_id, note in expected.items() if shown[run_id] != f"by hand [runherd: {note}]"]
    assert len(missing) <= clobbered
    assert all(row.status is Status.DONE for row in read(path).rows if row.id not in missing)
    assert list(tmp_path.iterdir()) == [path]
