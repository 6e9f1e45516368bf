"""What made an exception: the first of its chain that a signature, or else a family, knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from runherd.diagnose import tracebacks
from runherd.diagnose.catalogue import Signature
from runherd.diagnose.cause import Cause, of_exception, of_signature
from runherd.diagnose.givingup import GAVE_UP, storm, tried
from runherd.diagnose.scene import Scene
from runherd.diagnose.tracebacks import Frame, Raised

Rank = tuple[int, int, int]  #: consequence (0 a root), another rank than the report names, position
Ranked = tuple[Rank, Cause]

CONSEQUENCE = 2  #: from this rank on it is what something else led to
REPORT = 4  #: what a launcher says, or an exception that only tells of another failure
SAID_BELOW = 6  #: lines under an exception that may still be its message
#: Exceptions that are a mistake in the code whatever they say.
PLAIN_BUGS = frozenset(
    {
        *("KeyError", "TypeError", "AttributeError", "IndexError", "NameError", "UnboundLocalError"),
        *("ZeroDivisionError", "NotImplementedError", "SyntaxError", "IndentationError", "TabError"),
        *("StopIteration", "RecursionError", "UnicodeDecodeError", "UnicodeEncodeError", "LookupError"),
    }
)
REPORTS = re.compile(
    r"(?i)^failed (?:runs?|jobs?|tasks?|trials?|steps?|stages?)\b"
    r"|\bcheck (?:the )?(?:\w+ )?(?:statements?|logs?|output|messages?)\b.{0,30}\babove|no longer alive"
    r"|see (?:the )?(?:above|stack ?trace|root cause|logs?\b|error)|root cause|exited unexpectedly|died unexpectedly"
    r"|\b(?:process|worker|task|job|subprocess|child|engine|actor|rank|server|command)\w*\b[^.:;]{0,40}"
    r"\b(?:failed|died|crashed|terminated|exited|aborted|exit code|return code)"
    r"|\bfailed to (?:run|start|launch|create session|execute|load all)\b|\breturned non-zero\b|^non-zero exit"
)
STAGE_FAILED = "Job aborted due to stage failure"  #: Spark's report: what its executors say counts
_PIPES = re.compile(r"multiprocessing[/\\](?:connection|queues|managers|reduction|popen_\w+)\.py$")
_OTHER_PROCESS = re.compile(r"\[rank\d|\([^()]*\bpid=\d")
_LOG_LINE = re.compile(
    r"^\W*(?:\d{2,4}[-/:]\d\d|(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b|[EWIF]\d{4} )|^(?:srun|slurmstepd|wandb)\b"
)


def place(signature: Signature) -> int:
    """Return how far from the root a signature stands: that a peer is lost comes after what took it away."""
    return 2 * signature.order + (signature.order == 1 and signature.cls == "DISTRIBUTED")


def of_traceback(scene: Scene, found: Sequence[Raised], n: int) -> Ranked:
    """Judge an exception by the first of its chain that a signature, or else a family, knows."""
    first = n
    while first > 0 and found[first].chained:
        first -= 1
    chain = found[first : n + 1]
    person = scene.catalogue.by_id.get("keyboard-interrupt") if chain[-1].name == "KeyboardInterrupt" else None
    if person:  # whatever it was busy with when the person came
        return (2 * person.order, 0, chain[-1].begin), of_signature(person, (chain[-1].end,), 0.95, chain[-1])
    elsewhere = int(scene.failing_rank is not None and chain[0].label != "" and not scene.of_failing_rank(chain[0]))
    if chain[0].frames and _PIPES.search(chain[0].frames[-1].file):  # no network, but a child of its own
        gone = scene.catalogue.of_exception(f"{chain[0].name}: {chain[0].message} [in multiprocessing]")
        if gone and gone.order:
            cause = of_signature(gone, (chain[0].end,), 0.6, chain[0], _frame(chain[0], chain))
            return (place(gone), elsewhere, chain[0].begin), cause
    known = [(s, r) for r in chain for s in _signatures_in(scene, r)]
    known.sort(key=lambda pair: pair[0].order)
    if known and not (known[0][0].order == 2 and len(chain) > 1 and chain[0] is not known[0][1]):
        signature, origin = known[0]
        cause = of_signature(signature, (origin.end,), 0.95, origin, _frame(origin, chain))
        return (place(signature), elsewhere, origin.begin), cause
    for raised in chain:
        family = _family(scene, raised)
        if family:
            cause = of_signature(family, (raised.end,), 0.75, raised, _frame(raised, chain))
            of_stage = any(STAGE_FAILED in scene.lines[i].text for i in (raised.end, *below_of(scene, raised)))
            return (max(place(family), CONSEQUENCE if of_stage else 0), elsewhere, raised.begin), cause
    origin = chain[0]
    in_vain = tried(scene, chain[-1]) if GAVE_UP.search(chain[-1].message) else storm(scene, origin)
    if in_vain:
        signature, i = in_vain
        cause = of_signature(signature, (i, origin.end), 0.7, chain[-1], _frame(chain[-1], chain))
        return (place(signature), elsewhere, origin.begin), cause
    cause = of_exception(origin, _frame(origin, chain), 0.9 if scene.exit.known else 0.8)
    if _only_tells(scene, origin):
        told = replace(cause, cls="UNKNOWN", suggestion="Look further up, or into the log that it names.", restart="maybe")
        return (REPORT, elsewhere, origin.begin), told
    return (0, elsewhere, origin.begin), cause


def _only_tells(scene: Scene, raised: Raised) -> bool:
    """Whether it is only the word of another failure: its parts follow, or it names a child that ended."""
    if raised.name.endswith("ExceptionGroup") or raised.name == "SystemExit":
        return True
    if not raised.message and raised.name in ("SystemError", "RuntimeError", "Exception"):
        return any(line.text.strip() for line in scene.lines[raised.end + 1 :])
    tells = REPORTS.search(raised.message) or GAVE_UP.search(raised.message)
    return raised.name not in PLAIN_BUGS and tells is not None


def _family(scene: Scene, raised: Raised) -> Signature | None:
    """Return the family of an exception, of one that its message names, or of its message's further lines."""
    if raised.name in PLAIN_BUGS or GAVE_UP.search(raised.message):
        return None
    found = scene.catalogue.of_exception(raised.text)
    if found is None and tracebacks.SURE.match(raised.message):
        found = scene.catalogue.of_exception(raised.message.replace("(", ": ", 1))
    if found is None and raised.name in ("OSError", "EOFError") and raised.frames:  # a reader of files may say little
        found = scene.catalogue.of_exception(f"{raised.text} [in {raised.frames[-1].file}]")
    below = [tracebacks.unlabelled(scene.lines[i].text).strip() for i in below_of(scene, raised)]
    return found or (scene.catalogue.of_exception(" ".join((raised.text, *below))) if below else None)


