"""Diagnose failures: the first cause, with its evidence and what can be done."""

from runherd.diagnose.record import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]
