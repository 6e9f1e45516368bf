"""Find Python tracebacks in a log, and in each the frame of the user's own code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from runherd.diagnose.lines import Line

HEADER = "Traceback (most recent call last)"
MESSAGE_LINES = 6  # of a message that spans lines
LINK_LINES = 6  # from an exception to the header of the one that it led to
FOREIGN_LINES = 40  # of other processes between the lines of a traceback, where nothing tells them apart

#: What launchers and log handlers put before each line of a program.
_LABEL = re.compile(
    r"(?:\[(?:rank|default|worker|node)?[ _-]?\d+\]:? ?"
    r"|\((?:[\w.:<>=+-]+ )*pid=\d+(?:, ip=[\d.]+)?\) ?"
    r"|\[\d+,\d+\]<std(?:err|out)>: ?"
    r"|\d+: "
    r"|[\w.-]+\s*\| ?)+"
)

_FRAME = re.compile(r'\s*File "(?P<file>.+?)", line (?P<line>\d+)(?:, in (?P<name>.+))?')
_RAISED = re.compile(
    r"(?P<type>(?:(?:[A-Za-z_]\w*|<locals>)\.)*(?:[A-Z_]\w*|error|timeout|gaierror|herror))(?::\s?(?P<message>.*))?$"
)
#: A type that nothing but an exception has, for places where other lines may stand too.
SURE = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exhausted|Timeout|Interrupt|Exit|Failure|Fault|Denied"
    r"|Unavailable|Limited|NotFound|Expired|Throttled|Aborted|Cancelled|Exceeded|Refused|Iteration)\b"
    r"|(?:[a-z_]\w*\.)+[A-Z]\w*[a-z]\w*\b|(?:[a-z_]\w*\.)+(?:error|timeout|gaierror|herror)\b"
)
#: Ray names the inner exception in brackets, and that one's frames and words follow.
_WRAPPED = re.compile(
    r"(?P<type>[A-Za-z_][\w.]*)\((?P<inner>[A-Za-z_][\w.]*)\): (?P<message>.*)$|ray\.exceptions\.\w+: .*\bray::"
)
_BARE = re.compile(r"(?:\w+\.)*(?:Syntax|Indentation|Tab)Error: ")
_RICH_FRAME = re.compile(r"^(?P<file>[^\s:][^:]*\.pyx?):(?P<line>\d+) in (?P<name>\S+)")
_STAMPED = re.compile(r"(?P<stamp>[^\s|+].*?)\s{2,}File \"")
STAMP_LINES = 12  # lines of other ranks may stand between
_IGNORED = ("Exception ignored in", "--- Logging error ---")  #: Python's own words that it goes on
_THREAD = "Exception in thread"
#: Services that record a run in a thread of their own: the run goes on without them.
_TRACKER = re.compile(
    r"[/\\](?:wandb|mlflow|comet_ml|neptune|clearml|tensorboardX?|aim|sentry_sdk|opentelemetry|posthog)[/\\]"
)
_CLEANER = re.compile(r"[/\\]multiprocessing[/\\](?:semaphore_tracker|resource_tracker)\.py$")
_LINKS = ("During handling of the above exception", "The above exception was the direct cause")

_LIBRARY = re.compile(
    r"[/\\](?:site-packages|dist-packages)[/\\]|[/\\]lib(?:64)?[/\\]python\d|^<frozen|^<string>$|^<__array"
    r"|[/\\](?:mini|ana)conda\d?[/\\](?:lib|pkgs)|[/\\]envs[/\\][^/\\]+[/\\][Ll]ib[/\\]|[/\\]Python\d+[/\\][Ll]ib[/\\]|^/usr/lib"
)
_LAUNCHER = re.compile(r"[/\\](?:torchrun|accelerate|deepspeed|runpy\.py|launch\.py)$")


@dataclass(frozen=True)
class Frame:
    file: str
    line: int
    name: str

    @property
    def is_user(self) -> bool:
        """Whether this is the user's own code: not installed, not the standard library."""
        return not (_LIBRARY.search(self.file) or _LAUNCHER.search(self.file))


