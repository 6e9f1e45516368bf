"""Who did not answer: the model endpoint that a run works with, or something else on the network.

The words of a broken connection, a time-out or an answer 503 are the same for
both. What they are about is told by the address in the message, the error's own
package, and the libraries among the frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from runherd.diagnose.cause import Cause
from runherd.diagnose.scene import Scene
from runherd.diagnose.tracebacks import Raised

ENDPOINT, ELSEWHERE = "PROXY_DOWN", "NETWORK"
DENIALS = ("forbidden", "tracking-service")  #: signatures that tell it by themselves
NEAR_LINES = 4  #: around the evidence that are read too

_CLIENTS = (
    r"openai|anthropic|litellm|cohere|mistralai|groq|together|ollama|vllm|sglang|lmdeploy|text_generation|tritonclient"
    r"|google[./\\](?:genai|generativeai)|vertexai|zhipuai|dashscope|qianfan|volcenginesdk\w*|replicate|fireworks"
)
_STORES = (
    r"huggingface_hub|datasets|hf_transfer|hf_xet|modelscope|kaggle|kagglehub|gdown|wget|pooch|tfds|tensorflow_datasets|nltk"
    r"|boto3|botocore|s3fs|s3transfer|gcsfs|fsspec|pip|wandb|mlflow|comet_ml|neptune|clearml|swanlab|aim|tiktoken|webdataset"
)
#: An address that only a model endpoint has, whoever its host is.
_ENDPOINT_ADDRESS = re.compile(
    r"(?i)/v1(?:beta)?/|chat/completions|/api/(?:chat|generate|tags|show)\b|/(?:generate|completions?|embeddings)\b"
    r"|\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d|\bhost='(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.)|api-inference\.huggingface|router\.huggingface|\bInvokeModel"
)
_SAYS_ENDPOINT = re.compile(
    rf"(?i)\b(?:{_CLIENTS})\.\w|(?:api|llm|inference)[\w.-]*\.(?:com|ai|cn|net|io)\b"
    r"|\b(?:API(?:Connection|Timeout|Status)Error|InternalServerError|judge|inference server|model server|llm|chat completion)\b"
)
_SAYS_ELSEWHERE = re.compile(
    rf"(?i)\b(?:{_STORES})\.\w|huggingface\.co|\bhf\.co\b|hf-mirror|github(?:usercontent)?\.com|pypi\.|pythonhosted|conda|download|dataset"
    r"|amazonaws|googleapis\.com/(?!v1beta)|zenodo|kaggle|wandb|mlflow"
    r"|docker|quay\.io|ghcr|registry|git |gitlab|\bclone\b|mirror|\bhub\b|blob\.core"
)
_FRAME_ENDPOINT = re.compile(rf"[/\\](?:{_CLIENTS})[/\\]|(?:vllm|llm|api|model|judge|chat)_?(?:client|judge|api)\w*\.py$")
_FRAME_ELSEWHERE = re.compile(
    rf"[/\\](?:{_STORES})[/\\]|[/\\]torch[/\\]hub\.py$|[/\\]torchvision[/\\]datasets|[/\\]transformers[/\\]utils[/\\]hub\.py$"
)


def told_apart(scene: Scene, cause: Cause) -> Cause:
    """Return a cause of the network with the class of what was talked to, where the log tells it."""
    if cause.cls not in (ENDPOINT, ELSEWHERE) or cause.signature in DENIALS:
        return cause
    found = next((peer for peer in _hints(scene, cause) if peer), None)
    return replace(cause, cls=found) if found else cause


def _hints(scene: Scene, cause: Cause) -> Iterator[str | None]:
    """Yield what each sign says, the most telling first."""
    for raised in _chain(scene, cause):
        yield _of_text(raised.text)
        for frame in reversed(raised.frames):
            yield (
                ENDPOINT
                if _FRAME_ENDPOINT.search(frame.file)
                else ELSEWHERE
                if _FRAME_ELSEWHERE.search(frame.file)
                else None
            )
    at = sorted(cause.lines)
    for i in at:
        yield _of_text(scene.lines[i].text)
    for i in at:
        for j in range(max(0, i - NEAR_LINES), min(len(scene.lines), i + NEAR_LINES + 1)):
            yield _of_text(scene.lines[j].text)


def _chain(scene: Scene, cause: Cause) -> Iterator[Raised]:
    """Yield the exception of a cause, and those that were raised because of it."""
    if cause.raised is None:
        return
    yield cause.raised
    followers = [r for r in scene.raised if r.begin > cause.raised.begin]
    yield from takewhile(lambda r: r.chained, followers)


def _of_text(text: str) -> str | None:
    """Return what a line names; one that names both says nothing."""
    if _ENDPOINT_ADDRESS.search(text):
        return ENDPOINT
    endpoint, elsewhere = _SAYS_ENDPOINT.search(text), _SAYS_ELSEWHERE.search(text)
    if bool(endpoint) == bool(elsewhere):
        return None
    return ENDPOINT if endpoint else ELSEWHERE
