"""A decided cause, before it is dressed as a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass

from runherd.diagnose.catalogue import Signature
from runherd.diagnose.tracebacks import Frame, Raised


@dataclass(frozen=True)
class Cause:
    """Why a run ended, with the lines that say so."""

    cls: str
    signature: str
    summary: str
    confidence: float
    lines: tuple[int, ...] = ()  #: indices of the evidence
    raised: Raised | None = None
    frame: Frame | None = None
    suggestion: str = ""
    restart: str = "maybe"


def of_signature(
    signature: Signature,
    lines: tuple[int, ...],
    confidence: float,
    raised: Raised | None = None,
    frame: Frame | None = None,
) -> Cause:
    """Return the cause that a signature of the catalogue names."""
    where = f" at {frame.file}:{frame.line}" if frame else ""
    said = f": {raised.text[:160]}" if raised else ""
    return Cause(
        signature.cls,
        signature.id,
        f"{signature.cause}{where}{said}",
        confidence,
        lines,
        raised,
        frame,
        signature.remedy,
        signature.restart,
    )


def of_exception(raised: Raised, frame: Frame | None, confidence: float) -> Cause:
    """Return the cause where nothing but an exception is known: the code must be mended."""
    where = f" at {frame.file}:{frame.line}" if frame else ""
    place = f"@{frame.file.rpartition('/')[2]}:{frame.line}" if frame else ""
    advice = f"Read {frame.file}:{frame.line} and mend it; a restart would fail again." if frame else "Mend the code."
    return Cause(
        "CODE_BUG",
        f"traceback:{raised.name}{place}",
        f"{raised.text[:200]}{where}",
        confidence,
        (raised.end,),
        raised,
        frame,
        advice,
        "no",
    )
