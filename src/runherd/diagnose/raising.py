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

Known = tuple[Signature, Raised, float]  #: what is known of an exception, which one, and how surely

PERSON = "KeyboardInterrupt"
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
OPTIONAL = ("ImportError", "ModuleNotFoundError")  #: mostly tried for something to fall back from
REPORTS = re.compile(
    r"(?i)^failed (?:runs?|jobs?|tasks?|trials?|steps?|stages?)\b"
    r"|\bcheck (?:the )?(?:\w+ )?(?:statements?|logs?|output|messages?)\b.{0,30}\babove|no longer alive"
    r"|see (?:the )?(?:above|stack ?trace|root cause|logs?\b|error)|root cause|exited unexpectedly|died unexpectedly"
    r"|^[\w./-]+ failed(?: stdout:.*)?$"
    r"|\b(?:process|worker|task|job|subprocess|child|engine|actor|rank|server|command|trial|container|experiment)\w*\b[^.:;]{0,40}"
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
    elsewhere = int(scene.failing_rank is not None and chain[0].label != "" and not scene.of_failing_rank(chain[0]))
    told = chain[1:] if len(chain) > 1 and chain[0].name in OPTIONAL and _known(scene, chain[1]) else chain
    by_line = _by_signature(scene, told)
    says = by_line is not None and (by_line[0].order < 2 or len(chain) == 1)
    found_here = _from_outside(scene, chain) or (by_line if says else None) or _by_family(scene, told)
    if found_here is None and by_line is not None and by_line[1] is chain[0]:
        found_here = by_line
    if found_here is not None:
        signature, origin, sure = found_here
        cause = of_signature(signature, (origin.end,), sure, origin, _frame(origin, chain))
        of_stage = any(STAGE_FAILED in scene.lines[i].text for i in (origin.end, *below_of(scene, origin)))
        rank = max(place(signature), CONSEQUENCE if of_stage else 0)
        person = signature.cls == "STOPPED" and chain[-1].name == PERSON
        return (rank, 0 if person else elsewhere, origin.begin), cause
    return _of_itself(scene, chain, elsewhere)


def _from_outside(scene: Scene, chain: Sequence[Raised]) -> Known | None:
    """Return what is plain whatever the words are: a person's Ctrl-C, or a pipe to a child that is gone."""
    person = scene.catalogue.by_id.get("keyboard-interrupt") if chain[-1].name == PERSON else None
    if person:  # whatever it was busy with when the person came
        return person, chain[-1], 0.95
    if chain[0].frames and _PIPES.search(chain[0].frames[-1].file):  # no network, but a child of its own
        gone = scene.catalogue.of_exception(f"{chain[0].name}: {chain[0].message} [in multiprocessing]")
        if gone and gone.order:
            return gone, chain[0], 0.6
    return None


def _by_signature(scene: Scene, chain: Sequence[Raised]) -> Known | None:
    known = [(s, r) for r in chain for s in _signatures_in(scene, r)]
    best = min(known, key=lambda pair: pair[0].order, default=None)
    return (*best, 0.95) if best else None


def _by_family(scene: Scene, chain: Sequence[Raised]) -> Known | None:
    found = ((family, raised) for raised in chain if (family := _family(scene, raised)))
    best = next(found, None)
    return (*best, 0.75) if best else None


def _of_itself(scene: Scene, chain: Sequence[Raised], elsewhere: int) -> Ranked:
    """Judge a chain that nothing knows: by what was tried in vain before it, else it is what it says."""
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


def _known(scene: Scene, raised: Raised) -> bool:
    """Whether a signature or a family says why it was raised."""
    return any(s.order < 2 for s in _signatures_in(scene, raised)) or _family(scene, raised) is not None


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
    below = [tracebacks.unlabelled(scene.lines[i].text).strip() for i in below_of(scene, raised)]
    whole = " ".join((raised.text, *below))
    found = scene.catalogue.of_exception(whole if raised.message.endswith(":") else raised.text)
    if found is None and tracebacks.SURE.match(raised.message):
        found = scene.catalogue.of_exception(raised.message.replace("(", ": ", 1))
    if found is None and raised.name in ("OSError", "EOFError") and raised.frames:  # a reader of files may say little
        found = scene.catalogue.of_exception(f"{raised.text} [in {raised.frames[-1].file}]")
    return found or (scene.catalogue.of_exception(whole) if below else None)


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
