"""The short-lived steps around an attempt: request, prepare, announce, look, settle, finish."""
