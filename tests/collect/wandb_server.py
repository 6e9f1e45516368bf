"""A local stand-in for the GraphQL endpoint of a W&B server. It is not W&B.

It answers what the client of wandb 0.31 asks about one run (found out by recording
its requests): who the key belongs to, the run, the last step of its history, and
the history by pages of steps. It checks the key as the server does, and can fail.
"""

from __future__ import annotations

import base64
import json
import threading
from dataclasses import dataclass, field
from typing import Any

from localserver import Handler, LocalServer

KEY = "f" * 40


@dataclass
class Run:
    """What the stand-in knows of a run."""

    state: str = "finished"
    summary: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    heartbeat_at: str | None = "2026-11-29T10:05:00"

    def keys(self) -> dict[str, Any]:
        return {"lastStep": max((r["_step"] for r in self.rows), default=-1), "keys": {}}

    def fragment(self, name: str) -> dict[str, Any]:
        """The run as the client's query for it names it."""
        empty = ("sweepName", "group", "jobType", "commit", "description", "notes")
        return {
            **dict.fromkeys(empty), "projectId": "7", "id": "UnVu", "tags": [], "name": name, "displayName": name,
            "state": self.state, "config": json.dumps({k: {"value": v} for k, v in self.config.items()}),
            "readOnly": True, "createdAt": "2026-11-29T10:00:00", "heartbeatAt": self.heartbeat_at,
            "systemMetrics": "{}", "summaryMetrics": json.dumps(self.summary), "historyLineCount": len(self.rows),
            "user": {"name": "A", "username": "a"}, "historyKeys": self.keys(),
        }  # fmt: skip


class WandbServer(LocalServer):
    """Serves `runs` (entity/project/id). `fault` is a status to fail with, "silent", "cut" (no history) or "late" (none in time)."""

    def __init__(self, runs: dict[str, Run], fault: int | str | None = None, port: int = 0) -> None:
        self.runs, self.fault = runs, fault
        self.asked: list[str] = []  #: kinds of questions, in order
        self.released = threading.Event()
        outer = self

        class Answers(Handler):
            def do_POST(self) -> None:
                body = self.body()
                self.reply(*((200, {}) if self.path != "/graphql" else outer.answer(json.loads(body), self.headers)))

        super().__init__(Answers, port)

    def stop(self) -> None:
        self.released.set()
        super().stop()

    def answer(self, question: dict[str, Any], headers: Any) -> tuple[int, dict[str, Any]]:
        text, values = question["query"], question.get("variables") or {}
        if self.fault == "silent":
            self.released.wait(60)
        if isinstance(self.fault, int):
            self.asked.append("failed")
            return self.fault, {"errors": [{"message": "the stand-in fails"}]}
        if headers.get("Authorization") != "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode():
            self.asked.append("refused")
            return 401, {"errors": [{"message": "user is not logged in", "path": ["viewer"]}]}
        kind, data = self._data(text, values)
        self.asked.append(kind)
        if kind == "history" and self.fault == "late":
            self.released.wait(60)
        if kind == "history" and self.fault == "cut":
            return 404, {"errors": [{"message": "the stand-in has lost the history"}]}
        return 200, {"data": data}

    def _data(self, text: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if "viewer" in text:
            return "viewer", {"viewer": {
                "id": "VXNlcg==", "entity": "e", "username": "a", "email": "a@localhost", "flags": "{}",
                "teams": {"edges": []},
            }}  # fmt: skip
        name = values.get("name") or values.get("runName") or values.get("run")
        run = self.runs.get(f"{values.get('entity')}/{values.get('project')}/{name}")
        if run is None:
            return "missing", {"project": None}
        if "parquetHistory" in text:
            return "parquet", {"project": {"run": {"parquetHistory": {"parquetUrls": [], "liveData": []}}}}
        if "$minStep" in text:
            rows = [json.dumps(r) for r in run.rows if values["minStep"] <= r["_step"] < values["maxStep"]]
            return "history", {"project": {"run": {"history": rows}}}
        if "RunFragment" in text:
            return "run", {"project": {"run": run.fragment(str(name))}}
        return "keys", {"project": {"run": {"historyKeys": run.keys()}}}
