"""The steps that rules run; each is also a command of its own through `scripts/`."""
