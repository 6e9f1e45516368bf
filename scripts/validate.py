"""Door to runherd.steps.validate; see `--help`."""

import sys

from runherd.steps import job
from runherd.steps.validate import main

if __name__ == "__main__":
    sys.exit(job.run(main, sys.argv[1:]))
