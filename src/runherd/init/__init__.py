"""Setting a repository up: what is there, which names are free, which files to write, and writing them."""
