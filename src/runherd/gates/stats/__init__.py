"""The statistics behind the gates: small pure functions over numpy arrays."""
