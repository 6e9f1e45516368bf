"""The seam to Snakemake: what the Snakefile calls, and the private attributes that this needs."""

from __future__ import annotations

from pathlib import Path


def shipped(name: str) -> Path:
    """A file or folder that ships with runherd: inside the wheel, or next to `src/` in a clone."""
    inside = Path(__file__).resolve().parents[1] / "_workflow" / name
    return inside if inside.exists() else Path(__file__).resolve().parents[3] / name


def snakefile() -> str:
    """The path of the workflow, for `module` in a user's own Snakefile."""
    return str(shipped("Snakefile"))
