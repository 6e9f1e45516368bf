"""First cause over cascade: reports of launchers, ranks, schedulers, chains of exceptions."""

# log lines stand as they are written
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runherd.diagnose import Diagnosis, diagnose

REAL = Path(__file__).with_name("cascades")

TORCHRUN = """\
W1103 10:00:00.000000 139 torch/distributed/run.py:793] Setting OMP_NUM_THREADS to 1
step 40/900 loss 1.21
[rank2]: Traceback (most recent call last):
[rank0]:[E1103 10:00:09 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL
[rank2]:   File "/home/me/proj/train.py", line 210, in <module>
[rank2]:     main()
[rank1]: Traceback (most recent call last):
[rank1]:   File "/home/me/proj/train.py", line 210, in <module>
[rank1]:     main()
[rank2]:   File "/home/me/proj/data/collate.py", line 37, in pad
[rank2]:     raise KeyError(name)
[rank2]: KeyError: 'labels'
[rank1]:   File "/opt/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 83, in wrapper
[rank1]:     return func(*args)
[rank1]: torch.distributed.DistBackendError: NCCL error: ncclRemoteError: A call failed possibly due to a network error
E1103 10:00:12.000000 139 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 2
Traceback (most recent call last):
  File "/opt/v/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/v/lib/python3.11/site-packages/torch/distributed/run.py", line 918, in main
    run(args)
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-01-02_10:00:11
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 141)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-01-02_10:00:10
  host      : node07
  rank      : 2 (local_rank: 2)
  exitcode  : 1 (pid: 142)
============================================================
"""
SNAKEMAKE = """\
Building DAG of jobs...
host: node07
rule evaluate:
    output: results/a.json
Select jobs to execute...
Traceback (most recent call last):
  File "/home/me/bench/evaluate.py", line 55, in score
    rows = json.load(f)
  File "/usr/lib/python3.11/json/decoder.py", line 337, in decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
Error in rule evaluate:
    jobid: 0
    shell:
        python evaluate.py
        (command exited with non-zero exit code)
Exiting because a job execution failed. Look below for error messages
WorkflowError:
At least one job did not complete successfully.
srun: error: node07: task 0: Exited with exit code 1
"""
CHAIN = """\
step 3/9
Traceback (most recent call last):
  File "/opt/v/lib/python3.11/site-packages/urllib3/connection.py", line 203, in _new_conn
    sock = connection.create_connection()
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/v/lib/python3.11/site-packages/urllib3/connectionpool.py", line 791, in urlopen
    response = self._make_request(conn)
urllib3.exceptions.NewConnectionError: Failed to establish a new connection: [Errno 111] Connection refused

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/me/agent/client.py", line 71, in ask
    r = requests.post(url)
requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port=9999): Max retries exceeded
"""
RICH = """\
Epoch 1/3
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /home/me/app/run.py:44 in main                                               │
│                                                                              │
│ ❱ 44     fit(cfg)                                                            │
│ /opt/v/lib/python3.11/site-packages/lib/x.py:9 in fit                        │
╰──────────────────────────────────────────────────────────────────────────────╯
ValueError: learning rate must be positive
"""
RAY = """\
(train_fn pid=4711, ip=10.0.0.2) step 10
(train_fn pid=4711, ip=10.0.0.2) Traceback (most recent call last):
(train_fn pid=4711, ip=10.0.0.2)   File "/home/me/rl/worker.py", line 18, in rollout
(train_fn pid=4711, ip=10.0.0.2)     obs[name]
(train_fn pid=4711, ip=10.0.0.2) IndexError: list index out of range
ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/home/me/a/main.py", line 5, in <module>
  |     asyncio.run(main())
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/home/me/a/task.py", line 9, in work
    |     1 / 0
    | ZeroDivisionError: division by zero
    +------------------------------------
"""
STAMPED = """\
INFO 05-06 01:55:20 [core.py:58] Initializing a V1 LLM engine
(EngineCore pid=114) ERROR 05-06 01:55:26 [core.py:383] EngineCore hit an exception: Traceback (most recent call last):
(EngineCore pid=114) ERROR 05-06 01:55:26 [core.py:383]   File "/usr/local/lib/python3.12/dist-packages/vllm/v1/engine/core.py", line 374, in run_engine_core
(EngineCore pid=114) ERROR 05-06 01:55:26 [core.py:383]     engine_core = EngineCoreProc(*args, **kwargs)
(EngineCore pid=114) ERROR 05-06 01:55:27 [core.py:383]   File "/home/me/plugin/model.py", line 41, in load
(EngineCore pid=114) ERROR 05-06 01:55:27 [core.py:383] AttributeError: no such layer
(EngineCore pid=114) Process EngineCore:
(EngineCore pid=114) Traceback (most recent call last):
(EngineCore pid=114)   File "/usr/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap
(EngineCore pid=114)     self.run()
(EngineCore pid=114)   File "/home/me/plugin/model.py", line 41, in load
(EngineCore pid=114) AttributeError: no such layer
Traceback (most recent call last):
  File "/usr/local/bin/vllm", line 8, in <module>
    sys.exit(main())
RuntimeError: Engine core initialization failed. See root cause above.
"""
KILLED_RANK = """\
step 5/90
E0325 20:57:27.620000 2606 site-packages/torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 5 (pid: 2630) of binary: /opt/v/bin/python
Traceback (most recent call last):
  File "/opt/v/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/v/lib/python3.12/site-packages/torch/distributed/launcher/api.py", line 269, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
=====================================================
test.py FAILED
"""
SYNTAX = """\
  File "/home/me/train.py", line 12
    def f(:
          ^
SyntaxError: invalid syntax
"""
LOGGED = """\
2026-01-02 03:04:05,678 ERROR root: fit failed
Traceback (most recent call last):
  File "/home/me/fit.py", line 8, in fit
    raise TypeError("x")
TypeError: x
2026-01-02 03:04:05,679 INFO root: bye
"""
SLURM = """\
step 100/900 loss 0.9
slurmstepd: error: *** JOB 812 ON node07 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***
srun: error: node07: task 0: Terminated
"""
SEGFAULT_IN_WORKER = """\
step 5/9
ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
Traceback (most recent call last):
  File "/home/me/train.py", line 30, in <module>
    for batch in loader:
RuntimeError: DataLoader worker (pid(s) 99) exited unexpectedly
"""


