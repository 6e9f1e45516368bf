"""What preflight says of W&B: a login where runs report to it, client and login where a result comes through its API."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from runherd.preflight import place

VARIABLES = ("WANDB_API_KEY", "WANDB_BASE_URL", "WANDB_MODE", "WANDB_IDENTITY_TOKEN_FILE")


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A person without any login."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("environ", "netrc", "stops"),
    [
        ({}, "", True),
        ({"WANDB_API_KEY": "k"}, "", False),
        ({"WANDB_MODE": "offline"}, "", False),
        ({}, "machine api.wandb.ai login user password k", False),
        ({}, "machine example.org login user password k", True),
        ({"WANDB_BASE_URL": "https://wb.example.org"}, "machine api.wandb.ai login user password k", True),
        ({"WANDB_BASE_URL": "https://wb.example.org"}, "machine wb.example.org login user password k", False),
        ({}, "this is no netrc {", True),
    ],
)
def test_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, environ: dict[str, str], netrc: str, stops: bool) -> None:
    """A key counts from the environment, or from ~/.netrc for the host that will be spoken to."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    (tmp_path / ".netrc").write_text(netrc + "\n")
    (tmp_path / ".netrc").chmod(0o600)
    assert [f.stops for f in place.wandb_login()] == ([True] if stops else [])


def test_client_and_login_for_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is a warning, since the run's own files can decide; the first thing missing is named."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    [finding] = place.wandb_asked()
    assert (finding.stops, "client is not installed" in finding.what) == (False, True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    [finding] = place.wandb_asked()
    assert "no W&B login was found" in finding.what
    monkeypatch.setenv("WANDB_API_KEY", "k")
    assert list(place.wandb_asked()) == []
