"""Secrets are refused by name and by form, and never shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runherd.config import RowInput, Spec, load_project
from runherd.config.explain import explain_text, merged_yaml
from runherd.config.secretcheck import MASK, find, is_secret_key, is_secret_value, masked
from runherd.errors import UserError

Run = Callable[..., Spec]
KEY = "sk-" + "abcd1234" * 4


@pytest.mark.parametrize(
    "key",
    [
        "api_key",
        "apiKey",
        "OPENAI_API_KEY",
        "hf_token",
        "HF_TOKEN",
        "password",
        "db-password",
        "secret",
        "client_secret",
        "token",
        "access_token",
        "private_key",
        "credentials",
        "wandb_api_key",
        "GITHUB_TOKEN",
    ],
)
def test_names_that_promise_a_secret(key: str) -> None:
    """Keys named like credentials are secrets."""
    assert is_secret_key(key)


@pytest.mark.parametrize(
    "key",
    [
        "max_tokens",
        "tokenizer",
        "pad_token",
        "num_tokens",
        "token_budget",
        "api_key_env",
        "key",
        "cache_keys",
        "author",
        "password_file",
        "eos_token",
        "monkey",
        "secretary",
        "tokens",
        "special_token",
        "keyboard_key",
    ],
)
def test_names_that_do_not(key: str) -> None:
    """Words that merely resemble credentials are not."""
    assert not is_secret_key(key)


@pytest.mark.parametrize(
    "value",
    [
        KEY,
        f"python x.py --key={KEY}",
        "ghp_" + "a1" * 18,
        "hf_" + "A" * 30,
        "AKIA" + "ABCD1234" * 2,
        "xoxb-1234567890-ab",
        "-----BEGIN RSA PRIVATE KEY-----",
        "https://user:pa55word@host/x",
        "sk-proj-" + "x" * 30,
        "sk-ant-api03-" + "y" * 30,
        "Authorization: Bearer " + "z" * 30,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
    ],
)
def test_values_with_the_form_of_a_credential(value: str) -> None:
    """Known kinds of keys are found anywhere in a text."""
    assert is_secret_value(value)


@pytest.mark.parametrize(
    "value",
    [
        "sk-learn",
        "task-abcdefghijklmnopqrstu",
        "https://host:8080/x",
        "https://${USER}:${PASS}@h",
        "a" * 64,
        "disk-" + "a" * 30,
        "risk-based-evaluation-of-models",
        "python train.py --lr 0.1",
        "git@github.com:a/b.git",
        "hf_model",
    ],
)
def test_values_without(value: str) -> None:
    """Hashes, addresses and words with the same beginnings are no secrets."""
    assert not is_secret_value(value)


@pytest.mark.parametrize("value", ["$OPENAI_API_KEY", "${KEY}", "env:KEY", "", "<your key>"])
def test_references_are_no_secrets(value: str) -> None:
    """A reference to the environment may stand under any name."""
    assert list(find({"api_key": value})) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"params:\n  api_key: {KEY}\n", 2),
        (f"api_key: {KEY}\n", 1),
        ("params:\n  deep:\n    password: hunter2hunter2\n", 3),
        (f"command: python x.py --key {KEY}\n", 1),
        (f"execution:\n  env:\n    SOMETHING: {KEY}\n", 3),
        (f"params:\n  list:\n    - a\n    - {KEY}\n", 4),
        (f"params: {{ {KEY}: 1 }}\n", 1),
        (f"steps:\n  - command: [a, {KEY}]\n", 2),
    ],
)
def test_a_secret_in_yaml_is_refused_without_printing_it(run: Run, text: str, line: int) -> None:
    """The refusal names file and line, and shows no part of the value."""
    with pytest.raises(UserError) as caught:
        run(text)
    shown = str(caught.value)
    assert f"configs/runs/R001.yaml:{line}: a secret does not belong" in shown
    assert KEY[:12] not in shown and "hunter2" not in shown


def test_also_on_the_command_line_in_cells_and_in_project_yaml(
    run: Run, write: Callable[..., Any], root: Any
) -> None:
    """No source of settings may hold a secret."""
    for keywords in (
        {"command_line": {"params.api_key": KEY}},
        {"row": RowInput("R001", None, {"command": f"x {KEY}"}, {}, 3)},
    ):
        with pytest.raises(UserError) as caught:
            run("params: {}\n", **keywords)
        assert "secret" in str(caught.value) and KEY[:12] not in str(caught.value)
    (root / "configs" / "project.yaml").write_text(f"patterns: {{'R*': {{params: {{api_key: {KEY}}}}}}}\n")
    with pytest.raises(UserError) as caught:
        load_project(root)
    assert "secret" in str(caught.value) and KEY[:12] not in str(caught.value)


def test_environment_values_are_masked_wherever_settings_are_shown(run: Run) -> None:
    """What `explain` and `--validate-only` print holds names, not values, of the environment."""
    spec = run(
        "execution:\n  env: {ENDPOINT: internal-host-17}\nheal: {proxy_fallback_env: {B: internal-host-18}}\n"
    )
    for text in (explain_text(spec), merged_yaml(spec), explain_text(spec, "execution.env")):
        assert "internal-host" not in text
        if "ENDPOINT" in text:
            assert MASK in text
    assert masked("params", {"url": f"x {KEY}", "n": 1, "flag": True}) == {
        "url": f"x {MASK}",
        "n": 1,
        "flag": True,
    }


def test_a_wrong_value_under_a_secret_name_is_not_shown(run: Run) -> None:
    """Also a type error does not print what stands under such a name."""
    with pytest.raises(UserError) as caught:
        run("execution: {env: {TOKEN: [very-private-thing]}}\n")
    assert "very-private" not in str(caught.value)
