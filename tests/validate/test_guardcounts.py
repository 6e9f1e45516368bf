"""What the guard has seen, in the validation of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runherd.collect.gather import Collected
from runherd.validate import validate

SEEN: dict[str, Any] = {
    "calls": 400, "rate_limited": 9, "content_policy": 2, "retries": 9, "given_up": 0, "program": {"items": 391},
    "endpoints": {
        "a": {"answered_as": {"gpt-4o-08": 300}, "renamed": {}, "cooldowns": 0},
        "b": {"answered_as": {"gpt-4o-08": 91}, "renamed": {}, "cooldowns": 0},
    },
}  # fmt: skip


def rules(guard: dict[str, Any] | None, log: Path, **section: Any) -> dict[str, str]:
    collected = Collected(metrics={"accuracy": 0.5}, complete=True)
    found = validate(collected, {"validate": section}, [log], guard=guard)
    return {f.rule: f.level for f in found.findings}


def test_the_guards_numbers_replace_the_logs(tmp_path: Path) -> None:
    """The 2 % rule looks at what the endpoints answered, not at what the program logged."""
    log = tmp_path / "a b.txt"
    log.write_text('HTTP/1.1" 429\n' * 50)
    assert rules(SEEN, log) == {"rate_limited": "WARN", "content_policy": "INFO"}
    assert rules({**SEEN, "rate_limited": 8}, log)["rate_limited"] == "INFO"
    assert "rate_limited" not in rules({**SEEN, "rate_limited": 0}, log)
    assert rules(None, log) == {"rate_limited": "WARN"}


def test_what_a_reader_must_know_is_a_finding(tmp_path: Path) -> None:
    """Calls given up, another name, different models and endpoints left alone each have a rule, which can be off."""
    guard = {
        **SEEN, "given_up": 3, "broken_streams": 1,
        "endpoints": {
            "a": {"answered_as": {"gpt-4o-05": 300}, "renamed": {"gpt-4o": "gpt-4o_5"}, "cooldowns": 2,
                  "malformed": 4},
            "b": {"answered_as": {"gpt-4o-08": 91}, "renamed": {}, "cooldowns": 0},
        },
    }  # fmt: skip
    found = rules(guard, tmp_path / "none")
    wanted = {"given_up": "WARN", "broken_streams": "WARN", "renamed_model": "WARN", "mixed_models": "WARN",
              "malformed_answers": "WARN", "endpoint_down": "INFO"}  # fmt: skip
    assert found.items() >= wanted.items()
    assert "mixed_models" not in rules(guard, tmp_path / "none", rules={"mixed_models": "off"})
