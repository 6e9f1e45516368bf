"""Door to runherd.steps.preflight; see `--help`."""

import sys

from runherd.steps import job
from runherd.steps.preflight import main

if __name__ == "__main__":
    sys.exit(job.run(main, sys.argv[1:]))
