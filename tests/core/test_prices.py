"""Prices, tokens and bills beyond the ledger: pure look-ups, and records on disk."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from runherd import clock, cost, history, ledger, prices
from runherd.collect.usage import by_model
from runherd.errors import UserError
from runherd.files import Layout, write_json
from runherd.lifecycle import billing
from runherd.supervise.place import Place

SHIPPED = Path(__file__).parents[2] / "configs" / "_defaults"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(Layout(tmp_path / "pro ject's π"), "R1")


def own_table(root: Path, text: str) -> None:
    path = root / "configs" / "_defaults" / "prices.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_every_shipped_price_has_a_source() -> None:
    """Each list names the vendor's page, the day and the copy that was read; each price is a positive number."""
    dated = re.compile(r"https://\S+ (on|in) 20\d\d-\d\d(-\d\d)?, read in https://\S+")
    table = prices.load(Path("/nonexistent"), SHIPPED)
    for entry in table["providers"].values():
        assert dated.match(entry["source"]) and all(p > 0 for p in entry["usd_per_gpu_hour"].values())
    for entry in table["tokens"].values():
        assert dated.match(entry["source"]) and 0 < entry["input"] < entry["output"]


def test_the_more_particular_price_wins() -> None:
    """Patterns are tried in order, so that an 80 GB card is not priced as a smaller one; unknown cards have none."""
    table = prices.load(Path("/nonexistent"), SHIPPED)
    got = {n: prices.per_gpu_hour(table, "modal", "h", n) for n in ("NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-40GB", "X")}
    assert [p and p.usd for p in got.values()] == [2.4984, 2.0988, None]
    assert prices.per_gpu_hour(table, "local", "h", "NVIDIA A100-SXM4-80GB") is None
    assert prices.of_gpus(table, "modal", "h", ["NVIDIA A100-SXM4-80GB", "X"]) is None
    mixed = prices.of_gpus(table, "modal", "h", ["NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-40GB"])
    assert mixed is not None and mixed.usd == pytest.approx((2.4984 + 2.0988) / 2)


def test_a_projects_own_prices_come_first(tmp_path: Path) -> None:
    """A host's price beats the provider's, and a project's patterns beat the shipped ones."""
    own_table(
        tmp_path,
        "hosts: {'gpu-*': {source: own, usd_per_gpu_hour: {'*': 0.9}}}\ntokens: {'gpt-4o*': {source: own, input: 1, output: 2}}",
    )
    table = prices.load(tmp_path, SHIPPED)
    assert prices.per_gpu_hour(table, "modal", "gpu-7", "NVIDIA H100") == prices.Price(0.9, "own")
    assert prices.per_gpu_hour(table, "modal", "other", "NVIDIA H100").usd == 3.9492  # type: ignore[union-attr]
    assert prices.per_million_tokens(table, "gpt-4o") == prices.TokenPrice(1, 2, "own")
    assert prices.per_million_tokens(table, "gpt-4o-mini").source == "own"  # type: ignore[union-attr]
    assert prices.per_million_tokens(table, "o3-mini-high").input == 1.1  # type: ignore[union-attr]


def test_a_table_that_is_no_yaml_is_told(tmp_path: Path) -> None:
    """The file is named."""
    own_table(tmp_path, "hosts: [")
    with pytest.raises(UserError, match="the price table is no YAML"):
        prices.load(tmp_path, SHIPPED)


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, {"m": {"input": 5, "output": 2}}),
        ({"a": {"input_tokens": 5, "output_tokens": 2}, "b": {"input_tokens": 1}},
         {"a": {"input": 5, "output": 2}, "b": {"input": 1, "output": 0}}),
        ({"prompt_tokens": True, "completion_tokens": "x"}, {}),
        (None, {}), ([1], {}), ({"seconds": 3}, {}),
    ],
)  # fmt: skip
def test_tokens_in_their_forms(told: Any, wanted: Any) -> None:
    """One count, or one per model; what is no count says nothing."""
    assert by_model(told, "m") == wanted


def run_of_two_attempts(place: Place, **execution: Any) -> history.History:
    """A ledger of 1800 s and 900 s on two GPUs each."""
    write_json(place.layout.spec("R1"), {"data": {"model": "gpt-4o", "execution": execution}})
    place.record(ledger.Requested(1, "first"))
    for n, seconds in ((1, 1800.0), (2, 900.0)):
        place.record(ledger.Launched(1, n, "start", gpus=["u0", "u1"], provider="modal"))
        place.record(ledger.Exited(1, n, 0, None, clock.iso(1000.0), clock.iso(1000 + seconds), seconds=seconds))
        write_json(place.layout.command("R1", n), {"host": "h", "gpu_names": {"u0": "NVIDIA H100", "u1": "NVIDIA H100"}})
    return place.history()