@dataclass(frozen=True)
class Raised:
    """One traceback: where it stands in the log (indices into the lines), and what was raised."""

    begin: int
    end: int
    type: str
    message: str
    frames: tuple[Frame, ...] = field(default=())
    label: str = ""  #: the rank or worker that it came from, as the launcher marks it
    chained: bool = False  #: raised while handling the one before it
    ignored: bool = False  #: Python itself, or a log handler, says that it went on
    alone: bool = False  #: only its last line was found, without the traceback

    @property
    def name(self) -> str:
        return self.type.rpartition(".")[2]

    @property
    def frame(self) -> Frame | None:
        """The deepest frame of the user's code, else the deepest of all."""
        mine = [f for f in self.frames if f.is_user]
        return mine[-1] if mine else self.frames[-1] if self.frames else None

    @property
    def of_tracker(self) -> bool:
        return any(_TRACKER.search(f.file) for f in self.frames)

    @property
    def of_cleaner(self) -> bool:
        """Whether Python's own process raised it, which only tidies up after others that are gone."""
        return bool(self.frames) and bool(_CLEANER.search(self.frames[-1].file)) and not any(f.is_user for f in self.frames[:-1])

    @property
    def text(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


def find(lines: Sequence[Line]) -> list[Raised]:
    """Return all tracebacks of `lines` in order."""
    out: list[Raised] = []
    used = -1
    for i, line in enumerate(lines):
        if HEADER in line.text:
            head, _, _ = line.text.partition(HEADER)
            raised = _rich(lines, i) if "─" in head or "╭" in head else _plain(lines, i, head)
            if raised:
                before = unlabelled(lines[i - 1].text) if i else ""
                ignored = before.startswith(_IGNORED) or (before.startswith(_THREAD) and raised.of_tracker)
                ignored = ignored or raised.of_cleaner
                if out and _holds(lines, out[-1], raised):
                    out[-1] = _unwrapped(out[-1], raised)
                else:
                    out += [_link(lines, out, r) for r in _without_traceback(lines, i, used)]
                    out.append(_link(lines, out, replace(raised, ignored=ignored)))
                used = max(used, raised.end)
        elif i > used and "Error: " in line.text and _BARE.match(line.text):
            raised = _syntax(lines, i)
            if raised:
                out.append(raised)
    return out


def _without_traceback(lines: Sequence[Line], at: int, used: int) -> list[Raised]:
    """Return the exception of one line because of which the one at `at` was raised, if it has no traceback."""
    before = [i for i in range(max(used + 1, at - LINK_LINES), at) if lines[i].text.strip()]
    if len(before) < 2 or not any(link in lines[before[-1]].text for link in _LINKS):
        return []
    found = _RAISED.match(unlabelled(lines[before[-2]].text))
    if found is None or not SURE.match(found["type"]):
        return []
    return [Raised(before[-2], before[-2], found["type"], found["message"] or "", alone=True)]


def _holds(lines: Sequence[Line], outer: Raised, inner: Raised) -> bool:
    """Whether an exception's message is a traceback itself, as a loader's worker or a core in C++ hands it on."""
    if outer.end == inner.begin:
        return outer.message.startswith(HEADER)
    return inner.begin - outer.end <= 2 and outer.message.startswith("Caught ") and "Original" in lines[inner.begin].text


def _unwrapped(outer: Raised, inner: Raised) -> Raised:
    """Return the inner exception at the place of the outer one, whose frames say who asked for it."""
    if outer.end == inner.begin:  # the type is the outer one's
        return replace(outer, end=inner.end, message=inner.message)
    return replace(inner, begin=outer.begin, frames=(*outer.frames, *inner.frames), label=outer.label)


def frame_of(text: str) -> Frame | None:
    """Return the frame that a line of a traceback names."""
    found = _FRAME.match(unlabelled(text))
    return Frame(found["file"], int(found["line"]), (found["name"] or "").strip()) if found else None


def _split_label(text: str) -> tuple[str, str]:
    match = _LABEL.match(text)
    return (match[0], text[match.end() :]) if match else ("", text)


def unlabelled(text: str) -> str:
    """Return a line without what a launcher puts before it."""
    return _split_label(text)[1]


def _plain(lines: Sequence[Line], start: int, head: str) -> Raised | None:
    """Read the usual form; lines of other ranks between its own are left out."""
    label, rest = _split_label(head)
    stamp = _stamp(lines, start, label, rest)
    rest = "" if stamp else rest
    indent = len(rest) - len(rest.lstrip(" |+"))
    frames: list[Frame] = []
    foreign, flat = 0, False  # other lines since the last frame; whether its lines lost their indentation
    for i in range(start + 1, min(len(lines), start + 400)):
        mark, text = _split_label(lines[i].text)
        if mark.strip() != label.strip():
            if label:
                continue
            mark, text = "", lines[i].text
        if stamp:
            stamped = stamp.match(text)
            if stamped is None:
                continue
            text = text[stamped.end() :]
        body = text[indent:] if text[:indent].strip(" |+") == "" else text
        frame = frame_of(body)
        if frame:
            frames.append(frame)
            foreign, flat = 0, not body[0].isspace()
            continue
        if not body.strip() or body[0] in " \t|+^~" or body.startswith("[Previous line"):
            continue
        wrapped = _WRAPPED.match(body)
        if wrapped and _frames_follow(lines, i):
            continue
        raised = (wrapped if wrapped and wrapped["type"] else None) or _RAISED.match(body)
        if raised is None or ((foreign or flat) and not SURE.match(raised["type"])):
            foreign += bool(frames and not label)
            if HEADER in body or foreign > FOREIGN_LINES:
                return None
            continue
        message = raised["message"] or "" if stamp else _message(lines, i, label, raised["message"] or "")
        return Raised(start, i, raised["type"], message, tuple(frames), label.strip(" :"))
    return None


def _frames_follow(lines: Sequence[Line], at: int) -> bool:
    """Whether frames come next, perhaps after marks under source lines that were left out."""
    for line in lines[at + 1 : at + 1 + MESSAGE_LINES]:
        text = unlabelled(line.text)
        if text.strip(" ~^"):
            return _FRAME.match(text) is not None
    return False


def _stamp(lines: Sequence[Line], start: int, label: str, rest: str) -> re.Pattern[str] | None:
    """Return what a log handler puts before every line of this traceback, its numbers left open.

    Taken from the first frame's line; the header may have more before it.
    """
    for line in lines[start + 1 : start + 1 + STAMP_LINES]:
        mark, text = _split_label(line.text)
        found = _STAMPED.match(text)
        if mark.strip() != label.strip() or found is None:
            continue
        pattern = re.compile(re.sub(r"\d+", r"\\d+", re.escape(found["stamp"].rstrip())) + " ?")
        return pattern if pattern.match(rest) else None
    return None


def _message(lines: Sequence[Line], at: int, label: str, first: str) -> str:
    """Join a message that goes on in indented lines."""
    parts = [first]
    for line in lines[at + 1 : at + 1 + MESSAGE_LINES]:
        mark, text = _split_label(line.text)
        if mark.strip() != label.strip() or not text.startswith(("\t", "  ")) or _FRAME.match(text) or "+-" in text:
            break
        parts.append(text.strip())
    return " ".join(p for p in parts if p)[:2000]


def _rich(lines: Sequence[Line], start: int) -> Raised | None:
    """Read the boxed form: frames inside the box, the exception on the line below it."""
    frames: list[Frame] = []
    for i in range(start + 1, min(len(lines), start + 600)):
        text = lines[i].text.strip()
        if text.startswith("╰"):
            for j in range(i + 1, min(len(lines), i + 4)):
                raised = _RAISED.match(lines[j].text.strip())
                if raised:
                    return Raised(start, j, raised["type"], raised["message"] or "", tuple(frames))
            return None
        frame = _RICH_FRAME.match(text.strip("│ "))
        if frame:
            frames.append(Frame(frame["file"], int(frame["line"]), frame["name"]))
    return None


def _syntax(lines: Sequence[Line], at: int) -> Raised | None:
    """A syntax error of the main file has no header, only the file before it."""
    for i in range(at - 1, max(-1, at - 5), -1):
        frame = _FRAME.match(lines[i].text)
        if frame:
            name, _, message = lines[at].text.partition(": ")
            return Raised(i, at, name, message, (Frame(frame["file"], int(frame["line"]), "<module>"),))
    return None


def _link(lines: Sequence[Line], before: list[Raised], raised: Raised) -> Raised:
    if not before:
        return raised
    between = lines[before[-1].end + 1 : raised.begin]
    if len(between) <= 30 and any(link in line.text for line in between for link in _LINKS):
        return replace(raised, chained=True)
    return raised
