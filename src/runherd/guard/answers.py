"""What an endpoint's answer means: pure."""

from __future__ import annotations

import email.utils
import json
import random
import time
from collections.abc import Mapping
from enum import Enum
from typing import Any

LIMITED_FACTOR = 3  #: a rate-limited call waits so many times longer

_REFUSAL_CODES = (
    "content_filter", "content_policy_violation", "responsibleaipolicyviolation", "content_policy", "safety",
)  # fmt: skip
_MISSING_CODES = ("model_not_found", "deploymentnotfound", "model_not_available")


class Kind(Enum):
    """What the guard does about an answer."""

    ANSWER = "answer"  # handed on
    REFUSAL = "refusal"  # content policy: handed on, never tried again
    LIMITED = "limited"  # 429
    FORBIDDEN = "forbidden"  # 403 that is no refusal
    UNAUTHORISED = "unauthorised"
    NO_MODEL = "no model"
    BAD_REQUEST = "bad request"  # the caller's fault: handed on
    FAILED = "failed"  # 5xx, time-out, broken connection


def kind(status: int, body: bytes) -> Kind:
    """Classify an answer by its status and, where it is an error, its body."""
    if status < 400:
        return Kind.ANSWER
    if status == 429:
        return Kind.LIMITED
    if status in (400, 403, 422) and is_refusal(body):
        return Kind.REFUSAL
    if status in (400, 404) and error_codes(body) & set(_MISSING_CODES):
        return Kind.NO_MODEL
    return {401: Kind.UNAUTHORISED, 403: Kind.FORBIDDEN, 408: Kind.FAILED, 409: Kind.FAILED}.get(
        status, Kind.FAILED if status >= 500 else Kind.BAD_REQUEST
    )


def is_refusal(body: bytes) -> bool:
    """Whether an error body says that the content was refused by policy."""
    return has_refusal_code(body) or b"ResponsibleAIPolicyViolation" in body


def has_refusal_code(body: bytes) -> bool:
    """Whether a body, of whatever status, is an error with a code of a content policy."""
    return bool(error_codes(body) & set(_REFUSAL_CODES))


def error_codes(body: bytes) -> set[str]:
    """The codes and types, in lower case, that an error body names at any depth of `error`."""
    found: set[str] = set()
    node = as_object(body).get("error")
    while isinstance(node, dict):
        found |= {str(node[k]).lower() for k in ("code", "type") if isinstance(node.get(k), str)}
        node = node.get("innererror") or node.get("inner_error")
    return found


def as_object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`; empty when it holds none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_null(body: Mapping[str, Any]) -> bool:
    """Whether a chat or text completion holds no answer: nothing said and no tool called."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        return False
    for choice in choices:
        said = choice.get("message") or {} if isinstance(choice, dict) else {}
        text = said.get("content", choice.get("text")) if isinstance(said, dict) else None
        if text or said.get("tool_calls") or said.get("function_call") or said.get("refusal"):
            return False
    return True


def is_filtered(body: Mapping[str, Any]) -> bool:
    """Whether an answer of status 200 was cut off by a content filter."""
    choices = body.get("choices")
    return isinstance(choices, list) and any(
        isinstance(c, dict) and c.get("finish_reason") == "content_filter" for c in choices
    )


def usage(body: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens (in, out) that an answer reports; zeros where it does not."""
    told = body.get("usage")
    if not isinstance(told, dict):
        return 0, 0
    into = told.get("prompt_tokens", told.get("input_tokens"))
    out = told.get("completion_tokens", told.get("output_tokens"))
    return into if isinstance(into, int) else 0, out if isinstance(out, int) else 0


def delay_s(
    tried: int, base_s: float, most_s: float, *, limited: bool, retry_after_s: float | None = None,
    spread: float | None = None,
) -> float:
    """Seconds to wait before try `tried + 1` (`tried` >= 1): exponential, jittered, three times longer after a 429.

    The wait lies between half and the whole of the bound, never above
    `most_s`; the endpoint's own `Retry-After` is kept to, up to `most_s`.
    """
    bound = base_s * 2.0 ** min(tried - 1, 30) * (LIMITED_FACTOR if limited else 1)
    share = random.random() if spread is None else spread
    return min(most_s, max(min(bound, most_s) * (0.5 + share / 2), retry_after_s or 0.0))


def retry_after_s(value: str | None, now_s: float | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks for, as a number or a date; None when it asks for nothing."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError):
        return None
    return max(0.0, when - (time.time() if now_s is None else now_s))
