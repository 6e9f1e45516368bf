"""A person lets a stage through in spite of its gate: recorded for ever, and bound to what was seen.

`gates/<stage>.override.json` only ever grows. An override covers the checks
that were open when it was given, on the results that they rested on; when a
check fails anew, or a result has changed, it no longer opens the gate, and is
still shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runherd import files, git
from runherd.errors import fail
from runherd.gates.outcome import PASS, Check, Verdict

SCHEMA = 1


def record_override(
    layout: files.Layout, verdict: Verdict, reason: str, *, who: str, now: str
) -> dict[str, Any]:
    """Add an override of `verdict` to the stage's record and return it.

    Raises `UserError` without a reason, for a gate that passes anyway, or
    when the record of earlier overrides cannot be read.
    """
    if not reason.strip():
        raise fail("an override needs a reason", hint='runherd gate M1 --override "why this may go on"')
    if verdict.verdict == PASS:
        raise fail(f"{verdict.stage} passes: there is nothing to override")
    entry = {
        "who": who,
        "when": now,
        "why": reason.strip(),
        "verdict": verdict.verdict,
        "sentence": verdict.sentence,
        "covers": {c.name: _fingerprint(c) for c in verdict.checks if c.verdict != PASS},
    }
    earlier = read_overrides(layout, verdict.stage)
    path = layout.gate_override(verdict.stage)
    files.write_json(path, {"schema": SCHEMA, "stage": verdict.stage, "overrides": [*earlier, entry]})
    return entry


def read_overrides(layout: files.Layout, stage: str) -> list[dict[str, Any]]:
    """All overrides of a stage, oldest first; raises `UserError` for a record that cannot be read."""
    path = layout.gate_override(stage)
    if not path.exists():
        return []
    found = (files.read_object(path) or {}).get("overrides")
    if not isinstance(found, list) or not all(isinstance(o, dict) for o in found):
        raise fail(
            "the record of overrides cannot be read", where=str(path), hint="restore it from version control"
        )
    return found


def apply_overrides(layout: files.Layout, verdict: Verdict) -> Verdict:
    """Attach the stage's overrides to a verdict: the newest that covers it opens the gate; all are shown."""
    history = read_overrides(layout, verdict.stage)
    if not history:
        return verdict
    covering = [o for o in history if verdict.verdict != PASS and covers(o, verdict)]
    notes = [_note(o, o in covering, verdict) for o in history]
    return replace(
        verdict,
        sentence=verdict.sentence + "".join(f". Note: {note}" for note in notes),
        notes=[*verdict.notes, *notes],
        override=_public(covering[-1]) if covering else None,
        overrides=[_public(o) for o in history],
    )


def covers(override: Mapping[str, Any], verdict: Verdict) -> bool:
    """True when every check that is open now was open, on the same results, when the override was given."""
    known = override.get("covers")
    return isinstance(known, dict) and all(
        known.get(c.name) == _fingerprint(c) for c in verdict.checks if c.verdict != PASS
    )


def who_am_i(layout: files.Layout) -> str:
    """`Name <address>` from git's configuration, else the login name."""
    name, address = (_git_config(layout, key) for key in ("user.name", "user.email"))
    if name:
        return f"{name} <{address}>" if address else name
    import getpass

    try:
        return f"{getpass.getuser()} (login name; git config user.name is not set)"
    except (OSError, KeyError, ImportError):
        return "unknown (git config user.name is not set)"


def _fingerprint(check: Check) -> dict[str, Any]:
    """What an override is bound to: the word and the results behind it."""
    results = {e.path: e.sha256 for e in check.evidence if e.path.endswith("result.json")}
    return {"verdict": check.verdict, "results": results}


def _note(override: Mapping[str, Any], is_covering: bool, verdict: Verdict) -> str:
    said = f"overridden by {override.get('who')} on {override.get('when')}: {override.get('why')}"
    if is_covering:
        return said
    if verdict.verdict == PASS:
        return f"once {said}; it passes now without that"
    return f"once {said}; what is open now was not open then, so that no longer holds"


def _public(override: Mapping[str, Any]) -> dict[str, Any]:
    return {k: override.get(k) for k in ("who", "when", "why", "verdict")}


def _git_config(layout: files.Layout, key: str) -> str:
    return git.ask(layout.root, "config", key).output.strip()
