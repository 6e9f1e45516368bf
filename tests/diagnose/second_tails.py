"""A second, smaller set, written after the catalogue was mended for the first: does the mending hold for others?

Its author had read the catalogue by then, but did not try the lines before the set was whole. The first run
(34 of 50) was measured before anything was mended for these; what it missed is in the catalogue now.
"""

# ruff: noqa: E501
from __future__ import annotations

WORK = "loading the model\nepoch 1 step 10/900 loss 1.9\nepoch 1 step 20/900 loss 1.8\n"


def trace(raised: str) -> str:
    """Return some work and a traceback that ends with these words."""
    return f'{WORK}Traceback (most recent call last):\n  File "/home/kim/lab/main.py", line 77, in <module>\n    main()\n{raised}\n'


#: (defensible classes, log, exit code); a negative code is a signal
FAILED: list[tuple[tuple[str, ...], str, int]] = [
    (("OOM",), trace("RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call"), 1),
    (("OOM",), trace("cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 15,032,385,536 bytes)."), 1),
    (("OOM",), trace("xgboost.core.XGBoostError: [10:00:00] src/data/../common/device_helpers.cuh:431: Memory allocation error on worker 0: bad_alloc: cudaErrorMemoryAllocation: out of memory"), 1),
    (("OOM",), trace("polars.exceptions.ComputeError: memory allocation of 34359738368 bytes failed"), 1),
    (("OOM",), WORK + "memory allocation of 17179869184 bytes failed\nAborted (core dumped)\n", -6),
    (("OOM",), WORK + "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n", 134),
    (("OOM",), WORK + "java.lang.OutOfMemoryError: Java heap space\n\tat org.apache.spark.util.Collection.grow(Collection.scala:61)\n", 1),
    (("OOM",), trace("torch.cuda.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 21.80 GiB"), 1),
    (("CODE_BUG",), trace("torch._dynamo.exc.InternalTorchDynamoError: AttributeError: 'NoneType' object has no attribute 'size'"), 1),
    (("CODE_BUG",), trace("ValueError: Target size (torch.Size([16])) must be the same as input size (torch.Size([16, 1]))"), 1),
    (("CODE_BUG",), trace("jax.errors.ConcretizationTypeError: Abstract tracer value encountered where concrete value is expected: traced array with shape int32[]"), 1),
    (("CODE_BUG",), trace("flax.errors.ScopeParamShapeError: Initializer expected to generate shape (4, 8) but got shape (8, 8) instead for parameter \"kernel\" in \"/Dense_0\"."), 1),
    (("CODE_BUG",), trace("RuntimeError: Trying to resize storage that is not resizable"), 1),
    (("CODE_BUG",), trace("KeyError: \"attribute 'input_ids' is missing\""), 1),
    (("CODE_BUG",), WORK + "thread '<unnamed>' panicked at src/lib.rs:9:5:\nindex out of bounds: the len is 3 but the index is 7\n" + trace("pyo3_runtime.PanicException: index out of bounds: the len is 3 but the index is 7"), 1),
    (("CODE_BUG",), WORK + "Error: function 'step' failed\n  File \"/home/kim/lab/main.py\", line 9\n    x = = 3\n        ^\nSyntaxError: invalid syntax\n", 1),
    (("API_QUOTA",), trace("cohere.errors.too_many_requests_error.TooManyRequestsError: status_code: 429, body: {'message': 'trial key limit is 20 calls a minute'}"), 1),
    (("API_QUOTA",), trace("google.genai.errors.ClientError: 429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'message': 'You exceeded your current quota'}}"), 1),
    (("API_QUOTA",), trace("aiohttp.client_exceptions.ClientResponseError: 429, message='Too Many Requests', url='https://api.together.xyz/v1/completions'"), 1),
    (("API_QUOTA",), trace("replicate.exceptions.ReplicateError: You have reached the free time limit. To continue using Replicate, set up billing at https://replicate.com/account/billing"), 1),
    (("API_QUOTA",), WORK + "[error] quota used up for this month (limit 100 USD), request rejected\nstopping the run\n", 1),
    (("PROXY_DOWN",), trace("litellm.exceptions.APIConnectionError: litellm.APIConnectionError: OpenAIException - Connection error."), 1),
    (("PROXY_DOWN", "NETWORK"), trace("aiohttp.client_exceptions.ServerDisconnectedError: Server disconnected"), 1),
    (("PROXY_DOWN",), trace("aiohttp.client_exceptions.ClientResponseError: 503, message='Service Unavailable', url='http://10.1.1.1:8000/v1/completions'"), 1),
    (("PROXY_DOWN",), WORK + 'upstream connect error or disconnect/reset before headers. reset reason: connection termination\nrequest 9 failed for good\n', 1),
    (("PROXY_DOWN",), trace("grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n\tdetails = \"failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.3:8500: Failed to connect to remote host: Connection refused\""), 1),
    (("DIVERGED",), trace("ValueError: Training loss is NaN at step 311"), 1),
    (("DIVERGED",), trace("RuntimeError: Non-finite gradient norm (inf) at update 40"), 1),
    (("DIVERGED",), WORK + "NaN loss encountered, terminating\n", 1),
    (("DIVERGED",), trace("numpy.linalg.LinAlgError: Array must not contain infs or NaNs"), 1),
    (("ENVIRONMENT",), trace("OSError: [Errno 28] No space left on device"), 1),
    (("ENVIRONMENT",), WORK + "tee: run.log: No space left on device\n", 1),
    (("ENVIRONMENT",), WORK + "/usr/bin/env: 'python3.12': No such file or directory\n", 127),
    (("ENVIRONMENT",), WORK + "docker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].\n", 125),
    (("ENVIRONMENT",), trace("RuntimeError: FlashAttention only supports Ampere GPUs or newer."), 1),
    (("ENVIRONMENT",), trace("ImportError: Using `bitsandbytes` 8-bit quantization requires the latest version of bitsandbytes: `pip install -U bitsandbytes`"), 1),
    (("ENVIRONMENT",), trace("sqlite3.OperationalError: unable to open database file"), 1),
    (("ENVIRONMENT",), trace("google.auth.exceptions.DefaultCredentialsError: Your default credentials were not found."), 1),
    (("NETWORK",), trace("httpx.ConnectTimeout: [Errno 110] Connection timed out"), 1),
    (("NETWORK",), trace("ssl.SSLError: [SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1007)"), 1),
    (("NETWORK",), trace("urllib.error.HTTPError: HTTP Error 503: Service Unavailable\nwhile fetching https://github.com/a/b/releases/w.pth"), 1),
    (("DISTRIBUTED",), trace("torch.distributed.DistBackendError: NCCL communicator was aborted on rank 1. Original reason for failure was: watchdog timeout"), 1),
    (("DISTRIBUTED",), trace("RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Socket Timeout"), 1),
    (("DISTRIBUTED",), WORK + "[Gloo] Rank 1 is connected to 2 peer ranks. Expected number of connected peer ranks is : 3\n" + trace("RuntimeError: Gloo connectFullMesh failed with [../gloo/transport/tcp/pair.cc:144] no error"), 1),
    (("HARDWARE",), trace("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered"), 1),
    (("HARDWARE",), WORK + "NVRM: Xid (PCI:0000:17:00): 119, pid=99, name=python, Timeout after 6s of waiting for RPC response from GPU0 GSP!\n" + trace("RuntimeError: CUDA error: unknown error"), 1),
    (("STOPPED", "DEAD"), WORK + "slurmstepd: error: *** STEP 4.0 ON n2 CANCELLED AT 2026-02-02T02:02:02 DUE TO TIME LIMIT ***\n", 143),
    (("STOPPED", "DEAD"), WORK + "Preempted by a job of higher priority; requeued\n", 143),
    (("STOPPED", "DEAD"), WORK + "Killed by signal 2\nInterrupted by user\n", 130),
    (("UNKNOWN",), WORK + "the end\n", 3),
]
HEALTHY: list[str] = [
    WORK + "WARNING checkpoint upload: Connection reset by peer, queued for later\nepoch 1 step 30/900 loss 1.7\n",
    WORK + "dropped 3 rows: JSONDecodeError\nepoch 1 step 30/900 loss 1.7\n",
    "fetched page 1\nfetched page 2: HTTP 404, skipped\nfetched page 3\nfetched page 4\nfetched page 5\n",
    "scored 10/50\nscore of item 11: RateLimitError once, answered at the second try\nscored 12/50\n",
    "dedup: 0 duplicate ids, 0 OOM retries, 0 Xid events\nscored 20/50\nscored 30/50\n",
    WORK + "validation: nan for 1 of 80 classes (absent), mean 0.44\nepoch 2 step 1/900 loss 1.1\n",
    "task crash_recovery: passed\ntask out_of_memory_killer_quiz: passed\ntask deadlock_detection: failed\ntask 4 of 9 running\n",
    WORK + "Traceback of the slow sample was written to slow.txt\nepoch 1 step 30/900 loss 1.7\n",
    "sandbox 1: exit 0\nsandbox 2: exit 139 Segmentation fault (core dumped)\nsandbox 3: exit 0\nsandbox 4: exit 0\n",
    WORK + "[rank1] NCCL WARN NET/IB : Got async event : client reregistration\nepoch 1 step 30/900 loss 1.7\n",
    "judge 1 says: the patch causes KeyError: 'x', score 0\njudge 2 says: fine, score 1\njudge 3 says: fine, score 1\n",
    WORK + "No space left in the replay buffer, oldest entries are overwritten\nepoch 1 step 30/900 loss 1.7\n",
]
