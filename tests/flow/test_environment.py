"""What the program's environment holds, and what no record of ours shows of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flowkit import Project, Row

Make = Callable[..., Project]
SECRET = "tok-3f9a1c77d2"


def test_a_token_from_the_environment_reaches_the_program_and_no_record(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`${TOKEN}` is filled in for the program only: not in a record, a log, the report or the tracker."""
    monkeypatch.setenv("MY_SERVICE_KEY", SECRET)
    check = f'test "$SERVICE" = "key {SECRET}"'
    project = make(
        [Row("R001")],
        runs={"R001": {
            "command": "sh check.sh {{ result }}",
            "dryrun": {"skip": "it only looks at its environment"},
            "execution": {"env": {"SERVICE": "key ${MY_SERVICE_KEY}"}},
        }},
    )  # fmt: skip
    (project.root / "check.sh").write_text(
        f"{check} || exit 9\necho '{{\"metrics\": {{\"accuracy\": 1}}, \"complete\": true}}' > \"$1\"\n"
    )
    project.snakemake().ok()
    assert project.cell("R001") == "DONE"
    (project.root / "check.sh").unlink()
    shown = [p for p in project.root.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]
    assert shown == []
