"""Settings that people keep in a CLAUDE.md, as the lowest layer (when project.yaml names the file)."""

from __future__ import annotations

import re
from typing import Any

from runherd.config.merge import Layer

#: What a line may call a setting -> the dotted key.
_KEYS = {
    "gpu": "execution.gpu_provider",
    "wandb": "wandb.enabled",
    "wandb project": "wandb.project",
    "wandb entity": "wandb.entity",
    "ssh": "execution.ssh",
    "ssh alias": "execution.ssh",
    "conda": "execution.activate",
    "conda env": "execution.activate",
    "code dir": "execution.code_dir",
    "code directory": "execution.code_dir",
}
_LINE = re.compile(r"^\s*(?:[-*+]\s+)?[*_`]*([A-Za-z][A-Za-z _-]{1,20}?)[*_`]*\s*[:=]\s*[*_`]*\s*(.+?)\s*$")
_TRUE = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def layer(text: str, file: str) -> Layer:
    """Read lines such as `- gpu: remote` or `**Wandb project:** vid`; other lines are prose."""
    data: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        name = re.sub(r"[ _-]+", " ", match[1]).strip().lower() if match else ""
        if not match or name not in _KEYS:
            continue
        key = _KEYS[name]
        value = _value(key, match[2])
        if value is None:
            continue
        section, field = key.split(".")
        data.setdefault(section, {})[field] = value
        lines[key] = number
    return Layer("claude-md", file, data, lines)


def _value(key: str, text: str) -> Any:
    bare = re.sub(r"\s+#.*$", "", text).strip().strip("`*_\"'")
    if not bare:
        return None
    if key == "wandb.enabled":
        return _TRUE.get(bare.lower())
    if key == "execution.gpu_provider":
        word = bare.lower()
        return word if word in ("local", "remote", "slurm", "vast", "modal") else None
    if key == "execution.activate":
        name = re.sub(r"^conda\s+activate\s+", "", bare).split()[0]
        return f"conda:{name}"
    return bare.split()[0] if key == "execution.ssh" and not bare.startswith("ssh ") else bare
