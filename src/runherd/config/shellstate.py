"""Where in a shell command a position lies: can one quoted word stand there safely?

A small reader of POSIX shell text that follows quotes, substitutions, comments
and here-documents. It knows enough to say "not safe" wherever a single-quoted
word would not stay one literal argument.
"""

from __future__ import annotations

import re

#: Contexts in which quotes are removed as usual, so a quoted word is one literal word.
_SAFE = ("command", "substitution", "group")
_BEFORE_WORD = ("", "\n", " ", "\t", ";", "&", "|", "(", ")", "{", "!")
_EXPANSIONS = (
    ("$((", "arithmetic"),
    ("$(", "substitution"),
    ("${", "parameter"),
    ("$[", "bracket"),
    ("`", "backtick"),
)
_SAID = {
    "double": "inside double quotes",
    "single": "inside single quotes",
    "ansi": "inside $'...'",
    "backtick": "inside backticks",
    "comment": "inside a comment",
    "heredoc": "inside a here-document",
    "arithmetic": "inside $((...))",
    "parameter": "inside ${...}",
    "bracket": "inside $[...]",
    "array": "inside an array",
    "test": "inside [[ ]]",
}
#: Commands that read their words as shell text or arithmetic once more.
_REREADS = re.compile(r"\s*(?:eval|let|trap|declare|typeset|local|readonly|unset|alias)\b")
_HEREDOC = re.compile(r"<<-?[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s;&|<>()'\"\\]+))")


class ShellReader:
    """Feed text piece by piece; `unsafe()` tells why a word must not be placed at the end of it."""

    def __init__(self) -> None:
        self.stack: list[str] = ["command"]
        self.pending: list[tuple[str, bool]] = []  # end marks of here-documents to come; quoted or not
        self.heredoc_line = ""
        self.joined = False  # a backslash joins the line of a here-document with the one before
        self.simple = [""]  # text of the current simple command, for each entry of the stack
        self.last = ""  # the piece of text right before the position

    def unsafe(self) -> str | None:
        """None when a quoted word is safe here, else where we are, in words."""
        if self.stack[-1] not in _SAFE:
            return _SAID[self.stack[-1]]
        if self.last in ("\\", "$"):
            return f"right after `{self.last}`"
        if self.last == "<<":
            return "as the end mark of a here-document"
        if _REREADS.match(self.simple[-1]):
            return f"in the words of `{self.simple[-1].split()[0]}`, which reads them as shell text again"
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
                self._leave()
                self._newline()
            return i + 1
        if top == "single":
            if ch == "'":
                self._pop()
            return i + 1
        if text.startswith("\\\n", i):
            return i + 2  # a joined line: as if it were not there
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

    def _push(self, context: str) -> None:
        self.stack.append(context)
        self.simple.append("")

    def _leave(self) -> None:
        self.stack.pop()
        self.simple.pop()

    def _pop(self) -> None:
        self._leave()
        self.last = "quoted"

    def _double(self, text: str, i: int) -> int:
        if text[i] == '"':
            self._pop()
            return i + 1
        return self._dollar(text, i)

    def _dollar(self, text: str, i: int) -> int:
        """Expansions, which also happen inside double quotes."""
        for mark, kind in _EXPANSIONS:  # longest first
            if text.startswith(mark, i):
                self._push(kind)
                self.last = ""
                return i + len(mark)
        self.last = text[i]
        return i + 1

    def _open(self, text: str, i: int) -> int:
        """Ordinary command text, and the insides of `${`, `$((`, `[[` and arrays."""
        top, ch = self.stack[-1], text[i]
        self.simple[-1] = "" if ch in ";&|(){}\n" and top in _SAFE else self.simple[-1] + ch
        if top == "bracket" and ch == "]":
            self._pop()
            return i + 1
        if top == "test" and text.startswith("]]", i):
            self._pop()
            return i + 2
        if top in _SAFE and text.startswith("((", i) and self.last != "=":
            self._push("arithmetic")
            return i + 2
        if top in _SAFE and text.startswith("[[", i) and self.last in _BEFORE_WORD:
            self._push("test")
            return i + 2
        if top == "arithmetic" and text.startswith("))", i):
            self._pop()
            return i + 2
        if top == "parameter" and ch == "}":
            self._pop()
            return i + 1
        if ch in "()" and top != "parameter":
            return self._paren(ch, i)
        if text.startswith("$'", i):
            self._push("ansi")
            return i + 2
        if ch in "'\"":
            self._push("single" if ch == "'" else "double")
            return i + 1
        if ch == "#" and top in _SAFE and self.last in _BEFORE_WORD:
            self._push("comment")
            return i + 1
        if ch == "\n":
            self._newline()
            return i + 1
        if text.startswith("<<<", i):
            self.last = "<<<"
            return i + 3
        if text.startswith("<<", i) and top in (*_SAFE, "test", "array"):
            return self._heredoc_mark(text, i)
        return self._dollar(text, i)

    def _paren(self, ch: str, i: int) -> int:
        top = self.stack[-1]
        if ch == "(":
            inner = "array" if self.last == "=" else "group"
            self._push(inner if top in _SAFE else top)
        elif top in ("group", "substitution", "array") or self.stack[-2:] == [top, top]:
            self._leave()
        self.last = ch
        return i + 1

    def _heredoc_mark(self, text: str, i: int) -> int:
        match = _HEREDOC.match(text, i)
        if not match:
            self.last = "<<"
            return i + 2
        quoted = match[3] is None or match[0].find("\\") >= 0
        self.pending.append((match[1] or match[2] or match[3] or "", quoted))
        self.last = "heredoc mark"
        return match.end()

    def _newline(self) -> None:
        self.last = "\n"
        self.simple[-1] = ""
        if self.pending:
            self._push("heredoc")
            self.heredoc_line = ""
            self.joined = False

    def _heredoc(self, text: str, i: int) -> int:
        end = text.find("\n", i)
        self.heredoc_line += text[i:] if end < 0 else text[i:end]
        if end < 0:
            return len(text)
        mark, quoted = self.pending[0]
        line = self.heredoc_line
        if line.lstrip("\t") == mark and not self.joined:
            self.pending.pop(0)
            if not self.pending:
                self._leave()
                self.last = "\n"
                self.simple[-1] = ""
        backslashes = len(line) - len(line.rstrip("\\"))
        self.joined = not quoted and backslashes % 2 == 1
        self.heredoc_line = ""
        return end + 1
