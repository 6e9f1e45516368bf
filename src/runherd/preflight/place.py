"""Checks of the machine and the repository, asked once for all runs."""

from __future__ import annotations

import importlib.util
import netrc
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from runherd.preflight.findings import Finding

#: Hosts under which the client keeps its key in ~/.netrc (the second one by default since 0.31).
WANDB_HOSTS = ("api.wandb.ai", "api.forge.coreweave.com")
MIN_FREE_MIB = 200  #: where a run says nothing itself (`preflight.disk_mib`)


def disk(root: Path, wanted_mib: Iterable[int | None] = ()) -> Iterator[Finding]:
    """Free space where the runs will write; each run says how much it wants, or None."""
    free_mib = shutil.disk_usage(root).free >> 20
    least = max((MIN_FREE_MIB if mib is None else mib for mib in wanted_mib), default=MIN_FREE_MIB)
    if free_mib < least:
        yield Finding("disk", f"only {free_mib} MiB free at {root}, {least} MiB needed", hint="preflight.disk_mib")


def worktree(root: Path) -> Iterator[Finding]:
    """Runs must not lie in a linked git worktree: it would be cleaned with it."""
    if found := linked_worktree(root):
        yield Finding(
            "worktree", f"{root} lies in a linked git worktree ({found}); runs in it would be cleaned with it",
            hint="work in the main checkout, or set paths.runs in configs/project.yaml to a folder outside",
        )  # fmt: skip


def linked_worktree(root: Path) -> str | None:
    """The worktree's git folder when `root` lies in a linked worktree: there `.git` is a file."""
    for folder in (root, *root.parents):
        dot_git = folder / ".git"
        if dot_git.is_dir():
            return None
        if dot_git.is_file():
            target = dot_git.read_text(errors="replace").removeprefix("gitdir:").strip()
            return target if "/worktrees/" in target else None
    return None


def endpoints(urls: Iterable[str], timeout_s: float) -> Iterator[Finding]:
    """Each base URL must answer `/v1/models` in time; 401 is an answer, 403 and 5xx are not."""
    for url in dict.fromkeys(urls):
        said = ask(url, timeout_s)
        if said is not None:
            yield Finding(
                "endpoint", f"{url} does not answer: {said}", hint="start it, or set heal.proxy_fallback_env"
            )


def ask(base: str, timeout_s: float) -> str | None:
    """Why an endpoint is not usable, or None when it answers."""
    url = base.rstrip("/")
    url = f"{url}/models" if url.endswith("/v1") else f"{url}/v1/models"
    try:
        with urllib.request.urlopen(url, timeout=timeout_s):
            return None
    except urllib.error.HTTPError as error:
        with error:
            return None if error.code in (401, 404, 405) else f"HTTP {error.code}"
    except TimeoutError:
        return f"no answer within {timeout_s:g} s"
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error))


def wandb_login() -> Iterator[Finding]:
    """A run that reports to W&B needs a key, or says that it works offline."""
    if os.environ.get("WANDB_MODE") in ("offline", "disabled", "dryrun") or _has_wandb_key():
        return
    yield Finding(
        "wandb", "wandb.enabled is set, but no W&B login was found",
        hint="wandb login, or export WANDB_API_KEY, or WANDB_MODE=offline",
    )  # fmt: skip


def wandb_asked() -> Iterator[Finding]:
    """A result that is to come through W&B's API needs its client and a key; without them only own files are looked at."""
    lacks = "" if importlib.util.find_spec("wandb") else "the W&B client is not installed here"
    lacks = lacks or ("" if _has_wandb_key() else "no W&B login was found")
    if lacks:
        yield Finding(
            "wandb", f"collect.format is wandb_api, but {lacks}: only the runs' own files will be looked at", stops=False,
            hint="pip install 'runherd[wandb]', then wandb login or export WANDB_API_KEY",
        )  # fmt: skip


def _has_wandb_key() -> bool:
    if os.environ.get("WANDB_API_KEY") or os.environ.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    own = urlsplit(os.environ.get("WANDB_BASE_URL") or "").hostname
    try:
        known = netrc.netrc().hosts
    except (OSError, netrc.NetrcParseError):
        return False
    return any(host in known for host in ([own] if own else WANDB_HOSTS))
