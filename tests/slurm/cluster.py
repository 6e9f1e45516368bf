"""A real Slurm of two virtual nodes on this machine, started for the tests: munged, slurmctld, two slurmd, no systemd.

Everything (configuration, key, spool, logs, pid files) lies in one folder;
nothing under /etc is read or written. Both nodes have this machine's name, so
what is special to several hosts is tested elsewhere (`tests/supervise/test_hosts.py`).
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from debian import search_path

DAEMONS = ("munged", "slurmctld", "slurmd")
PROGRAMS = {
    "munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd",
    **dict.fromkeys(("sbatch", "scancel", "squeue", "scontrol", "sinfo", "srun"), "slurm-client"),
}  # fmt: skip
NODES = ("n1", "n2")
READY_S = 40

CONFIGURATION = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0,requeue_delay=0
MinJobAge=3600
KillWait=5
InactiveLimit=0
ReturnToService=2
CompleteWait=0
JobRequeue=1
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE DefaultTime=60 DefMemPerCPU=100 OverTimeLimit=0 State=UP
"""


class Cluster:
    def __init__(self, folder: Path) -> None:
        """`folder` must have a short path without spaces: sockets and Slurm's own configuration ask for it."""
        self.folder = folder
        for name in ("state", "run", "log", "munge", "bin", *(f"spool.{n}" for n in NODES)):
            (folder / name).mkdir(parents=True)
        folder.chmod(0o755)
        (folder / "munge").chmod(0o755)
        self.env = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder / 'bin'}:{search_path()}"}

    # -- daemons -----------------------------------------------------------------
    def start(self) -> None:
        """Start the daemons and wait until both nodes are idle."""
        self._configure()
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self._daemon(
            "munged", "--force", f"--key-file={key}", f"--socket={self.folder}/munge/socket", "--num-threads=2",
            f"--pid-file={self.folder}/run/munged.pid", f"--log-file={self.folder}/log/munged",
            f"--seed-file={self.folder}/munge/seed",
        )  # fmt: skip
        until((self.folder / "munge" / "socket").exists, "munge's socket is there", READY_S)
        self._daemon("slurmctld")
        for node in NODES:
            self._daemon("slurmd", "-N", node)
        until(lambda: self.ask("sinfo", "-h", "-N", "-p", "main", "-t", "idle", "-o", "%N").split() == list(NODES),
              "both nodes are idle", READY_S)  # fmt: skip

    def _configure(self) -> None:
        ports = free_ports(1 + len(NODES))
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=2000"
            for name, port in zip(NODES, ports[1:], strict=True)
        )
        host = socket.gethostname()
        text = CONFIGURATION.format(host=host, port=ports[0], folder=self.folder, nodes=nodes)
        (self.folder / "slurm.conf").write_text(text)
        # The executor drops every SLURM_* variable before its inner srun: that one must find this cluster without.
        srun = self.folder / "bin" / "srun"
        real = shutil.which("srun", path=search_path())
        srun.write_text(f"#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {real} \"$@\"\n")
        srun.chmod(0o755)

    def _daemon(self, name: str, *args: str) -> None:
        subprocess.run(
            [shutil.which(name, path=search_path()) or name, *args], env={**os.environ, **self.env}, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip

    def stop(self) -> None:
        """End the daemons that `start` started, by their pid files, and only while these are still theirs."""
        subprocess.run(["scancel", "-u", "root"], env={**os.environ, **self.env}, capture_output=True, timeout=20)
        until(lambda: not self.ask("squeue", "-h"), "no job is left", READY_S)
        for file in sorted((self.folder / "run").glob("*.pid"), reverse=True):
            pid = int(file.read_text())
            if self._name(pid).startswith(DAEMONS):
                os.kill(pid, signal.SIGKILL)

    def _name(self, pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            return ""

    # -- using it ------------------------------------------------------------------
    def ask(self, *command: str) -> str:
        """What a Slurm tool prints; empty where it fails."""
        done = subprocess.run(command, env={**os.environ, **self.env}, capture_output=True, text=True, timeout=20)
        return done.stdout if done.returncode == 0 else ""

    def jobs(self) -> list[str]:
        """The ids of all jobs so far, oldest first."""
        return sorted(self.ask("squeue", "-h", "--states=all", "-o", "%i").split(), key=int)

    def state(self, job: str) -> str:
        return self.ask("squeue", "-h", "--states=all", "-j", job, "-o", "%T").strip()


def until(probe: Callable[[], object], what: str, within_s: float) -> None:
    end = time.monotonic() + within_s
    while not probe():
        if time.monotonic() > end:
            raise AssertionError(f"not within {within_s} s: {what}")
        time.sleep(0.1)


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()
