"""Where every file lives, and how a file is written: this module alone knows both.

A `Layout` names files; it reads and decides nothing. Writes are atomic
(temporary file in the same folder, fsync, `os.replace`), appends are fsynced.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

SAFE_PUNCTUATION = frozenset("._=-[],@+")


def encode_id(run_id: str) -> str:
    """Turn a run id into a folder name, reversibly.

    Letters and digits of any script and ``._=-[],@+`` stay; every other
    character, and a leading dot, becomes ``%XX`` of its UTF-8 bytes.
    """
    out = []
    for i, ch in enumerate(run_id):
        keep = ch.isalnum() or (ch in SAFE_PUNCTUATION and not (ch == "." and i == 0))
        out.append(ch if keep else "".join(f"%{b:02X}" for b in ch.encode("utf-8", "surrogatepass")))
    return "".join(out)


def decode_id(name: str) -> str:
    """Invert `encode_id`."""
    return unquote(name, errors="surrogatepass")


@dataclass(frozen=True)
class Layout:
    """All file names of one project; paths are relative to `root` unless it is absolute."""

    root: Path
    runs: str = "runs"
    results: str = "results"
    gates: str = "gates"
    report: str = "report"

    # -- one run -----------------------------------------------------------
    def run_dir(self, run_id: str) -> Path:
        return self.root / self.runs / encode_id(run_id)

    def events(self, run_id: str) -> Path:
        return self.run_dir(run_id) / "events.jsonl"

    def spec(self, run_id: str) -> Path:
        return self.run_dir(run_id) / "spec.json"

    def work_dir(self, run_id: str) -> Path:
        """Folder for the program's own output; kept over attempts."""
        return self.run_dir(run_id) / "work"

    def checkpoint_dir(self, run_id: str) -> Path:
        return self.run_dir(run_id) / "checkpoint"

    def attempt_dir(self, run_id: str, attempt: int) -> Path:
        return self.run_dir(run_id) / "attempts" / str(attempt)

    def log(self, run_id: str, attempt: int) -> Path:
        return self.attempt_dir(run_id, attempt) / "log.txt"

    def command(self, run_id: str, attempt: int) -> Path:
        return self.attempt_dir(run_id, attempt) / "command.json"

    def process(self, run_id: str, attempt: int) -> Path:
        """Who runs: identity of wrapper and program, written by the wrapper."""
        return self.attempt_dir(run_id, attempt) / "process.json"

    def exit(self, run_id: str, attempt: int) -> Path:
        return self.attempt_dir(run_id, attempt) / "exit.json"

    def samples(self, run_id: str, attempt: int) -> Path:
        """Resource use over time, one JSON object a line."""
        return self.attempt_dir(run_id, attempt) / "samples.jsonl"

    def record(self, run_id: str, kind: str) -> Path:
        """`kind`: result, validation, cost, diagnosis, dryrun, monitor, guard."""
        return self.run_dir(run_id) / f"{kind}.json"

    def items(self, run_id: str) -> Path:
        """Per-item results in our own form, one JSON object a line."""
        return self.run_dir(run_id) / "items.jsonl"

    def supervisor_lock(self, run_id: str) -> Path:
        return self.run_dir(run_id) / "supervisor.lock"

    def program_lock(self, run_id: str) -> Path:
        return self.run_dir(run_id) / "program.lock"

    def leases(self, run_id: str) -> Path:
        return self.run_dir(run_id) / "leases"

    def cancel_request(self, run_id: str) -> Path:
        return self.run_dir(run_id) / "cancel.json"

    def supervisor_log(self, run_id: str) -> Path:
        return self.run_dir(run_id) / "supervisor.log"

    def archive_dir(self, run_id: str, generation: int) -> Path:
        return self.root / self.runs / ".archive" / f"{encode_id(run_id)}.{generation}"

    # -- published copies, gates, report -------------------------------------
    def published(self, run_id: str, kind: str) -> Path:
        return self.root / self.results / encode_id(run_id) / f"{kind}.json"

    def gate_verdict(self, stage: str) -> Path:
        return self.root / self.gates / f"{encode_id(stage)}.json"

    def gate_passed(self, stage: str) -> Path:
        return self.root / self.gates / f"{encode_id(stage)}.passed"

    def gate_archive(self) -> Path:
        return self.root / self.gates / "archive"

    def gate_override(self, stage: str) -> Path:
        return self.root / self.gates / f"{encode_id(stage)}.override.json"

    def report_dir(self) -> Path:
        return self.root / self.report

    # -- runherd's own state ---------------------------------------------------
    @property
    def state(self) -> Path:
        return self.root / ".runherd"

    def stamp(self, step: str, run_id: str, generation: int) -> Path:
        return self.state / step / f"{encode_id(run_id)}.{generation}"

    def index(self) -> Path:
        return self.state / "index.json"

    def controller_lock(self) -> Path:
        return self.state / "controller.lock"

    def controller_log(self) -> Path:
        return self.state / "controller.log"

    def budget_lock(self) -> Path:
        return self.state / "budget.lock"

    def requests(self) -> Path:
        """Targets that other commands handed to the controller."""
        return self.state / "requests"


def relative_to_root(root: Path, path: Path) -> str:
    """Show `path` relative to `root` where it lies inside, else as it is."""
    try:
        return str(path.relative_to(root))
    except ValueError:
        return str(path)


def write_atomic(path: Path, data: bytes | str, *, mode: int | None = None) -> None:
    """Replace `path` by `data` as one step; a reader sees the old or the new file, whole.

    Raises `OSError` with the old file untouched and no temporary file left.
    """
    raw = data.encode() if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, tmp = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(raw)
            f.flush()
            os.fchmod(f.fileno(), 0o666 & ~_umask() if mode is None else mode)
            os.fsync(f.fileno())
        os.replace(tmp, path)
    except BaseException:
        try:
            os.unlink(tmp)
        except FileNotFoundError:
            pass
        raise


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically. NaN and infinity are refused."""
    write_atomic(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_object(path: Path) -> dict[str, Any] | None:
    """Read a JSON object, as all our records are; None when the file is missing, not whole or something else."""
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def fingerprint(path: Path) -> list[int] | None:
    """What changes when a file is written or replaced (inode, size, time of writing in ns); None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def append_line(path: Path, line: str) -> None:
    """Append one line in a single write and fsync it.

    A torn last line (a writer killed in mid-write) is closed off first, so
    that it cannot swallow this one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        os.write(fd, (("\n" if torn else "") + line + "\n").encode())
        os.fsync(fd)
    finally:
        os.close(fd)


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value
