"""The steps that the rules run."""
