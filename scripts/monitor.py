#!/usr/bin/env python3
"""Look at a run: scripts/monitor.py RESULT.json --log LOG --expected N, or a run id."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src"))

from runherd.steps.monitor import main

if __name__ == "__main__":
    sys.exit(main())
