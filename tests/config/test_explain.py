"""What `explain` and `--validate-only` show."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from runherd.config import Spec
from runherd.config.explain import explain_text, explained, merged_yaml
from runherd.errors import UserError

Run = Callable[..., Spec]


def test_value_origin_and_history(run: Run) -> None:
    """A key shows its value, where it was written, and all that it overrode, newest first."""
    spec = run(
        "params:\n  lr: 0.1\n",
        {"configs/project.yaml": "patterns:\n  R*:\n    params: {lr: 5}\n"},
        command_line={"params.lr": 0.2},
    )
    assert explain_text(spec, "params.lr").splitlines() == [
        "params.lr = 0.2  command-line",
        "    overrode 0.1  run  configs/runs/R001.yaml:2",
        "    overrode 5  pattern:R*  configs/project.yaml:3",
    ]
    record = explained(spec, "params.lr")[0]
    assert record["origin"]["layer"] == "command-line"
    assert [o["line"] for o in record["overrode"]] == [2, 3]


def test_a_section_and_everything(run: Run) -> None:
    """A section shows its leaves only; without a key all are shown, with identity and warnings."""
    spec = run("model: gpt4o\nexecution: {precompute_workers: 3}\n")
    assert {r["key"].split(".")[0] for r in explained(spec, "heal")} == {"heal"}
    text = explain_text(spec)
    assert f"identity {spec.identity}" in text
    assert "warning: execution.precompute_workers = 3" in text


def test_an_unknown_key_has_a_suggestion(run: Run) -> None:
    """A misspelt key is answered with the nearest one."""
    for key in ("execution.worker", "worker"):
        with pytest.raises(UserError, match=r"did you mean `execution\.workers`"):
            explain_text(run("params: {}\n"), key)


def test_the_merged_yaml_is_yaml_with_the_same_content(run: Run) -> None:
    """What `--validate-only` prints can be read again and holds the merged settings."""
    spec = run(
        "params: {a: 'yes', b: '1e3', 'c d': 'x: y', e: '', f: '- q', g: null, h: [1, '2'], 'i.j': ' s ', k: '0x1',\n"
        "  l: \"two\\nlines\", m: '1:30', n: 实验, o: '~', p: {}, q: 1.0e-7, r: '# no', s: 'a #b'}\n"
        'benchmark: rtv\nmode: "C\'"\nmodel: claude\n'
    )
    assert yaml.safe_load(merged_yaml(spec).replace("1e-07", "1.0e-07")) == spec.data
