"""Who did not answer: the model endpoint that a run works with, its own ranks, or something else on the network.

The words of a broken connection, a time-out or an answer 503 are the same for
all. What they are about is told by the address in the message, the error's own
package, and the libraries among the frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from runherd.diagnose.cause import Cause
from runherd.diagnose.scene import Scene
from runherd.diagnose.tracebacks import Frame, Raised, frame_of

ENDPOINT, ELSEWHERE, RANKS = "PROXY_DOWN", "NETWORK", "DISTRIBUTED"
DENIALS = ("forbidden", "tracking-service", "tls")  #: signatures that tell it by themselves
NEAR_LINES = 4  #: around the evidence that are read too

_CLIENTS = (
    r"openai|anthropic|litellm|cohere|mistralai|groq|together|ollama|vllm|sglang|lmdeploy|text_generation|tritonclient"
    r"|google[./\\](?:genai|generativeai)|vertexai|zhipuai|dashscope|qianfan|volcenginesdk\w*|replicate|fireworks"
    r"|ragas|deepeval|lm_eval|vlmeval|phoenix|langchain\w*|llama_index|dspy|instructor|inspect_ai|promptfoo|autogen\w*"
)
_STORES = (
    r"huggingface_hub|datasets|hf_transfer|hf_xet|modelscope|kaggle|kagglehub|gdown|wget|pooch|tfds|tensorflow_datasets|nltk"
    r"|boto3|botocore|s3fs|s3transfer|gcsfs|fsspec|pip|wandb|mlflow|comet_ml|neptune|clearml|swanlab|aim|tiktoken|webdataset"
)
#: An address that only a model endpoint has, whoever its host is.
_ENDPOINT_ADDRESS = re.compile(
    r"(?i)/v1(?:beta)?/|chat/completions|/api/(?:chat|generate|tags|show)\b|/(?:generate|completions?|embeddings)\b"
    r"|api-inference\.huggingface|router\.huggingface|\bInvokeModel"
    r"|bedrock|sagemaker-runtime|/invocations?\b|/invoke\b|aiplatform|:(?:predict|generateContent)\b"
)
#: A host near by mostly serves a model, unless the frames are those of another service's client.
_NEAR_HOST = re.compile(
    r"(?i)\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d|\bhost='(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.)"
)
_SAYS_ENDPOINT = re.compile(
    rf"(?i)\b(?:{_CLIENTS})\.\w|(?<![a-z])(?:api|llm|inference)[\w.-]*\.(?:com|ai|cn|net|io)\b"
    r"|\b(?:API(?:Connection|Timeout|Status)Error|InternalServerError|judge|inference server|model server|llm|chat completion)\b"
)
_SAYS_ELSEWHERE = re.compile(
    rf"(?i)\b(?:{_STORES})\.\w|huggingface\.co|\bhf\.co\b|hf-mirror|github(?:usercontent)?\.com|pypi\.|pythonhosted|conda|download|dataset"
    r"|amazonaws|googleapis\.com/(?!v1beta)|zenodo|kaggle|wandb|mlflow"
    r"|docker|quay\.io|ghcr|registry|git |gitlab|\bclone\b|mirror|\bhub\b|blob\.core|\b(?:ssh|scp|rsync): "
)
#: Words that only processes of one run use among each other.
_SAYS_RANKS = re.compile(
    r"\bNCCL\b|\bncclI\w+|\bProcessGroup|\bc10d\b|\bTCPStore\b|\bgloo\b|\b(?:DistBackend|DistStore|DistNetwork)Error"
    r"|(?i:\bcoordination service\b|\brendezvous\b|/job:\w+/replica|\bRPC call to \w+ timed out|\bhorovod\b|\bbarrier\b)"
)
_FRAME_RANKS = re.compile(
    r"[/\\]torch[/\\]distributed[/\\]|[/\\]vllm[/\\](?:v1[/\\])?(?:executor|engine)[/\\]|[/\\]horovod[/\\]|[/\\]distributed[/\\](?:comm[/\\]\w+|comm|core)\.py$"
    r"|[/\\]ray[/\\]_private[/\\]services\.py$"
)
_FRAME_ENDPOINT = re.compile(
    rf"(?i)[/\\](?:{_CLIENTS})[/\\]|vllm|sglang|ollama|(?:llm|api|model|judge|chat)_?(?:client|judge|api)\w*\.py$"
)
_CALL_ENDPOINT = re.compile(r"(?i)vllm|openai|anthropic|\bllm|chat_?compl|\bcompletion|\bjudge|ask_model|call_(?:api|model|llm)")
_CALL_ELSEWHERE = re.compile(r"(?i)download|from_pretrained|load_dataset|\bhf_|snapshot|wandb|urlretrieve|fetch_data")
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
    chain = list(_chain(scene, cause))
    for raised in chain:
        yield _of_text(raised.text)
        for frame in reversed(raised.frames):
            yield _of_frame(frame)
    for raised in chain:
        yield from (_of_text(text) for text in _sources(scene, raised))
    for raised in chain:
        yield _near(raised.text)
    at = sorted(cause.lines)
    around = (range(max(0, i - NEAR_LINES), min(len(scene.lines), i + NEAR_LINES + 1)) for i in at)
    for i in (*at, *(j for near in around for j in near)):
        yield _of_text(scene.lines[i].text) or _near(scene.lines[i].text)


def _sources(scene: Scene, raised: Raised) -> Iterator[str]:
    """Yield the source lines under the user's own frames, the deepest first."""
    for i in range(raised.end - 1, raised.begin, -1):
        frame = frame_of(scene.lines[i].text)
        if frame and frame.is_user:
            yield scene.lines[i + 1].text


def _of_frame(frame: Frame) -> str | None:
    """Return what a frame's file says, else the name of its function."""
    for peer, in_file, in_name in (
        (RANKS, _FRAME_RANKS, None),
        (ENDPOINT, _FRAME_ENDPOINT, _CALL_ENDPOINT),
        (ELSEWHERE, _FRAME_ELSEWHERE, _CALL_ELSEWHERE),
    ):
        if in_file.search(frame.file) or (in_name and in_name.search(frame.name)):
            return peer
    return None


def _chain(scene: Scene, cause: Cause) -> Iterator[Raised]:
    """Yield the exception of a cause, and those that were raised because of it."""
    if cause.raised is None:
        return
    yield cause.raised
    followers = [r for r in scene.raised if r.begin > cause.raised.begin]
    yield from takewhile(lambda r: r.chained, followers)


def _of_text(text: str) -> str | None:
    """Return what a line names; one that names both the endpoint and something else says nothing."""
    if _SAYS_RANKS.search(text):
        return RANKS
    if _ENDPOINT_ADDRESS.search(text):
        return ENDPOINT
    endpoint, elsewhere = _SAYS_ENDPOINT.search(text), _SAYS_ELSEWHERE.search(text)
    if bool(endpoint) == bool(elsewhere):
        return None
    return ENDPOINT if endpoint else ELSEWHERE


def _near(text: str) -> str | None:
    return ENDPOINT if _NEAR_HOST.search(text) else None
