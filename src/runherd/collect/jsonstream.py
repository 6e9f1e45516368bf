"""Read a JSON document of any size without holding its long lists.

The document is read through a window that grows only to the size of its
largest single value. NaN and infinity, which are not JSON but which many
programs write, become None and are counted.
"""

from __future__ import annotations

import codecs
import io
import json
import math
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import IO, Any

CHUNK = 1 << 16
REPLACED = "\ufffd".encode()  #: the sign for what could not be read, where a writer had put it there itself
_TOKEN_EDGE = 16  # an error this near to the end of the window may be a cut token


def _refuse(token: str) -> None:
    raise ValueError(f"{token} is not JSON")


_strict = json.JSONDecoder(parse_constant=_refuse).decode


def strict_loads(text: str | bytes) -> Any:
    """Read one document as orjson does: NaN and infinity are refused (`ValueError`)."""
    return _strict(text if isinstance(text, str) else text.decode("utf-8"))


try:  # several times quicker where it is installed
    import orjson

    loads: Any = orjson.loads
except ImportError:  # pragma: no cover
    loads = strict_loads


class NotWhole(Exception):
    """The document ends too early, or is not JSON; the message says where."""


class NanCounter:
    """Decoder callback for NaN and infinity: counts them and yields None."""

    def __init__(self) -> None:
        self.count = 0
        self.not_utf8 = 0  #: places of the text that are not UTF-8

    def __call__(self, token: str) -> None:
        self.count += 1


class _Window:
    def __init__(self, stream: IO[bytes], nans: NanCounter) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._nans, self._tail = nans, b""
        self._scan = json.JSONDecoder(parse_constant=nans).raw_decode
        self._text = ""
        self._pos = 0
        self._passed = 0
        self._end = False
        self._singly_until = 0  # after a failure, elements are taken one at a time up to here

    def _more(self) -> bool:
        if self._end:
            return False
        rest = self._text[self._pos :]
        chunk = self._stream.read(max(CHUNK, len(rest)))
        self._end = not chunk
        self._passed += self._pos
        text = self._decoder.decode(chunk, final=self._end)
        self._nans.not_utf8 += text.count("\ufffd") - (self._tail + chunk).count(REPLACED)
        self._tail = (self._tail + chunk)[-2:]
        self._text, self._pos = rest + text, 0
        return True

    def peek(self) -> str:
        """Return the next character that is not white space, "" at the end."""
        while True:
            while self._pos < len(self._text):
                ch = self._text[self._pos]
                if ch not in " \t\r\n":
                    return ch
                self._pos += 1
            if not self._more():
                return ""

    def expect(self, wanted: str) -> str:
        """Consume one of the characters of `wanted`; raise NotWhole for anything else."""
        ch = self.peek()
        if not ch:
            raise NotWhole(f"the file ends at character {self._passed + self._pos}, before {wanted[-1]!r}")
        if ch not in wanted:
            raise NotWhole(f"unexpected {ch!r} at character {self._passed + self._pos}")
        self._pos += 1
        return ch

    def value(self) -> Any:
        """Consume one whole JSON value."""
        self.peek()
        while True:
            try:
                value, end = self._scan(self._text, self._pos)
            except json.JSONDecodeError as error:
                if self._broken(error) or not self._more():
                    place = self._passed + error.pos
                    raise NotWhole(f"{error.msg.removesuffix(' at')} at character {place}") from None
                continue
            except RecursionError:
                raise NotWhole("nested too deeply") from None
            except ValueError as error:  # a number of more digits than Python reads
                raise NotWhole(f"{str(error).partition(';')[0]} at character {self._passed + self._pos}") from None
            if end == len(self._text) and self._more():
                continue  # a number may go on behind the window
            self._pos = end
            return value

    def many(self) -> list[Any]:
        """Consume the whole elements that lie in the window, with the commas between them, at once.

        Text that parses as a list up to some brace can only be whole elements.
        Returns [] where that does not succeed; `value` then takes them singly.
        """
        if self._passed + self._pos < self._singly_until:
            return []
        end = self._text.rfind("},", self._pos)
        if end > self._pos:
            try:
                rows = loads("[" + self._text[self._pos : end + 1] + "]")
            except (ValueError, RecursionError):
                rows = None
            if rows:
                self._pos = end + 1
                return list(rows)
        self._singly_until = self._passed + len(self._text)
        return []

    def _broken(self, error: json.JSONDecodeError) -> bool:
        """Tell a syntax error from a value that only reaches over the window."""
        if error.msg.startswith(("Unterminated string", "Invalid \\", "Invalid control")):
            return error.msg.startswith("Invalid control") and error.pos < len(self._text) - _TOKEN_EDGE
        return error.pos < len(self._text) - _TOKEN_EDGE


