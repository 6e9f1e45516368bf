"""Which reader takes a file: known by its content, never by its name alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runherd.collect import jsonl, native
from runherd.collect.findings import Finding
from runherd.collect.jsonstream import first_keys
from runherd.collect.reading import Reader, Reading, Request, Sink
from runherd.errors import UserError

Keys = dict[str, Any] | None
Test = Callable[[Path, bytes, Keys], bool]

#: format -> (module, function); a reader is imported when its format is met
_READERS = {
    "wandb": ("wandb_file", "read"),
    "wandb_summary": ("wandb_file", "read_summary"),
    "tensorboard": ("tensorboard", "read"),
    "inspect_eval": ("inspect_log", "read_eval"),
    "inspect_json": ("inspect_log", "read_json"),
    "lm_eval": ("lm_eval", "read"),
    "trainer_state": ("trainer_state", "read"),
    "opencompass": ("opencompass", "read"),
    "vlmevalkit": ("vlmeval", "read"),
    "lightning": ("lightning", "read"),
    "jmespath": ("declared", "read_jmespath"),
    "stdout": ("declared", "read_stdout"),
    "mlflow": ("mlflow_store", "read"),
    "mlflow_files": ("mlflow_files", "read"),
    "wandb_api": ("wandb_api", "read"),
}
BUILT_IN: dict[str, Reader] = {"jsonl": jsonl.read, "per_item": native.read}
ENTRY_POINTS = "runherd.collectors"  #: a name -> reader of another package


def names() -> list[str]:
    """Return the names that `collect.format` may have, beside "auto"."""
    return [*BUILT_IN, *_READERS, *(e.name for e in _entry_points())]


def is_known(name: str) -> bool:
    """Whether a reader has this name; other packages are asked only where none of ours has it."""
    return name in BUILT_IN or name in _READERS or name in names()


def reader(name: str) -> Reader:
    """Return the reader of a format; raises KeyError for an unknown one."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name in _READERS:
        module, function = _READERS[name]
        found: Reader = getattr(importlib.import_module(f"runherd.collect.{module}"), function)
        return found
    for entry in _entry_points():
        if entry.name == name:
            loaded: Reader = entry.load()
            return loaded
    raise KeyError(name)


def _entry_points() -> list[Any]:
    from importlib.metadata import entry_points

    return list(entry_points(group=ENTRY_POINTS))


def _is_jsonl(path: Path, start: bytes, keys: Keys) -> bool:
    start = start.removeprefix(b"\xef\xbb\xbf")
    if not start.lstrip().startswith(b"{"):
        return False
    if path.suffix in (".jsonl", ".ndjson"):
        return True
    lines = [line for line in start.splitlines() if line.strip()]
    return len(lines) > 1 and lines[0].rstrip().endswith(b"}") and lines[1].lstrip().startswith(b"{")


def _is_json(path: Path, start: bytes, keys: Keys) -> bool:
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def _is_wandb(path: Path, start: bytes, keys: Keys) -> bool:
    return start.startswith(b":W&B")


def _is_wandb_summary(path: Path, start: bytes, keys: Keys) -> bool:
    return keys is not None and "_wandb" in keys and ("_runtime" in keys or len(keys) == 1 or "_step" in keys)


def _is_mlflow(path: Path, start: bytes, keys: Keys) -> bool:
    from runherd.collect.mlflow_store import MAGIC, is_store

    return start.startswith(MAGIC) and is_store(path, start)


def _is_mlflow_files(path: Path, start: bytes, keys: Keys) -> bool:
    from runherd.collect.mlflow_files import is_meta

    return is_meta(start)


def _is_tensorboard(path: Path, start: bytes, keys: Keys) -> bool:
    from runherd.collect.tensorboard import HEAD, is_events

    return is_events(start) or (".tfevents." in path.name and len(start) < HEAD)


def _is_inspect_eval(path: Path, start: bytes, keys: Keys) -> bool:
    if not start.startswith(b"PK"):
        return False
    from runherd.collect.inspect_log import is_eval

    return is_eval(path)


def _is_inspect_json(path: Path, start: bytes, keys: Keys) -> bool:
    return keys is not None and {"version", "status", "eval"} <= keys.keys()


def _is_lm_eval(path: Path, start: bytes, keys: Keys) -> bool:
    if keys is None or not isinstance(keys.get("results"), dict):
        return b'"results"' in start[:200] and b'"alias"' in start and b",none" in start
    inner = [v for v in keys["results"].values() if isinstance(v, dict)]
    return any("," in key for values in inner for key in values)


def _is_trainer_state(path: Path, start: bytes, keys: Keys) -> bool:
    return keys is not None and "log_history" in keys and ("global_step" in keys or "max_steps" in keys)


def _is_opencompass(path: Path, start: bytes, keys: Keys) -> bool:
    from runherd.collect.opencompass import is_predictions, root_of

    return path.suffix == ".json" and (root_of(path) is not None or is_predictions(keys))


def _is_vlmevalkit(path: Path, start: bytes, keys: Keys) -> bool:
    from runherd.collect.vlmeval import is_predictions

    return is_predictions(path, start, keys)


def _is_lightning(path: Path, start: bytes, keys: Keys) -> bool:
    from runherd.collect.lightning import is_metrics

    return keys is None and is_metrics(start)


#: the particular before the general
TESTS: list[tuple[str, Test]] = [
    ("wandb", _is_wandb),
    ("tensorboard", _is_tensorboard),
    ("mlflow", _is_mlflow),
    ("mlflow_files", _is_mlflow_files),
    ("inspect_eval", _is_inspect_eval),
    ("inspect_json", _is_inspect_json),
    ("lm_eval", _is_lm_eval),
    ("trainer_state", _is_trainer_state),
    ("wandb_summary", _is_wandb_summary),
    ("opencompass", _is_opencompass),
    ("vlmevalkit", _is_vlmevalkit),
    ("lightning", _is_lightning),
    ("jsonl", _is_jsonl),
    ("per_item", _is_json),
]
OF_THE_LOG = ("stdout", "wandb_api")  #: formats that begin with the log, not with a result file
#: files that tools write beside their results and that hold none
NO_RESULTS = ("wandb-metadata.json", "config.json", "status.json", "package.json", "tokenizer.json")


def know(path: Path) -> str | None:
    """Return the name of the format that the content of `path` shows, or None."""
    with path.open("rb") as f:
        start = f.read(1 << 16)
    keys = first_keys(path) if _is_json(path, start, None) else None
    return next((name for name, test in TESTS if _passes(test, path, start, keys)), None)


def _passes(test: Test, path: Path, start: bytes, keys: Keys) -> bool:
    """A file that breaks a test is in another format, or in none."""
    try:
        return test(path, start, keys)
    except OSError:
        raise
    except Exception:
        return False


def read(name: str, path: Path, request: Request, sink: Sink) -> Reading:
    """Read a file in the format `name`. What a tool cannot have written is a reading with a reason, no exception.

    Raises `OSError`, and `UserError` for settings of the format that cannot be used.
    """
    try:
        return reader(name)(path, request, sink)
    except (OSError, UserError):
        raise
    except Exception as error:  # any part of a damaged file may be of any type, or refuse to unpack
        why = f"{path.name} is not well-formed {name}: {type(error).__name__}: {str(error)[:200]}"
        return Reading(files=[path], missing=why, findings=[Finding("malformed", "FAIL", why)])
