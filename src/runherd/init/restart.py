"""Starting the controller again after a reboot: a systemd user unit, or a cron line. Pure but for `install_*`."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

from runherd.errors import fail


def unit_name(root: Path) -> str:
    """A name for the unit that tells the project, made of letters that a unit may have."""
    return "runherd-" + (re.sub(r"[^A-Za-z0-9]+", "-", root.name).strip("-").lower() or "project") + ".service"


def unit_path(root: Path, home: Path) -> Path:
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return config / "systemd" / "user" / unit_name(root)


def unit(root: Path, python: str, snakefile: str) -> str:
    """A user unit that starts Snakemake in the project.

    By its kill mode, stopping the unit ends the controller alone, the runs
    go on, as after `runherd stop`.
    """
    _refuse_newlines(root, python)
    words = [python, "-m", "snakemake", "--snakefile", snakefile, "--cores", "all"]
    return f"""\
[Unit]
Description=runherd in {_percent(str(root))}

[Service]
Type=exec
WorkingDirectory={_percent(str(root))}
ExecStart={" ".join(_quoted(w) for w in words)}
KillMode=process
KillSignal=SIGTERM
TimeoutStopSec=10

[Install]
WantedBy=default.target
"""


def unit_steps(root: Path) -> list[str]:
    """The commands that put the unit to work, at boot and without a login."""
    return [
        "systemctl --user daemon-reload", f"systemctl --user enable {unit_name(root)}",
        f"loginctl enable-linger {os.environ.get('USER') or '$USER'}    # at boot, without a login",
    ]  # fmt: skip


def cron_line(root: Path, python: str, snakefile: str) -> str:
    """One crontab line; in a crontab a bare % would end the command."""
    _refuse_newlines(root, python)
    log = ".runherd/cron.log"
    words = f"mkdir -p .runherd && {shlex.quote(python)} -m snakemake --snakefile {snakefile} --cores all >>{log} 2>&1"
    return f"@reboot cd {shlex.quote(str(root))} && {words}".replace("%", r"\%")


def install_cron(line: str) -> bool:
    """Add the line to the user's crontab, once; False when it is there. Raises `UserError` without cron."""
    try:
        old = subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=False)
    except OSError:
        raise fail("there is no crontab command here", hint="runherd init --systemd") from None
    present = old.stdout if old.returncode == 0 else ""
    if line in present.splitlines():
        return False
    text = present + ("" if not present or present.endswith("\n") else "\n") + line + "\n"
    done = subprocess.run(["crontab", "-"], input=text, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise fail("the crontab could not be changed", value=done.stderr.strip())
    return True


def _refuse_newlines(root: Path, python: str) -> None:
    for text in (str(root), python):
        if "\n" in text:
            raise fail("a path with a line break cannot stand in a unit or a crontab", value=repr(text))


def _percent(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    """A word of ExecStart: systemd expands % and $, and knows C escapes in double quotes."""
    text = _percent(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{text}"' if re.search(r"[^\w./%@:+=-]", word) else text
