"""Whether an endpoint answers at all."""

from __future__ import annotations

import urllib.error
import urllib.request

TIMEOUT_S = 5.0


def answers(url: str) -> bool:
    """Tell whether `url` answers below status 500; 401 and 404 are answers, 403 is a refusal."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="GET"), timeout=TIMEOUT_S):
            return True
    except urllib.error.HTTPError as error:
        with error:
            return error.code < 500 and error.code != 403
    except (OSError, ValueError):
        return False
