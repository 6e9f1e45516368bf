"""What a collector gets and gives: the request, the sink for items and points, the reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from runherd.collect.findings import Finding
from runherd.words import counted, form

Number = float | int | None


class Sink(Protocol):
    """Receives what a collector reads, one at a time, so that nothing long is held."""

    def item(self, item: dict[str, Any]) -> None: ...

    def batch(self, items: list[Any]) -> bool:
        """Take many raw items at once if they are all in the common form; False: none was taken."""
        ...

    def point(self, row: dict[str, Any]) -> None: ...


@dataclass(frozen=True)
class Request:
    """What is asked of a collector."""

    settings: Mapping[str, Any]  #: the `collect:` section of the configuration
    not_before: float  #: epoch seconds; a result older than this is not ours
    log: Path | None = None
    place: Path | None = None  #: what was asked for: the run's own result file, or a folder that is searched
    work_dir: Path | None = None  #: the folder for the program's own output
    run_began: float | None = None  #: epoch seconds; parts of a result may be as old as this (default: `not_before`)
    exact: bool = False  #: a person named the place: nothing beside it is taken instead
    env: Mapping[str, Any] = field(default_factory=dict)  #: what the run itself sets (`execution.env`), as written

    @property
    def parts_since(self) -> float:
        """Since when a file beside the result may be part of it: an earlier attempt of a resumed run wrote it."""
        return self.not_before if self.run_began is None else min(self.run_began, self.not_before)

    def option(self, name: str) -> Any:
        """Return `collect.options.<name>`, or None."""
        return (self.settings.get("options") or {}).get(name)


@dataclass
class Reading:
    """What a collector found, beside the items and points that went to the sink."""

    metrics: dict[str, Number] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    missing: str | None = None  #: why this is not a whole result; None when it is
    expected: int | None = None  #: what the tool itself meant to do
    item_list: bool = False  #: there is a list for items, which may be empty
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    checkpoint: str | None = None
    wandb_url: str | None = None
    model: str | None = None
    task: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)  #: stderr, usage and the like, as reported
    written_at: float | None = None  #: epoch seconds; when it was written, as the content itself says
    end_mark: bool = True  #: whether the form shows by itself that nothing is missing at its end


Reader = Callable[[Path, Request, Sink], Reading]


def not_utf8(count: int) -> Finding:
    """The finding for bytes that are text in another encoding."""
    text = f"{counted(count, 'place')} {form(count, 'is', 'are')} not UTF-8 and cannot be read: is the file in another encoding?"
    return Finding("not_utf8", "WARN", text, {"count": count})


def not_finite(count: int) -> Finding:
    """The finding for NaN and infinity tokens that became null."""
    text = f"{counted(count, 'value')} {form(count, 'is', 'are')} NaN or infinite and recorded as null"
    return Finding("not_finite", "WARN", text, {"count": count})
