"""What a program tried in vain before it gave up, which its last exception does not say."""

from __future__ import annotations

import re
from collections import Counter

from runherd.diagnose import remains
from runherd.diagnose.catalogue import Signature
from runherd.diagnose.cause import Cause, of_signature
from runherd.diagnose.scene import Scene
from runherd.diagnose.tracebacks import Raised

#: Exceptions that by themselves say little.
VAGUE = frozenset({"RuntimeError", "Exception", "ValueError", "AssertionError", "SystemExit", "ZeroDivisionError"})
FROM_OUTSIDE = ("API_QUOTA", "PROXY_DOWN", "NETWORK", "ENVIRONMENT")
STORM = 2  #: complaints of one kind
TRIED_LINES = 30  #: before a program gave up
LAST_WORDS = 12  #: lines from the end, in which a program says that it gives up
#: An exception that tells of retries: what was tried in vain stands in it, or before it.
GAVE_UP = re.compile(
    r"(?i)\b(?:after|all|exceeded|exhausted|reached) (?:\S+ ){0,3}(?:attempts?|retries|tries)\b"
    r"|\b(?:retries|attempts) (?:exhausted|exceeded|failed)\b(?! with url)|\bgiv(?:e|ing|en) up\b|^RetryError\["
    r"|\ball (?:\S+ ){0,2}(?:requests|calls|items|samples|workers|endpoints)\b.{0,10}\bfailed|\btoo many (?:errors|failures|failed)"
    r"|\bmax(?:imum)? (?:number of )?(?:retries|attempts)\b(?! exceeded with url)"
    r"|\b\d+ (?:consecutive|successive) (?:\S+ )?(?:requests|calls|errors|failures)\b"
)


def tried(scene: Scene, raised: Raised) -> tuple[Signature, int] | None:
    """Return what the last lines before a program gave up say of what it tried, retried or not."""
    for i in range(raised.begin - 1, max(-1, raised.begin - 1 - TRIED_LINES), -1):
        text = scene.lines[i].text
        known = next((s for s in scene.catalogue.near(text) if s.matches(text, even_retried=True)), None)
        if known is None:
            named = remains.NAME.search(text)
            known = scene.catalogue.of_exception(f"{named[0]}: ") if named else None
        if known:
            return known, i
    return None


def gave_up(scene: Scene) -> Cause | None:
    """Return what was refused again and again right before a line that says that the program gives up."""
    if not scene.exit.by_itself:
        return None
    for i in range(len(scene.lines) - 1, max(-1, len(scene.lines) - 1 - LAST_WORDS), -1):
        if not GAVE_UP.search(scene.lines[i].text) or (i < scene.last_progress and not scene.exit.known):
            continue
        hits = [(at, s) for at, s in scene.hits if i - TRIED_LINES <= at <= i and s.cls in FROM_OUTSIDE]
        kinds = Counter(s.id for _, s in hits)
        often = [(at, s) for at, s in hits if kinds[s.id] >= 2]
        if often:
            return of_signature(often[-1][1], (often[-1][0], i), 0.6)
    return None


def storm(scene: Scene, raised: Raised) -> tuple[Signature, int] | None:
    """Return a cause from outside that was told again and again right before an exception that says little."""
    if raised.name not in VAGUE:
        return None
    before = range(max(scene.last_progress + 1, raised.begin - TRIED_LINES), raised.begin)
    hits = [(s, i) for i, s in scene.hits if i in before and s.cls in FROM_OUTSIDE]
    return hits[-1] if hits and sum(s is hits[-1][0] for s, _ in hits) >= STORM else None
