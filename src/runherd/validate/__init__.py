"""Validate results: a number enters the tracker only if it deserves to."""

from runherd.validate.verdict import Validation, validate, validate_file

__all__ = ["Validation", "validate", "validate_file"]