def stream(
    source: IO[bytes],
    on_item: Callable[[str, Any], None],
    *,
    lists: Collection[str],
    nans: NanCounter | None = None,
    on_batch: Callable[[str, list[Any]], None] | None = None,
) -> dict[str, Any]:
    """Read one document; return its top-level keys.

    Elements of top-level lists named in `lists` go to ``on_item(key, element)``
    and are not kept: their key holds the number of elements. A document that is
    itself a list has the key "". With `on_batch` many elements come at once where
    that is quicker (elements with NaN always come singly). Raises `NotWhole` when it is cut or not JSON.
    """
    window = _Window(source, nans or NanCounter())
    first = window.peek()
    head: dict[str, Any] = {}
    if first == "[":
        head[""] = _elements(window, "", on_item, on_batch)
    elif first == "{":
        window.expect("{")
        for key in _keys(window):
            if key in lists and key in head:
                raise NotWhole(f"the key {key!r} comes twice")
            if key in lists and window.peek() == "[":
                head[key] = _elements(window, key, on_item, on_batch)
            else:
                head[key] = window.value()
    else:
        raise NotWhole("the file is empty" if not first else f"begins with {first!r}, not with an object")
    if window.peek():
        raise NotWhole("more text follows the end of the document")
    return head


def _keys(window: _Window) -> Iterator[str]:
    if window.peek() == "}":
        window.expect("}")
        return
    while True:
        if window.peek() != '"':
            window.expect('"')
        key = window.value()
        window.expect(":")
        yield str(key)
        if window.expect(",}") == "}":
            return


def _elements(
    window: _Window,
    key: str,
    on_item: Callable[[str, Any], None],
    on_batch: Callable[[str, list[Any]], None] | None,
) -> int:
    window.expect("[")
    if window.peek() == "]":
        window.expect("]")
        return 0
    count = 0
    while True:
        window.peek()
        rows = window.many() if on_batch else []
        if rows and on_batch:
            on_batch(key, rows)
            count += len(rows)
        else:
            on_item(key, window.value())
            count += 1
        if window.expect(",]") == "]":
            return count


def first_keys(path: Path, limit: int = 1 << 18) -> dict[str, Any] | None:
    """Return the top-level keys that lie whole in the first `limit` bytes, to know a format by.

    Long lists show as their first element alone. None when it is not JSON at all.
    """
    with path.open("rb") as f:
        raw = f.read(limit)
    head: dict[str, Any] = {}
    window = _Window(io.BytesIO(raw), NanCounter())
    try:
        if window.peek() == "[":
            window.expect("[")
            return {"": [window.value()]}
        window.expect("{")
        for key in _keys(window):
            if window.peek() == "[":
                window.expect("[")
                if window.peek() == "]":
                    window.expect("]")
                    head[key] = []
                    continue
                head[key] = []
                head[key] = [window.value()]
                _skip_rest(window)
            else:
                head[key] = None
                head[key] = window.value()
    except NotWhole:
        pass
    return head or None


def _skip_rest(window: _Window) -> None:
    while window.expect(",]") == ",":
        window.value()


def finite(value: Any) -> float | int | None:
    """Return `value` if it is a finite number (a bool counts as 0 or 1), else None."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None
