"""A broken connection, a time-out or a 503: of the model endpoint, or of the rest of the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from runherd.diagnose import diagnose

SITE = "/opt/env/lib/python3.12/site-packages"


def traceback(package: str, exception: str) -> str:
    """Return a traceback through a library's frames."""
    return (
        "item 4/90\nTraceback (most recent call last):\n"
        '  File "/home/user/run.py", line 20, in main\n    answer = ask(item)\n'
        f'  File "{SITE}/{package}", line 88, in send\n    raise error\n{exception}\n'
    )


@pytest.mark.parametrize(
    ("text", "cls"),
    [
        (traceback("openai/_base_client.py", "openai.APITimeoutError: Request timed out."), "PROXY_DOWN"),
        (traceback("httpx/_transports/default.py", "httpx.ReadTimeout: The read operation timed out"), "NETWORK"),
        (traceback("openai/_base_client.py", "httpx.ReadTimeout: The read operation timed out"), "PROXY_DOWN"),
        (
            traceback(
                "requests/adapters.py",
                "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('x'))",
            )
            + "while calling http://127.0.0.1:8000/generate\n",
            "PROXY_DOWN",
        ),
        (
            traceback(
                "requests/models.py",
                "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: https://huggingface.co/api/models/x",
            ),
            "NETWORK",
        ),
        (
            traceback(
                "huggingface_hub/file_download.py",
                "requests.exceptions.ConnectionError: [Errno 111] Connection refused",
            ),
            "NETWORK",
        ),
        (
            traceback(
                "huggingface_hub/inference/_client.py",
                "requests.exceptions.HTTPError: 503 Server Error for url: https://router.huggingface.co/v1/chat/completions",
            ),
            "PROXY_DOWN",
        ),
        (
            traceback(
                "botocore/client.py",
                "botocore.errorfactory.AccessDeniedException: An error occurred (AccessDeniedException) when calling the"
                " InvokeModel operation: denied",
            ),
            "PROXY_DOWN",
        ),
    ],
)
def test_who_was_talked_to(tmp_path: Path, text: str, cls: str) -> None:
    """The address in the message decides, then the library among the frames, then the lines around."""
    log = tmp_path / "log.txt"
    log.write_text(text)
    assert diagnose(log, {"code": 1}, {}).cls == cls
