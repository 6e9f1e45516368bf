"""A fifth set: the shapes that sets of unseen ends showed, in our own words.

What goes on after a complaint and what only seems to; who was talked to; who ended
it; what a traceback carries inside. Written after the program had learned them:
it guards them, and measures nothing.
"""

# ruff: noqa: E501
from __future__ import annotations

BEFORE = "".join(f"step {n}/900 loss {3 - n / 400:.3f}\n" for n in range(100, 160, 10))
MAIN = 'Traceback (most recent call last):\n  File "/home/user/train.py", line 212, in <module>\n    main()\n'
SITE = "/opt/env/lib/python3.12/site-packages"
BAR = "{0:3d}%|####      | {0}/100 [00:{0:02d}<01:11,  1.00it/s]\n"
SCORED = "".join(f"[00:{n:02d}:05] item {n}/500 ok score=0.31\n" for n in range(20, 26))

#: (defensible classes, log, exit code)
FAILED: list[tuple[tuple[str, ...], str, int | None]] = [
    # a loader's worker hands its exception on
    (
        ("HARDWARE",),
        BEFORE
        + MAIN
        + "OSError: Caught OSError in DataLoader worker process 2.\nOriginal Traceback (most recent call last):\n"
        + f'  File "{SITE}/torch/utils/data/_utils/worker.py", line 302, in _worker_loop\n    data = fetcher.fetch(index)\n'
        + '  File "/home/user/data.py", line 39, in __getitem__\n    image = open_image(path)\nOSError: [Errno 5] Input/output error\n',
        1,
    ),
    # Python's tidying process complains after the kernel's kill
    (
        ("OOM",),
        BEFORE
        + "slurmstepd-n15: error: Detected 1 oom-kill event(s) in StepId=94.0. Some of your processes may have been killed by the cgroup out-of-memory handler.\n"
        + 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n  File "/opt/env/lib/python3.9/multiprocessing/resource_tracker.py", line 201, in main\n    cache[rtype].remove(name)\nKeyError: \'/psm_4b2\'\n',
        137,
    ),
    # told to end, and still at work for a while
    (
        ("STOPPED",),
        BAR.format(40)
        + "slurmstepd: error: *** STEP 55.0 ON g3 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***\n[rank: 0] Received SIGTERM: 15\n"
        + BAR.format(41)
        + BAR.format(42)
        + BAR.format(43)
        + "srun: error: g3: task 0: Killed\n",
        137,
    ),
    # a bar that closes tells one step more
    (
        ("DIVERGED",),
        BAR.format(16)
        + MAIN
        + "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.\n"
        + BAR.format(17)
        + "[2026-01-02 03:04:05,123] [ERROR] [launch.py:321:sigkill_handler] ['python', 'train.py'] exits with return code = 1\n",
        1,
    ),
    # the bar stands before the traceback on its line, and is printed again as it closes
    (
        ("OOM",),
        BEFORE
        + "  0%|          | 0/50 [00:00<?, ?it/s]\r 10%|#         | 5/50 [00:10<01:30]"
        + MAIN
        + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.00 GiB.\n 10%|#         | 5/50 [00:12<01:48]\n",
        None,
    ),
    # pids are no progress
    (
        ("DEAD",),
        MAIN
        + "subprocess.CalledProcessError: Command '['python', '-u', 'train.py']' died with <Signals.SIGSEGV: 11>.\n"
        + "".join(f"Killing subprocess {n}\n" for n in (1411, 1412, 1413, 1414)),
        None,
    ),
    # ranks, not an endpoint
    (
        ("DISTRIBUTED",),
        "node2: comm WARN Net : call to recv from 10.1.0.12<56843> failed : Connection refused\n"
        + "".join(f"node2: {line}\n" for line in MAIN.splitlines())
        + "node2: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1269, internal error\nnode2: ncclInternalError: Internal check failed.\nnode2: Last error:\nnode2: Net : call to recv from 10.1.0.12<56843> failed : Connection refused\n",
        1,
    ),
    (
        ("DISTRIBUTED",),
        BEFORE
        + "2026-01-02 03:04:05.1: E external/xla/coordination_service_agent.cc:349] Failed to disconnect from coordination service with status: UNAVAILABLE: failed to connect to all addresses; Connection refused\n"
        + "2026-01-02 03:04:05.2: F external/xla/client.h:80] Terminating process because the distributed service detected fatal errors.\nFatal Python error: Aborted\n",
        134,
    ),
    # the access log of a server is no refusal of its own client
    (
        ("DISTRIBUTED",),
        "(APIServer pid=1) ERROR 05-12 01:48:42 [api.py:72] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n"
        + '(APIServer pid=1) INFO:     10.0.6.81:16983 - "POST /v1/messages HTTP/1.1" 500 Internal Server Error\n(APIServer pid=1) INFO:     Finished server process [1]\n',
        1,
    ),
    # the function that asks tells whom
    (
        ("PROXY_DOWN",),
        MAIN
        + f'  File "{SITE}/trl/trainer/online.py", line 911, in _move_model_to_vllm\n    self.client.update(name)\n'
        + "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))\n",
        1,
    ),
    # it gives up, and says on what a few lines before
    (
        ("PROXY_DOWN",),
        SCORED
        + "Error: HTTPConnectionPool(host='10.0.1.2', port=30033): Max retries exceeded with url: /v1/chat/completions (Caused by NewConnectionError('[Errno 111] Connection refused'))\n"
        * 2
        + "[00:26:05] item 26/500 ok score=0.31\naborting: 64 consecutive requests failed\nfinished 26/500, results not written\n",
        1,
    ),
    # rights to a model are a person's business
    (
        ("ENVIRONMENT",),
        SCORED
        + MAIN
        + "botocore.errorfactory.AccessDeniedException: An error occurred (AccessDeniedException) when calling the InvokeModel operation: You don't have access to the model with the specified model ID.\n",
        1,
    ),
    # it only tells of another failure
    (
        ("UNKNOWN",),
        MAIN
        + "RuntimeError: One or more background workers are no longer alive. Exiting. Please check the print statements above for the actual error message\n",
        1,
    ),
    # it stops itself in good order
    (("DIVERGED",), BEFORE + "Batch 38: Invalid loss, terminating training\n", 0),
    (("STOPPED",), BAR.format(40) + "UserWarning: Detected KeyboardInterrupt, attempting graceful shutdown...\n", 0),
    # glued to a bar
    (("STOPPED",), BEFORE + "reading:  20% (117/558) [#      ] eta 28:34:54 \\Terminated\n", None),
    (("DEAD",), BEFORE + " 41%|####      | 411/1000 [00:11<00:16, 36.1it/s]Killed\n", None),
    # the shell's word comes after the program's own
    (
        ("DISTRIBUTED",),
        MAIN
        + "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)\n[2026-01-02 03:04:05] Received sigquit from a child process.\n./serve.sh: line 9:    88 Killed                  python3 -m server --tp 8\n",
        137,
    ),
    # killed, and memory was the last that its host spoke of
    (("OOM",), BEFORE + "Your notebook tried to allocate more memory than is available. It has restarted.\n", 137),
    (("DEAD",), BEFORE + "Your notebook is saved every two minutes.\n", 137),
    # what an executor said, not what Spark's report quotes last
    (
        ("OOM",),
        BEFORE
        + "WARN TaskSetManager:66 - Lost task 16.0 in stage 3.0: ExecutorLostFailure (executor 8 exited) Reason: Container killed by YARN for exceeding memory limits. 39.0 GB of 39 GB physical memory used.\n"
        + MAIN
        + "py4j.protocol.Py4JJavaError: An error occurred while calling o171.fit.\n: org.apache.spark.SparkException: Job aborted due to stage failure: Task 16 in stage 3.0 failed 4 times, most recent failure: java.lang.IllegalStateException: Failed to find cached file\n",
        1,
    ),
    # a link of the chain has no traceback of its own, and names the address
    (
        ("PROXY_DOWN",),
        MAIN
        + "ConnectionRefusedError: [Errno 111] Connection refused\n\nDuring handling of the above exception, another exception occurred:\n\n"
        + "requests.exceptions.ConnectionError: HTTPConnectionPool(host='10.2.0.7', port=8000): Max retries exceeded with url: /v1/completions\n\n"
        + "The above exception was the direct cause of the following exception:\n\n"
        + MAIN
        + "ConnectionError: the server cannot be reached\n",
        1,
    ),
    # the reader of its output is gone because of what it said before
    (
        ("HARDWARE",),
        "[task 03:04:05] Error: CUDA error 999 'unknown error' - algorithm.cu:54: cudaStreamSynchronize(0)\n" + MAIN + "BrokenPipeError: [Errno 32] Broken pipe\n",
        1,
    ),
    # urllib3's word of its retries is no giving up of the program's
    (
        ("NETWORK",),
        MAIN
        + "requests.exceptions.ConnectionError: (MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /m (Caused by NewConnectionError(': Failed to establish a new connection: [Errno 101] Network is unreachable'))\"))\n",
        1,
    ),
    # Windows' own words
    (("OOM",), MAIN + "OSError: [WinError 1455] The paging file is too small for this operation to complete.\n", 1),
    (
        ("DEAD",),
        MAIN + "subprocess.CalledProcessError: Command '['python.exe', 'train.py']' returned non-zero exit status 3221225477.\n",
        1,
    ),
    # lines under an old complaint, and empty ones, are no habit of the program
    (
        ("API_QUOTA",),
        SCORED
        + "Retrying ask in 2.0 seconds as it raised ResourceExhausted: 429 quota\n, links {\n  description: \"Learn more about quotas\"\n}\n\n" * 3
        + MAIN
        + "google.api_core.exceptions.ResourceExhausted: 429 You exceeded your current quota.\n, links {\n  description: \"Learn more about quotas\"\n}\n\n",
        None,
    ),
]

