"""Find secrets in settings, by the name of the key and by the form of the value; show neither."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from runherd.config.spec import join

MASK = "***"

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_LAST = frozenset(
    "password passwd passphrase pwd secret secrets apikey credential credentials".split()  # noqa: SIM905
)
_SECRET_PAIRS = frozenset(
    [("api", "key"), ("access", "key"), ("secret", "key"), ("private", "key"), ("auth", "key")]
    + [(first, "token") for first in ("auth", "access", "api", "bearer", "refresh", "hf", "hub", "session")]
    + [(first, "token") for first in ("github", "gitlab", "slack", "wandb", "bot", "secret", "personal")]
)
_SHAPES = re.compile(
    r"""(?<![A-Za-z0-9])(?:
        sk-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}
      | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
      | hf_[A-Za-z0-9]{20,} | xox[abprs]-[A-Za-z0-9-]{10,}
      | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{30,}
      | eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}
      | Bearer\ +[A-Za-z0-9._~+/-]{16,}
    ) | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----
      | [a-z][a-z0-9+.-]*://[^\s/:@{}$]+:(?!\$|\{)[^\s/@]{3,}@""",
    re.VERBOSE,
)
_REFERENCE = re.compile(r"\$\{?[A-Za-z_]\w*\}?|env:[A-Za-z_]\w*|\{\{.*\}\}|<[^>]*>|", re.DOTALL)


def is_secret_key(key: str) -> bool:
    """Whether a key's name promises a secret (`api_key`, `HF_TOKEN`; not `max_tokens`, `api_key_env`)."""
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return False
    return words[-1] in _SECRET_LAST or tuple(words[-2:]) in _SECRET_PAIRS or words == ["token"]


def is_secret_value(text: str) -> bool:
    """Whether a text holds something of the form of a known kind of credential."""
    return _SHAPES.search(text) is not None


def find(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted key, reason) of every setting that looks like a secret; never the value."""
    for key, value in data.items():
        path = join(prefix, str(key))
        if is_secret_value(str(key)):
            yield join(prefix, MASK), "the key itself has the form of a credential"
        else:
            yield from _of_value(str(key), value, path)


def _of_value(key: str, value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        yield from find(value, path)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _of_value(key, item, f"{path}.{i}")
    elif isinstance(value, str):
        if is_secret_value(value):
            yield path, "the value has the form of a credential"
        elif is_secret_key(key) and not _REFERENCE.fullmatch(value.strip()):
            yield path, "the name of the key promises a secret"


def masked(key: str, value: Any) -> Any:
    """A value as it may be shown: environment values, and what looks secret, as `***`."""
    if isinstance(value, dict):
        return {name: masked(join(key, name), item) for name, item in value.items()}
    if isinstance(value, list):
        return [masked(key, item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    inside = key.startswith(("execution.env.", "heal.proxy_fallback_env."))
    if inside or is_secret_key(key.rpartition(".")[2]):
        return MASK
    return _SHAPES.sub(MASK, value) if isinstance(value, str) else value
