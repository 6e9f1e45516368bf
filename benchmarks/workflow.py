"""What runherd costs beside plain Snakemake: a no-op, a dry-run, and trivial runs from end to end.

    PYTHONPATH=src python benchmarks/workflow.py [noop] [runs] [--rows 1000] [--runs 200] [--repeat 5]

Writes the table and what dominates each figure into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import projects
from profiles import LANDMARKS, Program, profile
from timing import Times, alternate

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "RESULTS.md"
INTRO = """\
# Benchmarks

Made by `python benchmarks/workflow.py`. Where other work shares the machine, as here, wall times are noise: CPU \
seconds (of all processes, detached ones too) are the figure to compare.
"""
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "2", "--scheduler", "greedy", "--quiet", "all"]
PROFILED_RUNS = 20  #: enough to see what a run costs
TODO = 10  #: rows that are not done in the mixed case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["noop", "runs"], help="noop, runs (default: both)")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--work", type=Path, default=HERE / ".work", help="folder for the projects, emptied first")
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    if "noop" in args.what:
        write_section("no-op", noop(args.work / "noop", args.rows, args.repeat))
    if "runs" in args.what:
        write_section("trivial runs", trivial_runs(args.work / "runs", args.runs, max(2, args.repeat // 2)))
    print(RESULTS)
    return 0


# -- what is measured ---------------------------------------------------------
def noop(work: Path, rows: int, repeat: int) -> str:
    """Nothing is due: `snakemake` and `snakemake -n`; and `-n` when the last few rows are TODO."""
    empty, plain = projects.empty(work / "empty"), projects.plain(work / "plain", rows, finished=True)
    settled, mixed = projects.settled(work / "settled", rows), projects.settled(work / "mixed", rows, TODO)
    cases = {
        "empty Snakefile": case(empty), "empty Snakefile, -n": case(empty, "-n"),
        "plain Snakemake": case(plain), "plain Snakemake, -n": case(plain, "-n"),
        "runherd": case(settled), "runherd, -n": case(settled, "-n"),
        f"runherd, -n, {TODO} rows TODO": case(mixed, "-n"),
    }  # fmt: skip
    times = alternate(cases, repeat)
    lines = [f"{rows:,} rows DONE in {projects.STAGES} stages, {repeat} repetitions in turn.", ""]
    lines += table(times, {**{n: "empty Snakefile" for n in cases if "-n" not in n},
                           **{n: "empty Snakefile, -n" for n in cases if "-n" in n}})  # fmt: skip
    for title, command in (("no-op", case(settled)), (f"-n with {TODO} rows TODO", case(mixed, "-n"))):
        programs, cpu = profile(command)
        lines += ["", f"What dominates the {title}, {cpu:.2f} s CPU in all:", "", *dominating(programs[:1])]
    return "\n".join(lines)


def trivial_runs(work: Path, runs: int, repeat: int) -> str:
    """Every run writes one small JSON file by a shell command: what is left is the cost of carrying it."""
    count = iter(range(1000))

    def fresh(runs: int = runs) -> tuple[list[str], Path]:
        return SNAKEMAKE, projects.fresh(work / f"runherd{next(count)}", runs)

    def plain() -> tuple[list[str], Path]:
        return SNAKEMAKE, projects.plain(work / f"plain{next(count)}", runs, finished=False)

    times = alternate({"plain Snakemake": plain, "runherd": fresh}, repeat)
    jobs = 3 * runs + projects.STAGES
    lines = [f"{runs} runs in {projects.STAGES} stages, {jobs} jobs, two cores, {repeat} repetitions in turn.", ""]
    lines += table(times, dict.fromkeys(times, "plain Snakemake"))
    few = min(runs, PROFILED_RUNS)
    programs, cpu = profile(lambda: fresh(few))
    lines += ["", f"What dominates ({few} runs, {cpu:.1f} s CPU in all):", "", *dominating(programs, cpu)]
    return "\n".join(lines)


def case(folder: Path, *words: str) -> Callable[[], tuple[list[str], Path]]:
    return lambda: ([*SNAKEMAKE, *words], folder)


# -- how it is told -------------------------------------------------------------
def table(times: dict[str, Times], beside: dict[str, str]) -> list[str]:
    lines = ["| | wall, s | range | CPU, s | wall ratio | CPU ratio |", "|---|---|---|---|---|---|"]
    for name, t in times.items():
        base = times[beside[name]]
        lines.append(
            f"| {name} | {t.wall_s:.2f} | {min(t.wall):.2f}–{max(t.wall):.2f} | {t.cpu_s:.2f} "
            f"| {t.wall_s / base.wall_s:.2f} | {t.cpu_s / base.cpu_s:.2f} |"
        )
    return lines


def dominating(programs: list[Program], total_s: float | None = None) -> list[str]:
    """One line a program: its CPU time, and the shares of landmarks and packages in it."""
    lines = [
        "| program | processes | CPU, s | each, ms | landmarks | own time of packages |",
        "|---|---|---|---|---|---|",
    ]
    order = {label: i for i, (label, _, _) in enumerate(LANDMARKS)}
    for p in programs:
        whole = sum(p.packages.values()) or 1
        marks = [(k.strip("· "), p.landmarks[k] / whole) for k in sorted(p.landmarks, key=order.__getitem__)]
        shares = [(k, v / whole) for k, v in sorted(p.packages.items(), key=lambda kv: -kv[1])]
        said = ["; ".join(f"{k} {v:.0%}" for k, v in some if v >= 0.02) for some in (marks, shares)]
        lines.append(
            f"| {p.name} | {p.count} | {p.cpu_s:.2f} | {1000 * p.cpu_s / p.count:.0f} | {said[0]} | {said[1]} |"
        )
    if total_s is not None:
        rest = total_s - sum(p.cpu_s for p in programs)
        lines.append(f"| supervisors, wrappers, shells, starts of Python | | {rest:.2f} | | not profiled | |")
    return [
        *lines,
        "",
        "Shares are of the time under the profiler without waiting; landmarks overlap (callers and callees).",
    ]


def write_section(title: str, body: str) -> None:
    """Replace one section of RESULTS.md; the others stay."""
    old = RESULTS.read_text() if RESULTS.exists() else INTRO
    mark = f"## {title}\n"
    before, _, rest = old.partition(mark)
    _, found, after = rest.partition("\n## ")
    when = datetime.datetime.now(datetime.UTC).date()
    import snakemake

    where = f"{when}, snakemake {snakemake.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores"
    text = f"{before.rstrip()}\n\n{mark}\n{where}. {body}\n" + (f"\n## {after}" if found else "")
    RESULTS.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