#: Alive, or of an end that nobody saw.
HEALTHY: list[str] = [
    # another epoch counts from the beginning
    "Epoch 24: " + BAR.format(99) + "[W] Failed to remove stale checkpoint a.ckpt: [Errno 2] No such file or directory (already gone)\n"
    + "".join("Epoch 25: " + BAR.format(n) for n in (0, 12, 24, 36)),
    # one trial of many
    "[W 2026-04-10 08:12:20,114] Trial 12 failed because of the following error: OutOfMemoryError('CUDA out of memory.').\n"
    + MAIN
    + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n[I 2026-04-10 08:19:02,402] Trial 13 finished with value: 0.7846. Best is trial 13.\n",
    # a server whose model did not fit at first
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 12210.02 MiB on device 1: cudaMalloc failed: out of memory\n"
    + 'level=INFO msg="runner started in 21.02 seconds"\n[GIN] 2026/02/04 - 16:57:01 | 200 | 35.984417s |       127.0.0.1 | POST     "/api/generate"\n',
    # a server refuses one request
    'INFO:     10.2.0.7:40112 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    + MAIN
    + "ValueError: This model's maximum context length is 8192 tokens. However, you requested 9105 tokens.\n"
    + 'INFO:     10.2.0.7:40118 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request\nINFO:     10.2.0.7:40122 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n',
]

#: Ended well, with exit code 0.
DONE: list[str] = [
    SCORED
    + MAIN
    + "httpx.HTTPStatusError: Server error '502 Bad Gateway' for url 'https://runtime.example/run'\n"
    + "WARNING - Instance failed (attempt 1/4), retrying\nINFO - Completed instance, patch of 1811 characters\nINFO - Evaluation complete: 500 outputs, 0 errors\nINFO - Wrote output.jsonl\n",
]