def judge(tmp_path: Path, text: str, **facts: Any) -> Diagnosis:
    path = tmp_path / "lög 'x'.txt"
    path.write_text(text)
    return diagnose(path, facts or {"code": 1}, {})


@pytest.mark.parametrize(
    ("text", "facts", "cls", "signature", "place"),
    [
        (TORCHRUN, {}, "CODE_BUG", "traceback:KeyError@collate.py:37", ("/home/me/proj/data/collate.py", 37)),
        (SNAKEMAKE, {}, "CODE_BUG", "json-decode", ("/home/me/bench/evaluate.py", 55)),
        (CHAIN, {}, "PROXY_DOWN", "connection-refused", ("/home/me/agent/client.py", 71)),
        (RICH, {}, "CODE_BUG", "traceback:ValueError@run.py:44", ("/home/me/app/run.py", 44)),
        (RAY, {}, "CODE_BUG", "traceback:IndexError@worker.py:18", ("/home/me/rl/worker.py", 18)),
        (GROUP, {}, "CODE_BUG", "traceback:ZeroDivisionError@task.py:9", ("/home/me/a/task.py", 9)),
        (SYNTAX, {}, "CODE_BUG", "traceback:SyntaxError@train.py:12", ("/home/me/train.py", 12)),
        (LOGGED, {}, "CODE_BUG", "traceback:TypeError@fit.py:8", ("/home/me/fit.py", 8)),
        (STAMPED, {}, "CODE_BUG", "traceback:AttributeError@model.py:41", ("/home/me/plugin/model.py", 41)),
        (KILLED_RANK, {}, "DEAD", "worker-killed", None),
        (SLURM, {"signal": 15}, "STOPPED", "slurm-time-limit", None),
        (SEGFAULT_IN_WORKER, {}, "ENVIRONMENT", "shared-memory", None),
    ],
    ids=[
        "torchrun",
        "snakemake",
        "chain",
        "rich",
        "ray",
        "group",
        "syntax",
        "logged",
        "stamped",
        "killed",
        "slurm",
        "shm",
    ],
)
def test_first_cause(
    tmp_path: Path, text: str, facts: dict[str, Any], cls: str, signature: str, place: tuple[str, int] | None
) -> None:
    """The failing rank's own exception and the user's own frame are named, not the launcher's."""
    got = judge(tmp_path, text, **facts)
    assert (got.cls, got.signature) == (cls, signature), got.summary
    found = got.exception and (got.exception["file"], got.exception["line"])
    assert found == place


