"""An environment with the built wheel in it, and no file of the checkout within reach."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Installed:
    """A virtual environment that holds the wheel."""

    wheel: Path
    bin: Path

    def run(self, *words: str, cwd: Path, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command of this environment as a user would: its `bin` first, nothing else of Python's set."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "RUNHERD", "SNAKEMAKE"))}
        env = {**kept, "PATH": f"{self.bin}:/usr/bin:/bin", "VIRTUAL_ENV": str(self.bin.parent)}
        return subprocess.run(
            [str(self.bin / words[0]), *words[1:]], cwd=cwd, env=env, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=timeout_s, check=False,
        )  # fmt: skip


def build_wheel(target: Path) -> Path:
    """Build the wheel from the checkout with the build backend that is installed here (no network)."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(REPOSITORY)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    (wheel,) = target.glob("runherd-*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Installed:
    """Make a virtual environment of the wheel and links to the dependencies that are installed here.

    The dependencies are linked one by one, but for runherd's own traces (the
    editable install and its path file): so no file of the checkout is within
    reach, and nothing is downloaded.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    for source in (Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")):
        for entry in source.iterdir():
            if "runherd" in entry.name.lower() or entry.suffix == ".pth" or entry.name.startswith("__editable__"):
                continue
            if not (site / entry.name).exists():
                (site / entry.name).symlink_to(entry)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name, module in (("runherd", "runherd.cli.main"), ("snakemake", "snakemake.cli")):
        script = folder / "bin" / name
        script.write_text(f"#!{folder}/bin/python\nimport sys\nfrom {module} import main\nsys.exit(main())\n")
        script.chmod(0o755)
    return Installed(wheel, folder / "bin")