def below_of(scene: Scene, raised: Raised) -> list[int]:
    """Return the lines under an exception that are still its message, as far as can be told."""
    out: list[int] = []
    for i in range(raised.end + 1, min(len(scene.lines), raised.end + 1 + SAID_BELOW)):
        text = scene.lines[i].text
        if not text.strip() and raised.message.endswith(":") and not out:
            continue  # the words come after an empty line
        if not text.strip() or tracebacks.HEADER in text or _LOG_LINE.match(text):
            break
        other = raised.label not in text[:40] if raised.label else not raised.alone and _OTHER_PROCESS.match(text)
        if other or tracebacks.SURE.match(tracebacks.unlabelled(text)):
            break
        out.append(i)
    return out


def _signatures_in(scene: Scene, raised: Raised) -> list[Signature]:
    """Signatures that the exception's own lines show (frames and source lines do not count)."""
    if GAVE_UP.search(raised.message):  # what it gave up on counts, not how
        return list(scene.catalogue.of_line(raised.message))
    end = raised.end + tracebacks.MESSAGE_LINES
    below = set(below_of(scene, raised)) if raised.name not in PLAIN_BUGS else set()
    own = [s for i, s in scene.hits if i == raised.end]
    more = [
        s
        for i, s in scene.hits
        if raised.end < i <= end and (_goes_on(scene, raised, i) or (i in below and not s.fatal))
    ]
    if any(s.cls == "DISTRIBUTED" for s in own + more):  # the network's words are details of it
        return [s for s in own + more if s.cls not in ("NETWORK", "PROXY_DOWN")]
    return own + more


def _goes_on(scene: Scene, raised: Raised, i: int) -> bool:
    """Whether the message goes on in indented lines, or below a rule of signs, up to here."""
    between = (tracebacks.unlabelled(scene.lines[j].text) for j in range(raised.end + 1, i + 1))
    return all(text.startswith((" ", "\t")) or not text.strip("*-=~# ") for text in between)


def _frame(origin: Raised, chain: Sequence[Raised]) -> Frame | None:
    if origin.frame and origin.frame.is_user:
        return origin.frame
    return next((r.frame for r in chain if r.frame and r.frame.is_user), origin.frame)
