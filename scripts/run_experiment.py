"""Resolve and run one experiment from a short command line (see `--help`)."""

import sys
from pathlib import Path

source = Path(__file__).resolve().parent.parent / "src"
if source.is_dir():  # a clone: its own package, installed or not
    sys.path.insert(0, str(source))

from runherd.steps.run_experiment import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
