"""Clients of a server on this host that refuses in its own way, for their real words.

    python clients.py anthropic-right|openai-policy|requests-cut|httpx-silent|group-502|hub-503
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOW = sys.argv[1]
GOOD = 12  #: answers before the refusal
POLICY = {
    "message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
    "type": "invalid_request_error",
    "param": None,
    "code": "invalid_prompt",
}
RIGHT = {"type": "permission_error", "message": "Your API key does not have permission to use the specified resource."}
REFUSALS: dict[str, tuple[int, Any]] = {
    "anthropic-right": (403, {"type": "error", "error": RIGHT}),
    "openai-policy": (400, {"error": POLICY}),
    "group-502": (502, {}),
    "hub-503": (503, {}),
}
FINE = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "B"}}],
    "role": "assistant",
    "type": "message",
    "content": [{"type": "text", "text": "B"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


class Refusing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        Refusing.asked += 1
        if Refusing.asked <= GOOD and not HOW.startswith("hub"):
            return self.answer(200, FINE)
        if HOW == "httpx-silent":
            time.sleep(30)
        if HOW == "requests-cut":
            self.send_response(200)
            self.send_header("content-length", "4096")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
            return None
        return self.answer(*REFUSALS.get(HOW, (500, {})))

    do_GET = do_HEAD = do_POST

    def answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: the clients speak."""


def ask_anthropic(base: str) -> None:
    import anthropic

    client = anthropic.Anthropic(api_key="x", base_url=base)
    asked = [{"role": "user", "content": "A or B?"}]
    client.messages.create(model="m", max_tokens=8, messages=asked)  # type: ignore[arg-type]


def ask_openai(base: str) -> None:
    import openai

    client = openai.OpenAI(api_key="x", base_url=f"{base}/v1")
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "A or B?"}])


def ask_requests(base: str) -> None:
    import requests

    requests.post(base + "/v1/chat/completions", json={}, timeout=5).json()


def ask_httpx(base: str) -> None:
    import httpx

    httpx.post(base + "/v1/chat/completions", json={}, timeout=1).json()


def ask_group(base: str) -> None:
    import httpx

    async def one(client: httpx.AsyncClient) -> None:
        (await client.post(base + "/v1/score")).raise_for_status()

    async def all_of_them() -> None:
        async with httpx.AsyncClient() as client, asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(one(client))

    asyncio.run(all_of_them())


def ask_hub(base: str) -> None:
    os.environ["HF_ENDPOINT"] = base
    from huggingface_hub import snapshot_download

    snapshot_download("lab/weights")


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 8099), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for number in range(1, 41):
        globals()["ask_" + HOW.partition("-")[0]]("http://127.0.0.1:8099")
        print(f"item {number}/40 answered", flush=True)
