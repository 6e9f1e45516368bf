"""Write `signatures.json` from `signatures.yaml`: ``python -m runherd.diagnose.compile``."""

from __future__ import annotations

import json
from typing import Any

from runherd.diagnose.catalogue import COMPILED
from runherd.diagnose.source import read_source
from runherd.files import write_atomic

_EXAMPLES = ("shows", "shows_not")


def compiled(rows: list[dict[str, Any]]) -> str:
    """Return the text of `signatures.json`: the rows without their examples."""
    plain = [{k: v for k, v in row.items() if k not in _EXAMPLES} for row in rows]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    write_atomic(COMPILED, compiled(read_source()))
