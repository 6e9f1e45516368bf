"""`runherd COMMAND …`: finds the command's module, imports only that one, returns its exit code."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence

from runherd import __version__, exitcodes
from runherd.errors import UserError
from runherd.output import to_whoever_reads

#: command -> (module, what it does)
COMMANDS = {
    "init": ("init_commands", "set a repository up: shows the files first, overwrites none"),
    "preflight": ("control_commands", "check machine, paths, configuration and plan; launches nothing"),
    "status": ("state_commands", "where every run and gate stands"),
    "start": ("control_commands", "start the controller, detached; or hand targets to the one at work"),
    "stop": ("control_commands", "end the controller within 5 s; the runs go on"),
    "wait": ("state_commands", "wait for a run or a gate"),
    "monitor": ("watch_commands", "look at one run, ours or not, in one line"),
    "diagnose": ("diagnose_commands", "why a run ended, ours or not: cause, evidence, what to do"),
    "cancel": ("control_commands", "stop a run for good; its checkpoint is kept"),
    "takeover": ("control_commands", "carry on here a run whose host is gone for good"),
    "adopt": ("control_commands", "take over a run that runherd did not start"),
    "rerun": ("control_commands", "repeat a finished run from its frozen spec and commit, and compare"),
    "sync": ("control_commands", "write what the ledgers say into the tracker"),
    "validate": ("watch_commands", "check the data quality of a result"),
    "cost": ("cost_commands", "what runs, stages and the campaign have cost"),
    "gate": ("gate_commands", "judge a stage; or override its gate, recorded for ever"),
    "compare": ("gate_commands", "comparison tables of runs"),
    "plan": ("gate_commands", "what the planned runs can show (power)"),
    "explain": ("config_commands", "where a value of a run's configuration comes from"),
    "config": ("config_commands", "check the configuration files"),
    "tracker": ("tracker_commands", "check, list or set rows of a tracker"),
    "doctor": ("doctor_commands", "check this machine and this repository"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a user's mistake is told without a traceback.

    The exit code is that of the verdict, whether or not somebody reads the output to its end.
    """
    with to_whoever_reads():
        return _run(list(sys.argv[1:] if argv is None else argv))


def _run(args: list[str]) -> int:
    try:
        parsed = _parser(args).parse_args(args)
        handler = parsed.func if hasattr(parsed, "func") else parsed.run
        code = int(handler(parsed))
        sys.stdout.flush()
        return code
    except UserError as e:
        print(f"runherd: {e}", file=sys.stderr)
        return e.exit_code
    except OSError as e:
        if e.errno != errno.ENOSPC or e.filename:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"runherd: the output cannot be written: {e.strerror}", file=sys.stderr)
        return exitcodes.USAGE
    except KeyboardInterrupt:
        return 130


def _parser(args: Sequence[str]) -> argparse.ArgumentParser:
    codes = "; ".join(f"{code} {text}" for code, text in exitcodes.MEANING.items())
    parser = argparse.ArgumentParser(
        prog="runherd", description="Carry a tracker of experiments through, unattended, on Snakemake.",
        epilog=f"exit codes: {codes}",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"runherd {__version__}")
    sub = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    named = next((a for a in args if not a.startswith("-")), None)
    if named in COMMANDS:
        importlib.import_module(f"runherd.cli.{COMMANDS[named][0]}").add_parsers(sub)
    for command, (_, text) in COMMANDS.items():
        if command not in sub.choices:
            sub.add_parser(command, help=text)
    return parser


if __name__ == "__main__":
    sys.exit(main())
