"""From tracker, layers and ledgers to one frozen plan per invocation."""
