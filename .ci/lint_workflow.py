"""Run `snakemake --lint` and fail on every advice that is not answered here.

This is the one place where advice is turned down, each with its reason.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

#: Advice -> the rules (by the start of their names) for which it is turned down.
ANSWERED = {
    # Our rules run runherd's own scripts in the Python that runs Snakemake. What a *program* runs in is its
    # own affair, and is said per project or run: `execution.python`, `execution.activate`.
    "Specify a conda environment or container for each rule.": ("",),
    # The barrier only touches a file; the report, and a target with nothing to do, speak to the terminal on purpose.
    "No log directive defined": ("dryruns", "report", "run_", "dryrun_", "validate_"),
}

_OF = re.compile(r"^Lints for (?:rule|snakefile) (.+?)(?: \(line \d+, .*\))?:$")
_ADVICE = re.compile(r"^    \* (.+):$")


def main() -> int:
    root = Path(__file__).resolve().parents[1]
    snakemake = Path(sys.executable).parent / "snakemake"
    done = subprocess.run([str(snakemake), "--lint"], cwd=root, capture_output=True, text=True, check=False)
    found = advice(done.stderr.splitlines())
    still_open = [f"{of}: {said}" for of, said in found if not of.startswith(ANSWERED.get(said, ()))]
    if done.returncode and not found:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        return done.returncode
    for line in still_open:
        print(line, file=sys.stderr)
    print(f"snakemake --lint: {len(still_open)} open, {len(found) - len(still_open)} answered in .ci/lint_workflow.py")
    return 1 if still_open else 0


def advice(lines: list[str]) -> list[tuple[str, str]]:
    """Pairs of a rule (or Snakefile) and the title of an advice that it got."""
    found: list[tuple[str, str]] = []
    of = ""
    for line in lines:
        if match := _OF.match(line):
            of = match[1]
        elif match := _ADVICE.match(line):
            found.append((of, match[1]))
    return found


if __name__ == "__main__":
    sys.exit(main())
