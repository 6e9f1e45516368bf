"""Watch runs: read what is new, weigh the evidence, say one line."""
