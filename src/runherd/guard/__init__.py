"""A small OpenAI-compatible proxy that lives and dies with one run: limits, retries, routing, counters.

Standard library only: it starts under ``python -I -S`` beside the program.
"""
