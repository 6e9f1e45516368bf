"""Power of the planned comparisons, and the smallest difference that they can detect."""

from __future__ import annotations

import math
from collections.abc import Callable

from runherd.gates.stats.student import normal_quantile, t_quantile


def power_of_seeds(difference: float, sd: float, n_first: int, n_second: int, alpha: float) -> float:
    """Power of a two-sided two-sample t test (noncentral t) with a common `sd` over seeds."""
    from scipy import special

    df = n_first + n_second - 2
    shift = difference / (sd * math.sqrt(1.0 / n_first + 1.0 / n_second))
    cut = t_quantile(1.0 - alpha / 2.0, df)
    return float(special.nctdtr(df, shift, -cut) + 1.0 - special.nctdtr(df, shift, cut))


def power_of_scores(difference: float, sd: float, n: int, alpha: float) -> float:
    """Power of a two-sided paired t test on `n` item differences with standard deviation `sd`."""
    from scipy import special

    shift = difference / sd * math.sqrt(n)
    cut = t_quantile(1.0 - alpha / 2.0, n - 1)
    return float(special.nctdtr(n - 1, shift, -cut) + 1.0 - special.nctdtr(n - 1, shift, cut))


def power_of_answers(difference: float, discordance: float, n: int, alpha: float) -> float:
    """Power of the exact McNemar test on `n` items of which a share `discordance` is answered differently.

    `difference` is (better - worse) / n and at most `discordance`. Exact: a
    sum over the number of discordant items and over those won.
    """
    import numpy as np
    from scipy import special

    win = 0.5 * (1.0 + difference / discordance)
    total = 0.0
    sd = math.sqrt(n * discordance * (1.0 - discordance))
    low = max(0, math.floor(n * discordance - 7 * sd - 1))
    high = min(n, math.ceil(n * discordance + 7 * sd + 1))
    for m in range(low, high + 1):
        critical = _critical(m, alpha)
        if critical < 0:
            continue
        reject = special.bdtr(critical, m, 1.0 - win) + special.bdtr(critical, m, win)
        log_weight = (
            special.gammaln(n + 1)
            - special.gammaln(m + 1)
            - special.gammaln(n - m + 1)
            + special.xlogy(m, discordance)
            + special.xlog1py(n - m, -discordance)
        )
        total += float(np.exp(log_weight) * reject)
    return min(1.0, total)


def _critical(m: int, alpha: float) -> int:
    """Most items lost of `m` at which the exact two-sided test still rejects; -1 when it never does."""
    from scipy import special

    k = int(special.bdtrik(alpha / 2.0, m, 0.5)) if m > 0 else -1
    k = min(k + 1, m)
    while k >= 0 and 2.0 * special.bdtr(k, m, 0.5) > alpha:
        k -= 1
    return k


def detectable(power_at: Callable[[float], float], most: float, *, power: float = 0.8) -> float | None:
    """Smallest difference in (0, most] that `power_at` detects with `power`; None when even `most` is not."""
    if power_at(most) < power:
        return None
    low, high = 0.0, most
    for _ in range(60):
        middle = 0.5 * (low + high)
        if power_at(middle) < power:
            low = middle
        else:
            high = middle
    return high


def sample_size_of_answers(difference: float, discordance: float, alpha: float, power: float = 0.8) -> int:
    """Items needed by McNemar's test (Connor 1987, Biometrics 43:207-211), an approximation."""
    need = normal_quantile(1.0 - alpha / 2.0) * math.sqrt(discordance)
    need += normal_quantile(power) * math.sqrt(max(0.0, discordance - difference**2))
    return math.ceil((need / difference) ** 2)