def test_rank_is_named(tmp_path: Path) -> None:
    """The rank stands in the record, and the evidence has the line of the exception itself."""
    got = judge(tmp_path, TORCHRUN)
    assert got.exception is not None and "rank2" in got.exception["rank"]
    assert [e["line"] for e in got.evidence] == [3, 12]


def test_report_prefers_the_rank_that_failed_first(tmp_path: Path) -> None:
    """Where two ranks raise errors of their own, the launcher's report decides which was first."""
    other = (
        "[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "/home/me/proj/eval.py", line 3, in f\n'
        "[rank0]: RuntimeError: worker went away\n"
    )
    head, first, rest = TORCHRUN.partition("[rank2]: Traceback")
    got = judge(tmp_path, head + other + first + rest)
    assert got.signature == "traceback:KeyError@collate.py:37"


def test_retried_traceback_is_not_the_cause(tmp_path: Path) -> None:
    """A traceback that a later retry absorbed does not explain a later SIGTERM."""
    got = judge(tmp_path, CHAIN + "retry succeeded after 2 attempts\nstep 4/9\n", signal=15)
    assert got.signature == "sigterm"


def test_scary_words_before_a_kill(tmp_path: Path) -> None:
    """Warnings with frightening words are not the cause of a SIGKILL."""
    text = "step 3/9\nWARNING: 429 Too Many Requests\nerror rate: 0.0\n0 failed\n"
    assert judge(tmp_path, text, signal=9).signature == "sigkill"


ENDS, WORKERS, CLIENTS = ("/home/kim/my lab/" + name for name in ("ends.py", "workers.py", "clients.py"))
TORCH = "/opt/venv/lib/python3.11/site-packages/torch/distributed/elastic/"


