"""Where in a shell command a position lies: can one quoted word stand there safely?

A small reader of POSIX shell text that follows quotes, substitutions, comments
and here-documents. It knows enough to say "not safe" wherever a single-quoted
word would not stay one literal argument.
"""

from __future__ import annotations

import re

#: Contexts in which quotes are removed as usual, so a quoted word is one literal word.
_SAFE = ("command", "substitution", "group")
_EXPANSIONS = (("$((", "arithmetic"), ("$(", "substitution"), ("${", "parameter"), ("`", "backtick"))
_SAID = {
    "double": "inside double quotes",
    "single": "inside single quotes",
    "ansi": "inside $'...'",
    "backtick": "inside backticks",
    "comment": "inside a comment",
    "heredoc": "inside a here-document",
    "arithmetic": "inside $((...))",
    "parameter": "inside ${...}",
}
_HEREDOC = re.compile(r"<<-?[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s;&|<>()'\"\\]+))")


class ShellReader:
    """Feed text piece by piece; `unsafe()` tells why a word must not be placed at the end of it."""

    def __init__(self) -> None:
        self.stack: list[str] = ["command"]
        self.pending: list[str] = []  # terminators of here-documents that start on the next line
        self.heredoc_line = ""
        self.last = ""  # the piece of text right before the position

    def unsafe(self) -> str | None:
        """None when a quoted word is safe here, else where we are, in words."""
        if self.stack[-1] not in _SAFE:
            return _SAID[self.stack[-1]]
        if self.last in ("\\", "$"):
            return f"right after `{self.last}`"
        if self.last == "<<":
            return "as the end mark of a here-document"
        return None

    def word(self) -> None:
        """Note that a quoted word was placed at the position."""
        self.last = "word"

    def feed(self, text: str) -> None:
        i = 0
        while i < len(text):
            i = self._step(text, i)

    def _step(self, text: str, i: int) -> int:
        top, ch = self.stack[-1], text[i]
        if top == "heredoc":
            return self._heredoc(text, i)
        if top == "comment":
            if ch == "\n":
                self.stack.pop()
                self._newline()
            return i + 1
        if top == "single":
            if ch == "'":
                self._pop()
            return i + 1
        if ch == "\\":
            escaped = i + 1 < len(text)
            self.last = "escaped" if escaped else "\\"
            return i + 2
        if top in ("ansi", "backtick"):
            if ch == ("'" if top == "ansi" else "`"):
                self._pop()
            return i + 1
        if top == "double":
            return self._double(text, i)
        return self._open(text, i)

    def _pop(self) -> None:
        self.stack.pop()
        self.last = "quoted"

    def _double(self, text: str, i: int) -> int:
        if text[i] == '"':
            self._pop()
            return i + 1
        return self._dollar(text, i)

    def _dollar(self, text: str, i: int) -> int:
        """Expansions, which also happen inside double quotes."""
        for mark, kind in _EXPANSIONS:
            if text.startswith(mark, i):
                self.stack.append(kind)
                self.last = ""
                return i + len(mark)
        self.last = text[i]
        return i + 1

    def _open(self, text: str, i: int) -> int:
        """Ordinary command text, and the insides of `${` and `$((`."""
        top, ch = self.stack[-1], text[i]
        if top == "arithmetic" and text.startswith("))", i):
            self._pop()
            return i + 2
        if top == "parameter" and ch == "}":
            self._pop()
            return i + 1
        if ch in "()" and top != "parameter":
            return self._paren(ch, i)
        if text.startswith("$'", i):
            self.stack.append("ansi")
            return i + 2
        if ch in "'\"":
            self.stack.append("single" if ch == "'" else "double")
            return i + 1
        if ch == "#" and top in _SAFE and self.last in ("", "\n", " ", "\t", ";", "&", "|", "("):
            self.stack.append("comment")
            return i + 1
        if ch == "\n":
            self._newline()
            return i + 1
        if text.startswith("<<<", i):
            self.last = "<<<"
            return i + 3
        if text.startswith("<<", i) and top in _SAFE:
            return self._heredoc_mark(text, i)
        return self._dollar(text, i)

    def _paren(self, ch: str, i: int) -> int:
        if ch == "(":
            self.stack.append("group" if self.stack[-1] in _SAFE else self.stack[-1])
        elif self.stack[-1] in ("group", "substitution") or self.stack.count("arithmetic") > 1:
            self.stack.pop()
        self.last = ch
        return i + 1

    def _heredoc_mark(self, text: str, i: int) -> int:
        match = _HEREDOC.match(text, i)
        if not match:
            self.last = "<<"
            return i + 2
        self.pending.append(match[1] or match[2] or match[3] or "")
        self.last = "heredoc mark"
        return match.end()

    def _newline(self) -> None:
        self.last = "\n"
        if self.pending:
            self.stack.append("heredoc")
            self.heredoc_line = ""

    def _heredoc(self, text: str, i: int) -> int:
        end = text.find("\n", i)
        self.heredoc_line += text[i:] if end < 0 else text[i:end]
        if end < 0:
            if self.heredoc_line.strip("\t") == self.pending[0] and len(text) == i + len(self.heredoc_line):
                pass  # the mark may still go on in the next piece
            return len(text)
        if self.heredoc_line.strip("\t") == self.pending[0]:
            self.pending.pop(0)
            if not self.pending:
                self.stack.pop()
                self.last = "\n"
        self.heredoc_line = ""
        return end + 1
