"""The catalogue of causes: what a line of a log tells, and what can be done.

`signatures.yaml` is the source; `signatures.json` holds the same, for a quick
start without a YAML parser, and is written by ``python -m
runherd.diagnose.compile``. A test keeps the two in step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from runherd.diagnose import backtracking

SOURCE = Path(__file__).with_name("signatures.yaml")
COMPILED = Path(__file__).with_name("signatures.json")

CLASSES = (
    *("OOM", "CODE_BUG", "API_QUOTA", "PROXY_DOWN", "DIVERGED", "CACHE_COLD"),
    *("ENVIRONMENT", "NETWORK", "DISTRIBUTED", "HARDWARE", "DEAD", "STOPPED"),
    "UNKNOWN",  # a launcher's word that something failed, where nothing says what
)
SCOPES = ("line", "exception")  #: what a signature is held against
OWN_CHARS = 4000  #: of a text, that a pattern of a user's own sees
FAMILY_CHARS = 1000  #: of an exception's words; what follows is the answer of a server, or data
_NO_DIGITS = {ord(c): None for c in "0123456789"}
RESTARTS = ("yes", "no", "maybe")  #: whether the same again can go well without a person


@dataclass(frozen=True)
class Signature:
    """One cause.

    `words` are lower-case texts of which a matching line holds at least one;
    without any every line is looked at.
    `fatal` means that such a line is written only by a process that ends.
    `order` ranks causes that stand together: 0 a root cause, 1 what it leads
    to, 2 what a launcher says of the end. A `scope` of "exception" makes it a
    family: it is held against the type and message of an exception that ended a
    program and that no other signature knows. `own` means that a user wrote it:
    its patterns see so much of a text only, and one that is too slow is not
    searched again; `faults` says so.
    """

    id: str
    cls: str
    cause: str
    words: tuple[str, ...]
    match: tuple[str, ...]
    unless: tuple[str, ...]
    fatal: bool
    order: int
    restart: str
    remedy: str
    scope: str = "line"
    own: bool = False
    faults: list[str] = field(default_factory=list, compare=False, repr=False)

    @cached_property
    def _patterns(self) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
        return [re.compile(p) for p in self.match], [re.compile(p) for p in self.unless]

    def matches(self, text: str, *, even_retried: bool = False) -> bool:
        """Tell whether one clean line shows this cause; `even_retried`: exceptions to it do not count."""
        match, unless = self._patterns
        if self.own:
            return self._matches_in_time(text[:OWN_CHARS], even_retried)
        shown = any(p.search(text) for p in match)
        return shown and (even_retried or not any(p.search(text) for p in unless))

    def _matches_in_time(self, text: str, even_retried: bool) -> bool:
        """The same for a user's own: one that is too slow shows nothing from then on."""
        match, unless = self._patterns
        if self.faults:
            return False
        try:
            shown = any(backtracking.search(p, text) for p in match)
            return shown and (even_retried or not any(backtracking.search(p, text) for p in unless))
        except backtracking.TooSlowError:
            self.faults.append(
                f"signature {self.id}: a pattern took more than {backtracking.CPU_S:g} s for one line and is not used"
            )
            return False

    def may_be_in(self, low: str) -> bool:
        """Whether a line, in lower case, holds one of the words."""
        return not self.words or any(word in low for word in self.words)


@dataclass(frozen=True)
class Catalogue:
    """Causes in the order in which they are looked at; of one id the first counts.

    `unread` says which files of a user's own could not be used, and why.
    """

    signatures: tuple[Signature, ...]
    unread: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with a user's own causes, as far as it is known by now; a sentence each."""
        return (*self.unread, *(fault for s in self.signatures for fault in s.faults))

    @cached_property
    def by_word(self) -> dict[str, list[Signature]]:
        out: dict[str, list[Signature]] = {}
        for signature in self.signatures:
            for word in signature.words if signature.scope == "line" and signature not in self.every_line else ():
                out.setdefault(word, []).append(signature)
        return out

    @cached_property
    def every_line(self) -> tuple[Signature, ...]:
        """Causes of a user's own that no search for words finds: without words, or with some that bytes do not show as they are."""
        return tuple(
            s for s in self.signatures
            if s.own and s.scope == "line" and not (s.words and all(w.isascii() and not w.isdigit() for w in s.words))
        )  # fmt: skip

    @cached_property
    def by_id(self) -> dict[str, Signature]:
        return {s.id: s for s in reversed(self.signatures)}

    @cached_property
    def families(self) -> tuple[Signature, ...]:
        return tuple(s for s in self.signatures if s.scope == "exception")

    def of_exception(self, text: str) -> Signature | None:
        """Return the first family that knows an exception, given as "Type: message"."""
        return next((s for s in self.families if s.matches(text[:FAMILY_CHARS])), None)

    def of_line(self, text: str) -> Iterator[Signature]:
        """Yield the causes that a line shows, root causes first."""
        low = text.lower()
        yield from self.of_words((word for word in self.by_word if word in low), text)

    def near(self, text: str) -> Iterator[Signature]:
        """Yield the causes of which a line holds a word, in the order of the catalogue's words; the patterns are not tried."""
        low = text.lower()
        yield from (s for s in self.every_line if s.may_be_in(low))
        yield from (s for word, found in self.by_word.items() if word in low for s in found)

    def finder(self) -> Callable[[str], Iterator[Signature]]:
        """Return `of_line` for many lines: those that differ only in digits are searched for words once."""
        numbered = [w for w in self.by_word if any(c.isdigit() for c in w)]
        bare = [w for w in self.by_word if w not in numbered]
        seen: dict[str, list[str]] = {}

        def find(text: str) -> Iterator[Signature]:
            low = text.lower()
            shape = low.translate(_NO_DIGITS)
            words = seen.get(shape)
            if words is None:
                words = seen[shape] = [w for w in bare if w in shape]
            also = [w for w in numbered if w in low] if len(shape) < len(low) else []
            return self.of_words((*words, *also), text) if words or also or self.every_line else iter(())

        return find

    def of_words(self, words: Iterable[str], text: str) -> Iterator[Signature]:
        """The same, where it is known which words the line holds."""
        near = {s.id: s for word in words for s in self.by_word[word]}
        if self.every_line:
            low = text.lower()
            near.update((s.id, s) for s in self.every_line if s.may_be_in(low))
        for signature in sorted(near.values(), key=lambda s: (s.order, not s.own)):
            if signature.matches(text):
                yield signature


def from_json(rows: Sequence[Mapping[str, Any]], *, own: bool = False) -> tuple[Signature, ...]:
    """Build signatures from plain rows (missing keys take their defaults); `own`: a user wrote them."""
    return tuple(
        Signature(
            id=str(row["id"]),
            cls=str(row["class"]),
            cause=str(row["cause"]),
            words=tuple(str(w).lower() for w in row.get("words") or () if str(w)),
            match=tuple(map(str, row["match"])),
            unless=tuple(map(str, row.get("unless") or ())),
            fatal=bool(row.get("fatal", False)),
            order=int(row.get("order", 0)),
            restart=str(row.get("restart", "no")),
            remedy=str(row.get("remedy", "")),
            scope=str(row.get("scope", "line")),
            own=own,
        )
        for row in rows
    )


@cache
def load() -> Catalogue:
    """Return the catalogue that ships."""
    return Catalogue(from_json(json.loads(COMPILED.read_bytes())))
