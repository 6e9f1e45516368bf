"""The `runherd` command: one module per family of commands, each imported only when it is called."""
