"""The possible causes with their rank: roots before what they lead to, early before late."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from runherd.diagnose import remains, tracebacks
from runherd.diagnose.catalogue import Signature
from runherd.diagnose.cause import Cause, of_exception, of_signature
from runherd.diagnose.lines import MILD
from runherd.diagnose.scene import Scene
from runherd.diagnose.tracebacks import Frame, Raised

Rank = tuple[int, int, int]  #: consequence (0 a root), another rank than the report names, position
Ranked = tuple[Rank, Cause]

GRACE_LINES = 200  #: from the end; so much may a program still print that was told to end
NEAR_END = 60  #: lines; without a traceback only what stands so near to the end can be its cause
CONSEQUENCE = 2  #: from this rank on it is what something else led to
LAUNCHER = 2  #: the order of signatures that only say that something failed
REPORT = 4  #: what a launcher says, or an exception that only tells of another failure
LAST_RANK = 9
ABORTED, NATIVE = "aborted", "native-crash"  #: signatures of a bare abort, and of the words before one
LAST_WORDS = 12  #: lines from the end, where an error line that nothing explains is still told
#: Exceptions that by themselves say little.
VAGUE = frozenset({"RuntimeError", "Exception", "ValueError", "AssertionError", "SystemExit", "ZeroDivisionError"})
FROM_OUTSIDE = ("API_QUOTA", "PROXY_DOWN", "NETWORK", "ENVIRONMENT")
STORM = 3  #: complaints of one kind
TRIED_LINES = 30  #: before a program gave up
SAID_BELOW = 6  #: lines under an exception that may still be its message

#: Exceptions that are a mistake in the code whatever they say.
PLAIN_BUGS = frozenset(
    {
        *("KeyError", "TypeError", "AttributeError", "IndexError", "NameError", "UnboundLocalError"),
        *("ZeroDivisionError", "NotImplementedError", "SyntaxError", "IndentationError", "TabError"),
        *("StopIteration", "RecursionError", "UnicodeDecodeError", "UnicodeEncodeError", "LookupError"),
    }
)
_REPORTS = re.compile(
    r"(?i)^failed (?:runs?|jobs?|tasks?|trials?|steps?|stages?)\b"
    r"|\bcheck (?:the )?(?:\w+ )?(?:statements?|logs?|output|messages?)\b.{0,30}\babove|no longer alive"
    r"|see (?:the )?(?:above|stack ?trace|root cause|logs?\b|error)|root cause|exited unexpectedly|died unexpectedly"
    r"|\b(?:process|worker|task|job|subprocess|child|engine|actor|rank|server|command)\w*\b[^.:;]{0,40}"
    r"\b(?:failed|died|crashed|terminated|exited|aborted|exit code|return code)"
    r"|\bfailed to (?:run|start|launch|create session|execute|load all)\b|\breturned non-zero\b|^non-zero exit"
)
SHELLS = ("shell-killed", "shell-terminated")  #: what a shell says of the whole command
STAGE_FAILED = "Job aborted due to stage failure"  #: Spark's report: what its executors say counts
_PIPES = re.compile(r"multiprocessing[/\\](?:connection|queues|managers|reduction|popen_\w+)\.py$")
#: An exception that tells of retries: what was tried in vain stands in it, or before it.
_GAVE_UP = re.compile(
    r"(?i)\b(?:after|all|exceeded|exhausted|reached) (?:\S+ ){0,3}(?:attempts?|retries|tries)\b"
    r"|\b(?:retries|attempts) (?:exhausted|exceeded|failed)\b(?! with url)|\bgiv(?:e|ing|en) up\b|^RetryError\["
    r"|\ball (?:\S+ ){0,2}(?:requests|calls|items|samples|workers|endpoints)\b.{0,10}\bfailed|\btoo many (?:errors|failures|failed)"
    r"|\bmax(?:imum)? (?:number of )?(?:retries|attempts)\b(?! exceeded with url)"
    r"|\b\d+ (?:consecutive|successive) (?:\S+ )?(?:requests|calls|errors|failures)\b"
)
_OTHER_PROCESS = re.compile(r"\[rank\d|\([^()]*\bpid=\d")
#: Who watches over a program states facts, whatever the level of the line.
_SUPERVISOR = re.compile(
    r"\b(?:nanny|kubelet|slurmstepd|raylet|default-scheduler|YarnClusterScheduler|TaskSetManager|Evicted|NCCL WARN)\b"
)
_SAYS_NOTHING = re.compile(r"(?i)^\W*$|\bexit(?:ed|s|ing)?(?:\W+\w+)?\W+(?:code|status)\b|\bstatus \d+\W*$|^\W*\d+\W*$")
_LOG_LINE = re.compile(
    r"^\W*(?:\d{2,4}[-/:]\d\d|(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b|[EWIF]\d{4} )|^(?:srun|slurmstepd|wandb)\b"
)
_ERROR_LINE = re.compile(
    r"(?:^|[\s\[(|:])(?:ERROR|FATAL|CRITICAL|SEVERE|E\d{4}|F\d{4}|[Ff]atal|[Ee]rror)\b(?! ?(?:rate|s?[=:] ?0\b))(?P<text>.*)"
)


def _place(signature: Signature) -> int:
    """Return how far from the root a signature stands: that a peer is lost comes after what took it away."""
    return 2 * signature.order + (signature.order == 1 and signature.cls == "DISTRIBUTED")


def rank_all(scene: Scene) -> list[Ranked]:
    """Return the possible causes; the least rank is the best."""
    out = [_of_traceback(scene, scene.raised, n) for n in _uncaught(scene)]
    if not out and scene.raised and scene.exit.known and not scene.exit.clean:
        out += _last_word(scene)
    spoken = min((rank[2] for rank, _ in out), default=len(scene.lines))
    for i, s in _fatal(scene):
        late = CONSEQUENCE if s.id in SHELLS and i > spoken else 0  # a shell's word, after the program's own
        early = CONSEQUENCE if s.id == ABORTED and _mute_rank(scene) else 0
        out.append(((_place(s) + late - early, 0, i), of_signature(s, (i,), 0.9)))
    if all(rank[0] >= CONSEQUENCE for rank, _ in out):  # what was found so far is only a consequence
        out += _near_the_end(scene, _near(scene, out))
    return out


def _mute_rank(scene: Scene) -> bool:
    """Whether the rank that failed first said nothing: it did not end for what the others tell of."""
    said = [s for i, s in scene.hits if i not in scene.inside]
    if scene.failing_rank is None or any(s.id == NATIVE or s.cls == "DISTRIBUTED" for s in said):
        return False
    return not any(r.label and _is_rank(r, scene) for r in scene.raised)


def _uncaught(scene: Scene) -> Iterator[int]:
    for n, raised in enumerate(scene.raised):
        followed = n + 1 < len(scene.raised) and scene.raised[n + 1].chained
        warned = (scene.exit.clean or (not scene.exit.known and _again(scene, n))) and _warned(scene, raised)
        if not followed and not warned and not scene.recovered(raised):
            yield n


def _again(scene: Scene, n: int) -> bool:
    """Whether the same was raised at the same place before."""
    return any((r.name, r.frame) == (scene.raised[n].name, scene.raised[n].frame) for r in scene.raised[:n])


def _warned(scene: Scene, raised: Raised) -> bool:
    """Whether it stands under a line of a mild level, and more than a closing bar follows: it was told, and work went on."""
    mild = raised.begin > 0 and MILD.search(scene.lines[raised.begin - 1].text) is not None
    return mild and sum(bool(line.text.strip()) for line in scene.lines[raised.end + 1 :]) > 1


def _fatal(scene: Scene) -> Iterator[tuple[int, Signature]]:
    """Yield what only a process that ends writes, or who ends it: a scheduler gives it some time to go on."""
    failed = scene.exit.known and not scene.exit.clean
    for i, signature in scene.hits:
        told = failed and signature.cls in ("STOPPED", "HARDWARE") and signature.order == 0 and i > len(scene.lines) - GRACE_LINES
        if signature.fatal and i not in scene.inside and (i > scene.last_progress or told):
            yield i, signature


def _last_word(scene: Scene) -> list[Ranked]:
    """A traceback that seems to be got over, but stands last before an end that was not well."""
    n = len(scene.raised) - 1
    if len(scene.lines) - scene.raised[n].end >= 5 * NEAR_END or scene.exit.signal is not None:
        return []
    rank, cause = _of_traceback(scene, scene.raised, n)
    return [((max(rank[0], CONSEQUENCE + 1), 2, rank[2]), replace(cause, confidence=0.5))]


def _near(scene: Scene, found: Sequence[Ranked]) -> int:
    """Return from which line on a root cause may stand: before the consequences, however long their words."""
    first = min((rank[2] for rank, _ in found), default=len(scene.lines))
    return min(first, len(scene.lines)) - NEAR_END


def _near_the_end(scene: Scene, near: int) -> Iterator[Ranked]:
    """Yield what stands near the end without a traceback: signatures, lone exceptions, error lines."""
    begin = max(near, scene.last_progress + 1)
    if not scene.exit.by_itself:
        if scene.exit.signal == signal.SIGKILL:  # and memory was the last that it or its host spoke of
            said = [(i, s) for i, s in scene.hits if i >= max(begin, len(scene.lines) - LAST_WORDS) and s.cls == "OOM"]
            yield from (((2 * s.order + 1, 1, i), of_signature(s, (i,), 0.6)) for i, s in said)
        return
    told = {i for r in scene.raised for i in _below(scene, r)} | scene.inside | {r.end for r in scene.remains}
    spoken = False
    for n, raised in enumerate(scene.remains):
        if raised.end >= begin:
            rank, cause = _of_traceback(scene, scene.remains, n)
            spoken, most = True, 0.5 if raised.alone else 0.8
            vague = raised.name in VAGUE - PLAIN_BUGS and cause.signature.startswith("traceback:")
            yield ((rank[0] | 1) + vague, rank[1], rank[2]), replace(cause, confidence=min(cause.confidence, most))
    for i, signature in scene.hits:
        if i not in told and i >= begin and not signature.fatal:
            text = scene.lines[i].text
            mild = MILD.search(text) is not None and not (scene.exit.known and _SUPERVISOR.search(text))
            if mild and not scene.exit.known:
                continue
            spoken = spoken or signature.order < LAUNCHER
            yield (2 * signature.order + 1 + mild, 1, i), of_signature(signature, (i,), 0.4 if mild else 0.6)
    if scene.exit.known and not scene.exit.clean and not spoken:
        yield from _error_lines(scene, begin, told)


def _error_lines(scene: Scene, begin: int, told: set[int]) -> Iterator[Ranked]:
    """Yield what error lines of a log say in general words, but for those `told`: the weakest evidence."""
    known = {i for i, _ in scene.hits}
    for i in range(max(0, begin), len(scene.lines)):
        found = _ERROR_LINE.search(scene.lines[i].text) if i not in told else None
        new = found is not None and i not in known
        family = scene.catalogue.of_exception(f"Error: {found['text'].strip(' :]')}") if found and new else None
        if family:
            yield (2 * family.order + 1, 2, i), of_signature(family, (i,), 0.4)
        elif found and i >= len(scene.lines) - LAST_WORDS and not _SAYS_NOTHING.search(found["text"]):
            yield (LAST_RANK, 2, i), _error_line(scene.lines[i].text, i)


def _error_line(text: str, i: int) -> Cause:
    said = text.strip()[:160]
    if _REPORTS.search(text):
        return Cause("UNKNOWN", "error-line", f"its last error line tells only that it failed: {said}", 0.2, (i,))
    return Cause("CODE_BUG", "error-line", f"its last error line: {said}", 0.3, (i,), suggestion="Read that line.")


def _of_traceback(scene: Scene, found: Sequence[Raised], n: int) -> Ranked:
    """Judge an exception by the first of its chain that a signature, or else a family, knows."""
    first = n
    while first > 0 and found[first].chained:
        first -= 1
    chain = found[first : n + 1]
    person = scene.catalogue.by_id.get("keyboard-interrupt") if chain[-1].name == "KeyboardInterrupt" else None
    if person:  # whatever it was busy with when the person came
        return (2 * person.order, 0, chain[-1].begin), of_signature(person, (chain[-1].end,), 0.95, chain[-1])
    elsewhere = int(scene.failing_rank is not None and chain[0].label != "" and not _is_rank(chain[0], scene))
    if chain[0].frames and _PIPES.search(chain[0].frames[-1].file):  # no network, but a child of its own
        gone = scene.catalogue.of_exception(f"{chain[0].name}: {chain[0].message} [in multiprocessing]")
        if gone and gone.order:
            cause = of_signature(gone, (chain[0].end,), 0.6, chain[0], _frame(chain[0], chain))
            return (_place(gone), elsewhere, chain[0].begin), cause
    known = [(s, r) for r in chain for s in _signatures_in(scene, r)]
    known.sort(key=lambda pair: pair[0].order)
    if known and not (known[0][0].order == 2 and len(chain) > 1 and chain[0] is not known[0][1]):
        signature, origin = known[0]
        cause = of_signature(signature, (origin.end,), 0.95, origin, _frame(origin, chain))
        return (_place(signature), elsewhere, origin.begin), cause
    for raised in chain:
        family = _family(scene, raised)
        if family:
            cause = of_signature(family, (raised.end,), 0.75, raised, _frame(raised, chain))
            of_stage = any(STAGE_FAILED in scene.lines[i].text for i in (raised.end, *_below(scene, raised)))
            return (max(_place(family), CONSEQUENCE if of_stage else 0), elsewhere, raised.begin), cause
    origin = chain[0]
    in_vain = _tried(scene, chain[-1]) if _GAVE_UP.search(chain[-1].message) else _storm(scene, origin)
    if in_vain:
        signature, i = in_vain
        cause = of_signature(signature, (i, origin.end), 0.7, chain[-1], _frame(chain[-1], chain))
        return (_place(signature), elsewhere, origin.begin), cause
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
    tells = _REPORTS.search(raised.message) or _GAVE_UP.search(raised.message)
    return raised.name not in PLAIN_BUGS and tells is not None


def _family(scene: Scene, raised: Raised) -> Signature | None:
    """Return the family of an exception, of one that its message names, or of its message's further lines."""
    if raised.name in PLAIN_BUGS or _GAVE_UP.search(raised.message):
        return None
    found = scene.catalogue.of_exception(raised.text)
    if found is None and tracebacks.SURE.match(raised.message):
        found = scene.catalogue.of_exception(raised.message.replace("(", ": ", 1))
    if found is None and raised.name in ("OSError", "EOFError") and raised.frames:  # a reader of files may say little
        found = scene.catalogue.of_exception(f"{raised.text} [in {raised.frames[-1].file}]")
    below = [tracebacks.unlabelled(scene.lines[i].text).strip() for i in _below(scene, raised)]
    return found or (scene.catalogue.of_exception(" ".join((raised.text, *below))) if below else None)


