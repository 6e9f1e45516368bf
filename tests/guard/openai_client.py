"""A client script as people have it: the real `openai` package and nothing of runherd. Run by tests, not imported.

Answers questions in the three ways that such scripts use (one call after the
other, many at once by asyncio, streamed), and writes one result file at the end.
"""

import asyncio
import json
import os

from openai import APIStatusError, AsyncOpenAI, OpenAI

MODEL = "gpt-4o"


def question(name):
    return {"model": MODEL, "messages": [{"role": "user", "content": name}]}


def plain(client, name):
    return client.chat.completions.create(**question(name)).choices[0].message.content


def streamed(client, name):
    said = []
    for part in client.chat.completions.create(**question(name), stream=True, stream_options={"include_usage": True}):
        if part.choices and part.choices[0].delta.content:
            said.append(part.choices[0].delta.content)
    return "".join(said)


async def many(names):
    async with AsyncOpenAI() as client:
        calls = [client.chat.completions.create(**question(n)) for n in names]
        return [c.choices[0].message.content for c in await asyncio.gather(*calls)]


def main():
    items = []
    with OpenAI() as client:
        models = [m.id for m in client.models.list()]
        for name in ("s0", "s1", "s2"):
            items.append((name, plain(client, name)))
        for name in ("t0", "t1"):
            items.append((name, streamed(client, name)))
        failed = {}
        for name in ("refused", "limited"):
            try:
                plain(client, name)
            except APIStatusError as e:
                failed[name] = [e.status_code, e.code]
    names = [f"a{i}" for i in range(20)]
    items += zip(names, asyncio.run(many(names)), strict=True)
    per_item = [{"id": n, "response": said, "correct": i % 2 == 0} for i, (n, said) in enumerate(items)]
    result = {"metrics": {}, "per_item": per_item, "complete": True, "models": models, "failed": failed}
    with open(os.environ["RUNHERD_RESULT"], "w") as f:
        json.dump(result, f)


main()