@pytest.mark.parametrize(
    ("name", "code", "cls", "signature", "place"),
    [
        ("torchrun-key", 1, "CODE_BUG", "traceback:KeyError@ranks.py:23", ("/home/kim/my lab/ranks.py", 23)),
        ("torchrun-memory", 1, "OOM", "host-allocation", ("/home/kim/my lab/ranks.py", 27)),
        ("torchrun-killed", 1, "DEAD", "worker-killed", None),
        ("torchrun-crashed", 1, "DEAD", "worker-segfault", None),
        ("torchrun-silent", 1, "DISTRIBUTED", "gloo-peer-lost", (ENDS, 59)),
        ("torchrun-nccl", 1, "ENVIRONMENT", "build-lacks", (ENDS, 97)),
        ("torchrun-port", 1, "ENVIRONMENT", "port-in-use", (f"{TORCH}rendezvous/static_tcp_rendezvous.py", 67)),
        ("torchrun-stopped", 124, "STOPPED", "rank-stopped", (f"{TORCH}multiprocessing/api.py", 86)),
        ("deepspeed-raised", 1, "CODE_BUG", "traceback:IndexError@ends.py:42", (ENDS, 42)),
        ("deepspeed-killed", 247, "DEAD", "worker-killed", None),
        ("snakemake-slurm", 1, "CODE_BUG", "traceback:KeyError@evaluate.py:5", ("/home/kim/my lab/evaluate.py", 5)),
        ("slurm-cancelled", 143, "STOPPED", "slurm-cancelled", None),
        ("slurm-limit", 143, "STOPPED", "slurm-time-limit", None),
        ("loader-raised", 1, "CODE_BUG", "traceback:AttributeError@workers.py:30", (WORKERS, 30)),
        ("loader-killed", 1, "OOM", "dataloader-worker-killed", (WORKERS, 34)),
        ("ray-init", 1, "CODE_BUG", "traceback:ValueError@workers.py:52", (WORKERS, 52)),
        ("ray-crashed", 1, "DEAD", "segfault", None),
        ("dask-killed", 1, "DISTRIBUTED", "cluster-peer-lost", (WORKERS, 77)),
        ("dask-alone", 1, "DISTRIBUTED", "connection-refused", (WORKERS, 74)),
        ("anthropic-right", 1, "ENVIRONMENT", "not-entitled", (CLIENTS, 86)),
        ("openai-policy", 1, "ENVIRONMENT", "content-policy", (CLIENTS, 93)),
        ("requests-cut", 1, "PROXY_DOWN", "connection-lost", (CLIENTS, 99)),
        ("httpx-silent", 1, "PROXY_DOWN", "network-timeout", (CLIENTS, 105)),
        ("group-502", 1, "PROXY_DOWN", "server-error", (CLIENTS, 112)),
        ("hub-503", 1, "NETWORK", "server-error", (CLIENTS, 126)),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_real_reports(
    name: str, code: int, cls: str, signature: str, place: tuple[str, int] | None, known: bool
) -> None:
    """What launchers, schedulers, workers and clients really printed: the first cause, at the user's own frame."""
    got = diagnose(REAL / f"{name}.log", {"code": code} if known else {}, {})
    assert (got.cls, got.signature) == (cls, signature), got.summary
    assert (got.exception and (got.exception["file"], got.exception["line"])) == place


@pytest.mark.parametrize(
    ("name", "clean", "unknown"),
    [("optuna-some", "COMPLETE", "HEALTHY"), ("lightning-nan", "DIVERGED", "DIVERGED")],
)
def test_real_clean_ends(name: str, clean: str, unknown: str) -> None:
    """Exit code 0: trials that were caught are no failure, a loss that stopped the training is one."""
    log = REAL / f"{name}.log"
    assert (diagnose(log, {"code": 0}, {}).cls, diagnose(log, {}, {}).cls) == (clean, unknown)


def test_rank_that_aborts_without_a_word(tmp_path: Path) -> None:
    """The peers tell whom they lost; a rank that first said why it aborts, of native code, does so for another cause."""
    text = (REAL / "torchrun-killed.log").read_text().replace("exitcode: -9", "exitcode: -6").replace("Signal 9 (SIGKILL)", "Signal 6 (SIGABRT)")
    text = text.replace("exitcode  : -9", "exitcode  : -6")
    assert judge(tmp_path, text).signature == "aborted"
    spoken = text.replace("Traceback (most", "terminate called after throwing an instance of 'gloo::IoException'\nTraceback (most", 1)
    assert judge(tmp_path, spoken).cls == "DISTRIBUTED"


def test_scheduler_is_heard_before_the_last_words() -> None:
    """A job of a failed node printed one more line of work after Slurm's word: the node is the cause, not the signal."""
    assert diagnose(REAL / "slurm-node.log", {"code": 143}, {}).signature == "node-failure"


SILENT = (
    "[rank3]: step 3/9 loss 1.0\n[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/home/me/proj/train.py", line 9, in step\n[rank3]: IndexError: list index out of range\n'
    "[rank0]: step 4/9 loss 0.9\n[rank0]: step 5/9 loss 0.9\n"
    "[rank0]:[E1103 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL\n"
)


def test_others_progress_does_not_excuse_a_rank(tmp_path: Path) -> None:
    """A rank that never spoke again has failed, though the others went on until they missed it."""
    assert judge(tmp_path, SILENT).signature == "traceback:IndexError@train.py:9"


def test_own_progress_excuses_a_rank(tmp_path: Path) -> None:
    """The same rank at work again has got over it, and the time-out is the cause."""
    text = SILENT.replace("[rank0]: step 5/9", "[rank3]: step 5/9")
    assert judge(tmp_path, text).signature == "nccl-timeout"


BAR = "Epoch 3:  41%|####| 410/1000 [05:12<07:29, loss=0.71]\n"
RAISED = 'Traceback (most recent call last):\n  File "/home/me/a.py", line 4, in f\n    g()\nKeyError: 3\n'


def test_bar_that_is_printed_again_is_no_progress(tmp_path: Path) -> None:
    """A bar closes after the exception and shows the same count: the exception still ended it."""
    assert judge(tmp_path, BAR + RAISED + BAR, code=None).signature == "traceback:KeyError@a.py:4"
    got = judge(tmp_path, BAR + RAISED + BAR.replace("410/", "411/"), code=None)
    assert got.cls == "HEALTHY"


def test_lines_of_the_usual_shape_are_work(tmp_path: Path) -> None:
    """Nobody knows the exit, and the usual lines go on after the complaint: it was got over."""
    usual = [f"2026-01-02 03:0{n}:05 got {n} answers of server {n}" for n in range(6)]
    text = "\n".join((*usual[:3], RAISED.strip(), *usual[3:]))
    assert judge(tmp_path, text, code=None).cls == "HEALTHY"
    assert judge(tmp_path, text, code=1).signature == "traceback:KeyError@a.py:4"


def test_done_is_believed_only_without_a_bad_exit(tmp_path: Path) -> None:
    """A program that says it finished has got over what it complained of, unless its exit says otherwise."""
    text = RAISED + "Evaluation finished in 812 s\n"
    assert judge(tmp_path, text, code=None).cls == "HEALTHY"
    assert judge(tmp_path, text, code=1).cls == "CODE_BUG"


def test_what_was_tried_in_vain_is_the_cause(tmp_path: Path) -> None:
    """An exception that only says that retries are used up takes its class from what was retried."""
    tried = "attempt 4: 502 Bad Gateway, retrying in 8 s\n"
    gave_up = RAISED.replace("KeyError: 3", "RuntimeError: giving up after 5 attempts")
    assert judge(tmp_path, tried + gave_up).cls == "PROXY_DOWN"
    assert judge(tmp_path, gave_up).cls == "UNKNOWN"


def test_thread_of_a_tracker_is_not_the_run(tmp_path: Path) -> None:
    """The tracker's thread may die; a thread of the user's own code is a failure."""
    head = "Exception in thread Thread-5:\n"
    tracker = RAISED.replace("/home/me/a.py", "/opt/v/lib/python3.11/site-packages/wandb/sdk/a.py")
    assert judge(tmp_path, head + tracker, code=None).cls == "HEALTHY"
    assert judge(tmp_path, head + RAISED, code=None).cls == "CODE_BUG"


def test_cut_traceback_has_its_frame(tmp_path: Path) -> None:
    """A log that begins inside a traceback still names the user's own frame."""
    text = (
        '    out = model(x)\n  File "/home/me/a.py", line 4, in f\n    g()\n'
        '  File "/opt/v/lib/python3.11/site-packages/t/x.py", line 9, in g\n    raise Odd(1)\nt.errors.OddError: 1\n'
    )
    got = judge(tmp_path, text)
    assert (got.signature, got.confidence) == ("traceback:OddError@a.py:4", 0.8)


def test_ranks_without_labels_between_each_other(tmp_path: Path) -> None:
    """Lines of other processes inside a traceback are passed over, the exception is still found."""
    others = "step 3 of 9 at 0.4 s\nNote: cache is cold\n"
    text = RAISED.replace("    g()\n", f"    g()\n{others}")
    assert judge(tmp_path, text, code=1).signature == "traceback:KeyError@a.py:4"


def test_exception_that_was_defined_inside_a_function(tmp_path: Path) -> None:
    """Python shows where it was defined as part of its name."""
    text = RAISED.replace("KeyError: 3", "main.<locals>.ConfigMismatch: 48 frames, not 64")
    assert judge(tmp_path, text).signature == "traceback:ConfigMismatch@a.py:4"


def test_losses_that_were_no_numbers_to_a_clean_end(tmp_path: Path) -> None:
    """The exit code is 0 and the last losses are not finite: it diverged; one finite loss later, it did not."""
    text = "".join(f"step {n}/9 loss=nan\n" for n in range(5, 10)) + "training finished\n"
    assert judge(tmp_path, text, code=0).cls == "DIVERGED"
    assert judge(tmp_path, text + "step 9/9 loss=0.3\n", code=0).cls == "COMPLETE"


def test_reader_of_a_file_that_is_not_whole(tmp_path: Path) -> None:
    """What the system says of half a checkpoint tells little; that torch was reading it tells the rest."""
    reader = '  File "/opt/v/lib/python3.11/site-packages/torch/serialization.py", line 9, in load\n    read()\n'
    text = RAISED.replace("KeyError: 3", f"{reader}OSError: [Errno 22] Invalid argument")
    assert judge(tmp_path, text).cls == "ENVIRONMENT"
    assert judge(tmp_path, text.replace("torch/serialization", "torch/sensor")).cls == "CODE_BUG"
