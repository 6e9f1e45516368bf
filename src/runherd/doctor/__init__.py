"""`runherd doctor`: is this machine, this environment and this repository fit for runs that nobody watches?"""

from __future__ import annotations

from runherd.doctor.finding import Check, Level
from runherd.doctor.report import examine

__all__ = ["Check", "Level", "examine"]
