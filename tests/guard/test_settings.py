"""From a run's configuration to the settings of its guard, and the arithmetic of waiting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runherd import config
from runherd.errors import UserError
from runherd.guard import answers, settings
from runherd.lifecycle import guarded

TWO = "endpoints: [{name: proxy, url: 'http://a/v1'}, {name: direct, url: '${D_URL}/v1'}]\n"


def spec_of(root: Path, text: str, command_line: dict[str, Any] | None = None) -> config.Spec:
    (root / "configs" / "runs").mkdir(parents=True, exist_ok=True)
    (root / "configs" / "runs" / "R1.yaml").write_text("command: 'x {{ base_url }}'\n" + text)
    project = config.load_project(root)
    return config.resolve(project, config.RowInput("R1", "M0", {}, {}), command_line or {})


def made(root: Path, text: str, **environ: str) -> settings.Settings:
    data = guarded.settings(spec_of(root, text), root / "guard.json", 1, environ)
    return settings.read(data, environ)


def test_the_defaults_are_those_of_the_configuration(place: Path) -> None:
    """20 calls at a time, 6 retries from 2 to 60 s, 60 s of cool-down, weights 65 and 35; 30 over two endpoints."""
    one = made(place, "execution: {guard: true}\nendpoint: {url: 'http://x/v1/'}")
    assert (one.max_concurrent, one.max_retries, one.base_delay_s, one.max_delay_s) == (20, 6, 2.0, 60)
    assert (one.cooldown_s, one.one_at_a_time("Qwen2")) == (60, "qwen*")
    assert [one.keeps_second_phase(m) for m in ("o4-mini", "o3-2025", "O4mini", "gpt-4o")] == [True, True, True, False]
    assert [e.url for e in one.endpoints] == ["http://x/v1"]
    two = made(place, TWO + "execution: {dual_backend: true}", D_URL="https://d")
    assert two.max_concurrent == 30
    assert [(e.name, e.url, e.weight) for e in two.endpoints] == [
        ("proxy", "http://a/v1", 65), ("direct", "https://d/v1", 35)
    ]  # fmt: skip
    assert made(place, TWO + "execution: {dual_backend: true, max_concurrent_vlm: 7}", D_URL="x").max_concurrent == 7


def test_the_qwen_layer_means_one_call_at_a_time(place: Path) -> None:
    """The model's own layer clamps what a run asks for."""
    chosen = made(place, TWO + "model: qwen\nexecution: {guard: true, max_concurrent_vlm: 9}", D_URL="x")
    assert chosen.max_concurrent == 1


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("", False),
        (TWO, False),
        ("execution: {dual_backend: true}", False),  # a program of its own dual kind
        (TWO + "execution: {dual_backend: true}", True),
        (TWO + "execution: {dual_backend: true, guard: false}", False),
        ("execution: {guard: true}", True),
    ],
)  # fmt: skip
def test_when_a_run_is_guarded(place: Path, text: str, on: bool) -> None:
    """By its own word, or with two endpoints at once where they are listed."""
    assert guarded.wanted(spec_of(place, text)) is on


def test_mistakes_are_told_with_their_place(place: Path) -> None:
    """A variable that is not set, equal names and a url that is none are told before anything starts."""
    with pytest.raises(UserError, match="the environment variable D_URL is not set"):
        made(place, TWO + "execution: {guard: true}")
    with pytest.raises(UserError) as told:
        spec_of(place, "endpoints: [{name: a, url: 'http://x'}, {name: a, url: 'ftp://x'}]")
    assert all(word in str(told.value) for word in ("two endpoints have the same name", "ftp://x", "R1.yaml:2"))
    with pytest.raises(UserError, match=r"R1\.yaml:2: unknown key `wieght`"):
        spec_of(place, "endpoints: [{name: b, url: 'http://x', wieght: 3}]")


@pytest.mark.parametrize(
    ("tried", "limited", "after", "low", "high"),
    [(1, False, None, 1, 2), (3, False, None, 4, 8), (1, True, None, 3, 6), (3, True, None, 12, 24),
     (9, False, None, 30, 60), (9, True, None, 30, 60), (1, False, 11.0, 11, 11), (1, False, 900.0, 60, 60)],
)  # fmt: skip
def test_waits(tried: int, limited: bool, after: float | None, low: float, high: float) -> None:
    """Exponential with jitter, three times longer after a 429, within the bound; Retry-After is kept to."""
    for spread, wanted in ((0.0, low), (1.0, high)):
        got = answers.delay_s(tried, 2.0, 60.0, limited=limited, retry_after_s=after, spread=spread)
        assert got == pytest.approx(wanted)


def test_retry_after_as_date() -> None:
    """Both forms of the header are read; nonsense asks for nothing."""
    assert answers.retry_after_s("7") == 7
    assert answers.retry_after_s("Thu, 01 Jan 1970 00:01:40 GMT", now_s=40.0) == 60
    assert answers.retry_after_s("soon") is None
