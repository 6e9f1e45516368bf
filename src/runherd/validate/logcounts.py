"""What the log says about calls: rate limits, content policy, stale caches."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LINE_LIMIT = 1 << 16  # a longer line is read in parts

_CALL = re.compile(rb"HTTP/[12](?:\.\d)?\"? (\d{3})\b")
_LIMITED = re.compile(
    rb"(?i)(?:error|status|code|http|response)\W{0,3}(?:code\W{0,3})?429\b"
    rb"|\b429\W{1,3}(?:client error|too many)"
    rb"|too many requests|rate[ _]?limit(?:error| (?:reached|exceeded|hit))"
)
_POLICY = re.compile(
    rb"(?i)content[ _]?(?:policy|filter)\w*\W{0,3}(?:violation|error|triggered|blocked)"
    rb"|content_filter|contentpolicy|responsible ?ai ?policy"
)
_STALE = re.compile(rb"(?i)cache\W{1,3}(?:is |entry |entries )?(?:stale|outdated)|stale[ _-]cache")
_NONE_OF_IT = re.compile(
    rb"(?i)\b(?:0|no|zero) [\w ]{0,20}(?:429|rate[ _]?limit|too many|stale|content)|=0\b|: 0\b"
)


@dataclass
class LogCounts:
    """Lines of a log by kind; `calls` are lines that show an HTTP status."""

    lines: int = 0
    calls: int = 0
    rate_limited: int = 0
    content_policy: int = 0
    stale_cache: int = 0
    source: str = "in the log"  #: where the calls were seen, for sentences


def count_logs(logs: Iterable[Path]) -> LogCounts:
    """Count over all `logs` (missing ones count nothing); reads them as streams."""
    counts = LogCounts()
    for path in logs:
        try:
            with path.open("rb") as f:
                while line := f.readline(LINE_LIMIT):
                    count_line(line, counts)
        except OSError:
            continue
    return counts


def count_line(line: bytes, counts: LogCounts) -> None:
    """Add one line to `counts`."""
    counts.lines += 1
    call = _CALL.search(line) if b"HTTP/" in line else None
    if call:
        counts.calls += 1
    if (call and call[1] == b"429") or (_LIMITED.search(line) and not _NONE_OF_IT.search(line)):
        counts.rate_limited += 1
    low = line.lower()
    if b"content" in low and _POLICY.search(line) and not _NONE_OF_IT.search(line):
        counts.content_policy += 1
    if b"stale" in low or b"outdated" in low:
        counts.stale_cache += bool(_STALE.search(line)) and not _NONE_OF_IT.search(line)