def test_dollars_by_the_list_and_by_the_runs_own_price(place: Place) -> None:
    """1.5 GPU-hours at 3.9492, with the list named; a price in the configuration beats it."""
    h = run_of_two_attempts(place)
    bill = billing.bill(place, h)
    assert (bill["gpu_hours"], bill["usd"], bill["usd_gpu"]) == (1.5, 5.924, 5.924)
    assert "modal.com" in bill["attempts"][0]["usd_source"]
    write_json(place.layout.spec("R1"), {"data": {"execution": {"usd_per_gpu_hour": 2}}})
    assert billing.bill(place, h)["usd"] == 3.0


def test_tokens_of_result_and_guard(place: Place) -> None:
    """The result's own usage counts, else the guard's; dollars only where every model has a price."""
    h = run_of_two_attempts(place, usd_per_gpu_hour=2)
    seen = {"generation": 1, "reported_usage": 3, "prompt_tokens": 2000000, "completion_tokens": 100000}
    write_json(place.dir / "guard.json", seen)
    bill = billing.bill(place, h)
    assert (bill["tokens"]["source"], bill["usd_tokens"], bill["usd"]) == ("guard", 6.0, 9.0)
    two = {"gpt-4o": {"input": 10, "output": 4}, "own": {"input": 1, "output": 1}}
    write_json(place.dir / "result.json", {"generation": 1, "usage": two})
    bill = billing.bill(place, h)
    assert (bill["tokens"]["input"], bill["tokens"]["output"], bill["tokens"]["source"]) == (11, 5, "result")
    assert (bill["usd_tokens"], bill["usd"]) == (None, 3.0)
    write_json(place.dir / "result.json", {"generation": 9, "usage": {"gpt-4o": {"input": 10, "output": 4}}})
    assert billing.bill(place, h)["tokens"]["source"] == "guard"  # of another generation
    summed = cost.summary([bill, bill])
    assert (summed["tokens_total"], summed["usd_total"], summed["runs_total"]) == (32, 6.0, 2)


def test_a_bad_price_table_costs_only_the_dollars(place: Place) -> None:
    """Hours are told all the same."""
    h = run_of_two_attempts(place)
    own_table(place.layout.root, "hosts: [")
    bill = billing.bill(place, h)
    assert (bill["gpu_hours"], bill["usd"]) == (1.5, None)


def test_without_a_ledger_the_logs_times_are_taken(place: Place) -> None:
    """First and last stamps of each log, marked legacy; a log without stamps says nothing; a ledger is never passed over."""
    for n, text in (
        (1, "2026-01-02T03:00:00Z begin\nnoise 2026\n2026-01-02 03:30:00,500+00:00 end\n"),
        (2, "[2026-01-02T04:00:00Z] again\n" + "x" * 200_000 + "\n2026-01-02T04:15:00Z end\n"),
        (3, "no stamps\n"),
    ):
        path = place.layout.log("R1", n)
        path.parent.mkdir(parents=True)
        path.write_text(text)
    write_json(place.layout.spec("R1"), {"data": {"execution": {"gpus": 2, "gpu_provider": "slurm"}}})
    bill = billing.legacy(place)
    assert bill is not None
    assert (bill["legacy"], bill["wall_clock_seconds"], bill["gpu_hours"]) == (True, 2700.5, 1.5)
    assert (bill["started_at"], bill["ended_at"]) == ("2026-01-02T03:00:00.000Z", "2026-01-02T04:15:00.000Z")
    assert (bill["elapsed_seconds"], bill["gpu_provider"], len(bill["attempts"])) == (4500.0, "slurm", 2)
    assert bill["status"] == "failed"  # nothing says that it ended well
    write_json(place.dir / "result.json", {"status": "done"})
    assert billing.legacy(place)["status"] == "completed"  # type: ignore[index]
    place.record(ledger.Requested(1, "first"))
    assert billing.legacy(place) is None


def test_a_log_that_still_grew_after_its_last_stamp(tmp_path: Path) -> None:
    """With one stamp only, the file's last write is its end."""
    path = tmp_path / "a.log"
    path.write_text("2026-01-02T03:00:00Z begin\nlater lines\n")
    end = clock.epoch("2026-01-02T03:10:00Z")
    os.utime(path, (end, end))
    assert billing.log_times(path) == (clock.epoch("2026-01-02T03:00:00Z"), end)


def test_an_adopted_results_cost_is_legacy() -> None:
    """Times that were taken from files when a finished run was adopted are marked."""
    events = [
        ledger.Requested(1, "adopt"), ledger.Launched(1, 1, "adopt", t="2026-01-02T03:00:00Z"),
        ledger.Exited(1, 1, started_at="2026-01-02T03:00:00Z", ended_at="2026-01-02T03:10:00Z", lost="adopted"),
        ledger.Ended(1, "done"),
    ]  # fmt: skip
    bill = cost.cost("R1", history.of(events), "2026-01-02T04:00:00Z")
    assert (bill["legacy"], bill["wall_clock_seconds"]) == (True, 600.0)
    assert json.dumps(bill)
