"""Student's t from scipy's special functions (scipy.stats would cost a second to import)."""

from __future__ import annotations


def t_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) for T with `df` degrees of freedom."""
    from scipy import special

    return 2.0 * float(special.stdtr(df, -abs(t)))


def t_upper(t: float, df: float) -> float:
    """P(T >= t)."""
    from scipy import special

    return float(special.stdtr(df, -t))


def t_quantile(probability: float, df: float) -> float:
    """The value that T stays below with `probability`."""
    from scipy import special

    return float(special.stdtrit(df, probability))


def normal_quantile(probability: float) -> float:
    """The same for the standard normal."""
    from scipy import special

    return float(special.ndtri(probability))
