"""Door to runherd.steps.dry_run; see `--help`."""

import sys

from runherd.steps import job
from runherd.steps.dry_run import main

if __name__ == "__main__":
    sys.exit(job.run(main, sys.argv[1:]))