def _below(scene: Scene, raised: Raised) -> list[int]:
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


def _tried(scene: Scene, raised: Raised) -> tuple[Signature, int] | None:
    """Return what the last lines before a program gave up say of what it tried, retried or not."""
    for i in range(raised.begin - 1, max(-1, raised.begin - 1 - TRIED_LINES), -1):
        text = scene.lines[i].text
        low = text.lower()
        near = (s for word, found in scene.catalogue.by_word.items() if word in low for s in found)
        known = next((s for s in near if s.matches(text, even_retried=True)), None)
        if known is None:
            named = remains.NAME.search(text)
            known = scene.catalogue.of_exception(f"{named[0]}: ") if named else None
        if known:
            return known, i
    return None


def gave_up(scene: Scene) -> Cause | None:
    """Return what was refused again and again right before a line that says that the program gives up."""
    if not scene.exit.by_itself:
        return None
    for i in range(len(scene.lines) - 1, max(-1, len(scene.lines) - 1 - LAST_WORDS), -1):
        if not _GAVE_UP.search(scene.lines[i].text) or (i < scene.last_progress and not scene.exit.known):
            continue
        hits = [(at, s) for at, s in scene.hits if i - TRIED_LINES <= at <= i and s.cls in FROM_OUTSIDE]
        kinds = Counter(s.id for _, s in hits)
        often = [(at, s) for at, s in hits if kinds[s.id] >= 2]
        if often:
            return of_signature(often[-1][1], (often[-1][0], i), 0.6)
    return None


def _storm(scene: Scene, raised: Raised) -> tuple[Signature, int] | None:
    """Return a cause from outside that was told again and again right before an exception that says little."""
    if raised.name not in VAGUE:
        return None
    before = range(max(scene.last_progress + 1, raised.begin - TRIED_LINES), raised.begin)
    hits = [(s, i) for i, s in scene.hits if i in before and s.cls in FROM_OUTSIDE]
    return hits[-1] if hits and sum(s is hits[-1][0] for s, _ in hits) >= STORM else None


def _is_rank(raised: Raised, scene: Scene) -> bool:
    return scene.failing_rank in "".join(c if c.isdigit() else " " for c in raised.label).split()


def _signatures_in(scene: Scene, raised: Raised) -> list[Signature]:
    """Signatures that the exception's own lines show (frames and source lines do not count)."""
    if _GAVE_UP.search(raised.message):  # what it gave up on counts, not how
        return list(scene.catalogue.of_line(raised.message))
    end = raised.end + tracebacks.MESSAGE_LINES
    below = set(_below(scene, raised)) if raised.name not in PLAIN_BUGS else set()
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
