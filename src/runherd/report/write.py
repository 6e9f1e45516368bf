"""Render a page and write its files, leaving a file alone whose content is the same."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runherd import __version__, words
from runherd.files import Layout, write_atomic
from runherd.report.markdown import code_span, escape

if TYPE_CHECKING:
    from runherd.report.page import Page

_TEMPLATES = Path(__file__).parent / "templates"
_FILES = {"index.html": "index.html.j2", "report.md": "report.md.j2"}
_STAMP = re.compile(r"<!-- runherd report, written (.{1,60}?) -->")


def write(layout: Layout, page: Page) -> list[Path]:
    """Write what changed; returns those files. A later time of writing alone is no change."""
    changed = []
    for name, template in _FILES.items():
        path = layout.report_dir() / name
        before = _read(path)
        stamp = _STAMP.search(before[:2000])
        if stamp and render(template, page, now=stamp[1]) == before:
            continue
        write_atomic(path, render(template, page, now=page.now))
        changed.append(path)
    return changed


def render(template: str, page: Page, *, now: str) -> str:
    """Render one template; everything from the page is escaped for its format."""
    html = ".html" in template
    style = (_TEMPLATES / "style.css").read_text(encoding="utf-8") if html else ""
    shown: str = (
        _environment(html=html)
        .get_template(template)
        .render(page=page, now=now, style=style, version=__version__)
    )
    return shown


@cache
def _environment(*, html: bool) -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=html,
        finalize=None if html else _for_markdown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["counted"] = words.counted
    environment.filters["form"] = words.form
    environment.filters["code"] = _code
    environment.filters["ticks"] = _ticks
    return environment


class _Ready(str):
    """Text that is Markdown already."""


def _for_markdown(value: Any) -> Any:
    return escape(value) if isinstance(value, str) and not isinstance(value, _Ready) else value


def _code(value: str) -> str:
    """A code span that holds `value`, whatever backticks it has."""
    return _Ready(code_span(value))


def _ticks(value: str) -> Any:
    """HTML of a sentence whose `quoted` parts are code; all of it is escaped."""
    from markupsafe import Markup, escape

    pieces = value.split("`")
    if len(pieces) % 2 == 0:
        return escape(value)
    shown = (Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(pieces))
    return Markup("").join(shown)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
