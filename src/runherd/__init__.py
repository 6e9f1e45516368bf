"""Carry a tracker of experiments through, unattended, on Snakemake."""

__version__ = "0.1.0"
