"""Load verdict-criteria.md: the thresholds, written before the results, from one fenced yaml block."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runherd.errors import Problem, UserError, did_you_mean, fail
from runherd.gates.block import Block, Key, Located, find_block, read_yaml

if TYPE_CHECKING:
    from pydantic import ValidationError

    from runherd.gates.models import Entry

KINDS = (
    "all_done",
    "loss_decreases",
    "match_published",
    "claim_holds",
    "ablation_gap",
    "baseline_verdict",
    "custom",
)


@dataclass(frozen=True)
class Criteria:
    """The criteria of every stage, and the identity of the file that they came from."""

    path: Path | None = None
    sha256: str | None = None
    stages: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    alpha: float = 0.05
    random_seed: int = 0
    resamples: int = 9_999
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    lines: Mapping[tuple[str, int], int] = field(default_factory=dict)  #: (stage, index) -> line


def no_criteria() -> Criteria:
    """Criteria of a project without a file: every stage asks only that its MUST runs are done."""
    return Criteria()


def load_criteria(path: Path) -> Criteria:
    """Read and check the criteria file; a `.yaml` file is taken whole.

    Raises `UserError` with every problem, each with file and line.
    """
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8")
    except FileNotFoundError:
        raise fail(
            "the criteria file is missing", where=str(path), hint="see docs/gates.md for one"
        ) from None
    except (OSError, UnicodeDecodeError) as e:
        raise fail(f"the criteria file cannot be read: {e}", where=str(path)) from None
    return parse_criteria(text, path, hashlib.sha256(raw).hexdigest())


def parse_criteria(text: str, path: Path, sha256: str | None = None) -> Criteria:
    """Check criteria given as text; `path` names them in errors."""
    from pydantic import ValidationError

    from runherd.gates.models import CriteriaModel

    name = str(path)
    whole_file = path.suffix in (".yaml", ".yml")
    block = Block(text, 1) if whole_file else find_block(text, name)
    located = read_yaml(block, name)
    if not isinstance(located.data, dict):
        raise fail("the block is not a mapping with `stages:`", where=f"{name}:{located.line(())}")
    try:
        model = CriteriaModel.model_validate(located.data)
    except ValidationError as e:
        raise UserError(_problems(e, located, name)) from None
    lines = {
        (stage, i): located.line(("stages", stage, i))
        for stage, entries in model.stages.items()
        for i in range(len(entries))
    }
    return Criteria(
        path=path,
        sha256=sha256,
        stages=model.stages,
        alpha=model.alpha,
        random_seed=model.random_seed,
        resamples=model.resamples,
        higher_is_better=model.higher_is_better,
        lines=lines,
    )


def _problems(error: ValidationError, located: Located, name: str) -> list[Problem]:
    return [_problem(dict(e), located, name) for e in error.errors()]


def _problem(error: dict[str, Any], located: Located, name: str) -> Problem:
    loc: tuple[str | int, ...] = error["loc"]
    key: Key = tuple(part for part in loc if part not in KINDS)
    shown = ".".join(str(part) for part in key) or "the block"
    where = f"{name}:{located.line(key)}"
    value = error.get("input")
    short = None if isinstance(value, (dict, list)) or value is None else repr(value)
    kind = error["type"]
    if kind == "extra_forbidden":
        near = did_you_mean(str(loc[-1]), _known_keys(loc))
        hint = f"did you mean `{near}`?" if near else None
        return Problem(f"`{shown}`: unknown key", where, None, ", ".join(_known_keys(loc)), hint)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        given = value.get("kind") if isinstance(value, dict) else value
        near = did_you_mean(str(given), KINDS)
        return Problem(
            f"`{shown}`: the criterion has no known `kind`",
            where,
            repr(given),
            ", ".join(KINDS),
            f"did you mean `{near}`?" if near else None,
        )
    if kind == "string_type" and isinstance(value, int):
        return Problem(
            f"`{shown}`: run ids and names are text", where, short, None, f'write "{value}" in quotes'
        )
    message = str(error["msg"]).removeprefix("Value error, ")
    return Problem(f"`{shown}`: {message}", where, short)


def _known_keys(loc: tuple[str | int, ...]) -> list[str]:
    from runherd.gates import models

    by_kind = {m.model_fields["kind"].annotation.__args__[0]: m for m in models.ENTRY_MODELS}  # type: ignore[union-attr]
    kind = next((str(part) for part in loc if part in by_kind), None)
    return sorted((by_kind[kind] if kind else models.CriteriaModel).model_fields)
