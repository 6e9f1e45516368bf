#!/usr/bin/env python3
"""Judge the data of a result: scripts/validate.py RESULT.json --expected N."""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src"))  # noqa: PTH100, PTH118, PTH120

from runherd.errors import UserError
from runherd.validate.arguments import add_arguments
from runherd.validate.command import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="validate", description=__doc__)
    add_arguments(parser)
    try:
        return run(parser.parse_args())
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
