"""Write `signatures.json` from `signatures.yaml`: ``python -m runherd.diagnose.compile``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from runherd.diagnose.catalogue import CLASSES, COMPILED, RESTARTS, SCOPES, SOURCE
from runherd.errors import Problem, UserError, fail
from runherd.files import write_atomic

KEYS = {
    "id",
    "class",
    "cause",
    "words",
    "match",
    "unless",
    "fatal",
    "order",
    "restart",
    "remedy",
    "scope",
    "shows",
    "shows_not",
}
_EXAMPLES = ("shows", "shows_not")


def read_source(path: Path = SOURCE) -> list[dict[str, Any]]:
    """Read a catalogue in YAML, examples included; raises `UserError` with all of its problems."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        rows = yaml.load(path.read_bytes(), Loader=loader)
    except OSError as error:
        raise fail("the signatures cannot be read", where=str(path), value=error.strerror) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise fail("the signatures are no YAML", where=str(path), value=said[:200]) from error
    if not isinstance(rows, list):
        raise fail("signatures are a list", where=str(path), value=str(rows)[:80], allowed="- {id: …, class: …, cause: …, match: […]}")
    problems = [p for row in rows for p in _problems(row, path)]
    if problems:
        raise UserError(problems)
    for row in rows:
        row["restart"] = {True: "yes", False: "no"}.get(row.get("restart", "no"), row.get("restart", "no"))
    return list(rows)


def _problems(row: Any, path: Path) -> list[Problem]:
    if not isinstance(row, dict) or not {"id", "class", "cause", "match"} <= row.keys():
        return [Problem("a signature needs id, class, cause and match", str(path), str(row)[:80])]
    where, found = f"{path}: {row['id']}", []
    for key in sorted(row.keys() - KEYS):
        found.append(Problem("unknown key", where, key, ", ".join(sorted(KEYS))))
    if row["class"] not in CLASSES:
        found.append(Problem("unknown class", where, str(row["class"]), ", ".join(CLASSES)))
    if row.get("restart", "no") not in (*RESTARTS, True, False):
        found.append(Problem("unknown answer for restart", where, str(row["restart"]), ", ".join(RESTARTS)))
    if row.get("scope", "line") not in SCOPES:
        found.append(Problem("unknown scope", where, str(row["scope"]), ", ".join(SCOPES)))
    for key in ("words", "match", "unless"):
        if not isinstance(row.get(key) or [], list):
            found.append(Problem(f"{key} is a list", where, str(row[key])[:80], f"{key}: [{str(row[key])[:40]!r}]"))
            row[key] = []
    for pattern in (*row["match"], *(row.get("unless") or ())):
        try:
            re.compile(str(pattern))
        except re.error as error:
            found.append(Problem(f"not a regular expression: {error}", where, str(pattern)))
    return found


def compiled(rows: list[dict[str, Any]]) -> str:
    """Return the text of `signatures.json`: the rows without their examples."""
    plain = [{k: v for k, v in row.items() if k not in _EXAMPLES} for row in rows]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    write_atomic(COMPILED, compiled(read_source()))
