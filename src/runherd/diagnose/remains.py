"""Find exceptions of which a log holds no whole traceback.

The log begins in the middle of one, a program prints only the last line, a log
handler wraps it, a C++ library tells it by `what()`, or it is of another language.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from runherd.diagnose.lines import MILD, OF_A_TEST, Line
from runherd.diagnose.tracebacks import Frame, Raised, unlabelled

LOOK_BACK = 400  #: lines from the end
SOURCE_LINES = 4  #: between a frame and what was raised: its source and marks under it

_FRAME = re.compile(r'(?P<before>^|.*?\s)File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)')
_NOTEBOOK = re.compile(
    r"^(?:File )?(?P<file>[~/]?[\w.~<>/\\:-]+\.pyx?|<ipython-input-[\w-]+>|Cell In\[\d+\])(?::(?P<line>\d+))?,? in (?P<name>[\w.<>]+)"
)
_NOTEBOOK_LINE = re.compile(r"^-+> ?(?P<line>\d+) ")
#: Without a traceback only such a name is surely that of an exception.
_NAME = (
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exhausted|Timeout|Interrupt|Failure|Fault|Denied|Unavailable"
    r"|Expired|Throttled|Aborted|Exceeded|Refused|Invalid|Missing|Mismatch|Conflict)\b"
    r"|(?:[a-z_]\w*\.)+(?:error|timeout|gaierror|herror)\b|(?:\w+\.)*(?:errors?|exceptions?|exc|errorfactory)\.[A-Z]\w+"
)
NAME = re.compile(_NAME)
_ALONE = re.compile(rf"(?:^|[\s>\])(:|'])(?P<type>{_NAME})(?:['\"]>)? ?:\s?(?P<message>\S.*)")
_BARE = re.compile(rf"^(?P<type>{_NAME})(?:\(\)|:\s*(?P<message>.*))?$")
#: As Python shows an exception that somebody else reports: ``Trial 3 failed: KeyError('lr')``.
_SHOWN = re.compile(
    rf"(?i:error(?:ed)?|raised|failure|failed|fails?|exception|because of)\b[^()'\"]{{0,80}}[: ](?P<type>{_NAME})\((?P<message>.*)\)\W*$"
)
_WHAT = re.compile(r"^\s*what\(\):\s+(?P<message>.+)")
_THROWN = re.compile(r"terminate called after throwing an instance of '(?P<type>[^']+)'")
_JAVA = re.compile(r'^(?:Exception in thread "[^"]*" |Caused by: )(?P<type>[\w.$]+)(?:: (?P<message>.*))?$')
_GOES_ON = re.compile(
    r"(?i)\bretry|\bretries\b|\battempt \d|\bskip|\bignor|\bcontinu|\bfall(?:ing|s)? ?back|\bback(?:ing)? off"
    r"|\bsleeping\b|\bwaiting\b|\bcaught\b|\bhandled\b|\brecover"
)
_HINTS = ("Error", "Exception", "Timeout", "Exhausted", "Exit", "Fault", "what():", "Interrupt", "NotFound", ": ")


def find(lines: Sequence[Line], inside: Collection[int]) -> list[Raised]:
    """Return the exceptions near the end of `lines`; `inside` are the indices of whole tracebacks."""
    out: list[Raised] = []
    frames: list[Frame] = []
    seen = thrown = 0  # where the last frame, and the last C++ type, stood
    kind = ""
    for i in range(max(0, len(lines) - LOOK_BACK), len(lines)):
        text = lines[i].text
        if i in inside or not text.strip() or OF_A_TEST.match(text):
            continue
        frame = _frame(text)
        if frame:
            frames, seen = [*frames, frame], i
            continue
        marked = _NOTEBOOK_LINE.match(text) if frames else None
        if marked:
            frames[-1], seen = Frame(frames[-1].file, int(marked["line"]), frames[-1].name), i
        found = _THROWN.search(text)
        if found:
            kind, thrown = found["type"], i
        near = bool(frames) and i - seen <= SOURCE_LINES
        raised = _raised(text, i, kind if thrown and i - thrown <= SOURCE_LINES else "", frames if near else [])
        if raised:
            out.append(raised)
            frames = []
        elif not near and not text[0].isspace():
            frames = []
    return out


def _frame(text: str) -> Frame | None:
    if 'File "' in text:
        found = _FRAME.search(text)
        return Frame(found["file"], int(found["line"]), found["name"]) if found else None
    if " in " in text or text.startswith("Cell In["):
        found = _NOTEBOOK.match(text)
        return Frame(found["file"], int(found["line"] or 0), found["name"]) if found else None
    return None


def _raised(text: str, i: int, kind: str, frames: Sequence[Frame]) -> Raised | None:
    if not any(hint in text for hint in _HINTS):
        return None
    body = unlabelled(text.replace("ERROR: LoadError: ", "", 1)).strip()  # as Julia wraps what a file raised
    what = _WHAT.match(body) or _WHAT.match(text)
    if what:
        return Raised(i, i, kind or "std::exception", what["message"], alone=True)
    whole = _BARE.match(body) or _JAVA.match(body)
    if whole:
        return Raised(i, i, whole["type"], whole["message"] or "", tuple(frames), alone=not frames)
    if _GOES_ON.search(text) or MILD.search(text):
        return None
    shown = _SHOWN.search(text) if text.rstrip().endswith((")", ").")) else None
    found = shown or _ALONE.search(text)
    if found is None:
        return None
    return Raised(i, i, found["type"], found["message"].strip("'\""), tuple(frames), alone=not frames)
