"""A run's place: which project it belongs to and which id it has, passed between our processes as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from runherd import history, ledger
from runherd.files import Layout


@dataclass(frozen=True)
class Place:
    """One run in one project; says where things are and reads its ledger."""

    layout: Layout
    run_id: str

    @property
    def dir(self) -> Path:
        return self.layout.run_dir(self.run_id)

    def history(self) -> history.History:
        return history.of(ledger.read(self.layout.events(self.run_id)))

    def record(self, event: ledger.Event) -> ledger.Event:
        return ledger.append(self.layout.events(self.run_id), event)

    def to_arg(self) -> str:
        o = self.layout
        return json.dumps([str(o.root), o.runs, o.results, o.gates, o.report, self.run_id])

    @classmethod
    def from_arg(cls, text: str) -> Place:
        root, runs, results, gates, report, run_id = json.loads(text)
        return cls(Layout(Path(root), runs, results, gates, report), run_id)
