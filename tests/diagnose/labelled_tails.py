"""Labelled ends of logs: what programs write when all is well, and when it is not."""

# log lines stand as they are written

from __future__ import annotations

#: all is well, in spite of the words
HEALTHY: list[str] = [
    "epoch 3 | error rate: 0.0 | loss 0.21",
    "140 passed, 0 failed, 0 errors\nstep 141/500",
    "retry succeeded after 2 attempts\n88/140 (62.9%) done",
    "got 429 Too Many Requests, retrying in 4.0 s (attempt 2/6)\nretry succeeded on attempt 3\n90/140 done",
    'DEBUG:urllib3.connectionpool:https://h:443 "POST /v1/chat/completions HTTP/1.1" 200 None\nitem 12/140',
    "CUDA out of memory caught, reducing the batch from 32 to 16\nstep 40/900 loss 1.2",
    "WARNING: torch.OutOfMemoryError on a long sample, skipping it\nstep 41/900 loss 1.1",
    "killed 0 stale workers\nprocessed 4/10",
    "Traceback logging enabled\nstep 1/2",
    "loading error_analysis.csv\nEvaluating:  61%|######    | 85/140 [01:02<00:40,  1.4it/s]",
    "no NaN found in gradients at step 12/30",
    "nan_to_num applied to 0 values, loss: 0.4",
    "exception_rate=0.000 step=100/200",
    "fatal: 0, warnings: 3\niter 9/10",
    "Connection pool is full, discarding connection: h. Connection pool size: 10\nitem 80/140",
    "Retrying (Retry(total=4)) after connection broken by 'NewConnectionError: Connection refused': /simple\nstep 3/9",
    "NCCL INFO NET/Socket : Using [0]eth0\nstep 4/9 loss=0.2",
    "NCCL_TIMEOUT=1800\nstep 5/9 loss=0.2",
    "OVERFLOW! Skipping step. Attempted loss scale: 65536, reducing to 32768\nstep 6/9 loss=0.2",
    "UserWarning: lr_scheduler.step() before optimizer.step(): ... the first value will be skipped\nstep 7/9",
    "FutureWarning: `torch.load` with weights_only=False\nloaded checkpoint\nstep 8/9",
    "Some weights of Model were not initialized from the checkpoint: ['head.weight']\nstep 1/9 loss 2",
    "Token indices sequence length is longer than the maximum sequence length (1203 > 1024)\nitem 4/9",
    "WARNING: prompt exceeds context length, truncating\nitem 5/9",
    "content policy refusal for item q7, recorded as null\nitem 8/9",
    "Segmentation masks loaded: 1200\nstep 3/9",
    "Permission check for /data: OK\nstep 2/9",
    "disk usage 91%, no space problem\nstep 2/9",
    "timeout set to 600 s\nread timeout=10\nstep 2/9",
    "Failed to import apex, using the native implementation\nstep 2/9 loss 0.1",
    "optional: No module named 'flash_attn', falling back to sdpa\nstep 2/9 loss 0.1",
    "INFO server: GET /favicon.ico HTTP/1.1 404 Not Found\nserved 10/20 requests, step 10/20",
    "500 items evaluated, 403 correct\n500/1000 (50.0%)",
    "batch 429/500 loss: 0.42",
    "AssertionError rate in generated code: 12%\nsample 401/500",
    "generated: raise ValueError('x')\nsample 402/500",
    "model answered: 'RuntimeError: CUDA error'\nsample 403/500 acc 0.5",
    "preemptible=False, requeue disabled\nstep 12/20",
    "SIGTERM handler installed\nstep 13/20",
    "oom_score_adj=0\nstep 14/20",
    "ETA 3:20:11, 0 exceptions, 0 nulls\n85/140 done",
    "Exception in thread pool ignored: worker restarted and recovered\n86/140 done",
    "checkpoint saved; removed the corrupted temporary file\nstep 15/20",
    "wandb: WARNING Step only supports monotonically increasing values\nstep 16/20",
]

#: (class, last lines, exit code)
FAILED: list[tuple[str, str, int]] = []


def _trace(raised: str, file: str = "/home/u/exp/run.py", line: int = 20) -> str:
    return f'step 3/90 loss 0.9\nTraceback (most recent call last):\n  File "{file}", line {line}, in main\n    work()\n{raised}\n'


for _cls, _raised in [
    (
        "OOM",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 39.4 GiB total capacity)",
    ),
    ("OOM", "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB"),
    ("OOM", "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    ("OOM", "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array"),
    ("OOM", "ValueError: No available memory for the cache blocks. Try increasing gpu_memory_utilization"),
    ("OOM", "RuntimeError: DataLoader worker (pid 5121) is killed by signal: Killed."),
    (
        "OOM",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 1073741824 bytes.",
    ),
    (
        "API_QUOTA",
        "openai.RateLimitError: Error code: 429 - {'error': {'message': 'Requests to the API have exceeded call rate limit'}}",
    ),
    (
        "API_QUOTA",
        "openai.RateLimitError: You exceeded your current quota, please check your plan and billing details.",
    ),
    (
        "API_QUOTA",
        "google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded for quota metric 'Requests'",
    ),
    (
        "API_QUOTA",
        "anthropic.RateLimitError: Error code: 429 - {'type': 'error', 'error': {'type': 'rate_limit_error'}}",
    ),
    (
        "API_QUOTA",
        "botocore.exceptions.ClientError: An error occurred (ThrottlingException) when calling the Converse operation",
    ),
    ("PROXY_DOWN", "httpx.ConnectError: [Errno 111] Connection refused"),
    ("PROXY_DOWN", "openai.APIConnectionError: Connection error."),
    (
        "PROXY_DOWN",
        "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: http://p:9999/v1",
    ),
    (
        "PROXY_DOWN",
        "requests.exceptions.ProxyError: HTTPSConnectionPool(host='api', port=443): Cannot connect to proxy.",
    ),
    (
        "PROXY_DOWN",
        "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host p:9999 [Connect call failed] Connection refused",
    ),
    ("PROXY_DOWN", "openai.InternalServerError: Error code: 500"),
    ("DIVERGED", "ValueError: Loss is nan at step 812, stopping"),
    ("DIVERGED", "FloatingPointError: gradients are nan"),
    ("DIVERGED", "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output."),
    ("DIVERGED", "ValueError: Input contains NaN."),
    (
        "DIVERGED",
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
    ),
    ("CODE_BUG", "KeyError: 'input_ids'"),
    ("CODE_BUG", "IndexError: list index out of range"),
    ("CODE_BUG", "AttributeError: 'NoneType' object has no attribute 'shape'"),
    ("CODE_BUG", "TypeError: forward() got an unexpected keyword argument 'mask'"),
    ("CODE_BUG", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x10 and 12x3)"),
    (
        "CODE_BUG",
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    (
        "CODE_BUG",
        'RuntimeError: Error(s) in loading state_dict for ViT:\n\tMissing key(s) in state_dict: "head.weight".',
    ),
    ("ENVIRONMENT", "ModuleNotFoundError: No module named 'decord'"),
    ("ENVIRONMENT", "FileNotFoundError: [Errno 2] No such file or directory: '/data/val.json'"),
    ("CODE_BUG", "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
    ("CODE_BUG", "RuntimeError: CUDA error: device-side assert triggered"),
    (
        "CODE_BUG",
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices",
    ),
    ("CODE_BUG", "AssertionError: expected 140 items"),
    ("CODE_BUG", "ZeroDivisionError: float division by zero"),
    ("CODE_BUG", "RecursionError: maximum recursion depth exceeded while calling a Python object"),
    ("CODE_BUG", "UnboundLocalError: local variable 'out' referenced before assignment"),
    ("CODE_BUG", "openai.BadRequestError: Error code: 400 - {'error': {'message': 'Invalid image'}}"),
    ("ENVIRONMENT", "OSError: [Errno 28] No space left on device"),
    ("ENVIRONMENT", "OSError: [Errno 122] Disk quota exceeded"),
    ("ENVIRONMENT", "OSError: [Errno 24] Too many open files: '/data/a.mp4'"),
    ("ENVIRONMENT", "PermissionError: [Errno 13] Permission denied: '/data/out'"),
    ("ENVIRONMENT", "openai.AuthenticationError: Error code: 401 - {'error': {'message': 'invalid token'}}"),
    ("ENVIRONMENT", "OSError: [Errno 98] Address already in use"),
    ("ENVIRONMENT", "RuntimeError: Found no NVIDIA driver on your system."),
    ("ENVIRONMENT", "huggingface_hub.errors.GatedRepoError: 403 Client Error."),
    ("ENVIRONMENT", "ImportError: libGL.so.1: cannot open shared object file: No such file or directory"),
    (
        "ENVIRONMENT",
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
    ),
    ("NETWORK", "socket.gaierror: [Errno -3] Temporary failure in name resolution"),
    (
        "NETWORK",
        "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out.",
    ),
    ("NETWORK", "ConnectionResetError: [Errno 104] Connection reset by peer"),
    (
        "DISTRIBUTED",
        "torch.distributed.DistBackendError: NCCL error: unhandled system error, ncclSystemError",
    ),
    ("DISTRIBUTED", "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"),
    ("HARDWARE", "RuntimeError: CUDA error: uncorrectable ECC error encountered"),
    ("HARDWARE", "OSError: [Errno 116] Stale file handle"),
    ("STOPPED", "KeyboardInterrupt"),
]:
    FAILED.append((_cls, _trace(_raised), 1))

FAILED += [
    (
        "STOPPED",
        "step 5/9\nslurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***",
        143,
    ),
    (
        "STOPPED",
        "step 5/9\nslurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO PREEMPTION ***",
        143,
    ),
    (
        "HARDWARE",
        "step 5/9\nslurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO NODE FAILURE ***",
        143,
    ),
    ("STOPPED", "step 5/9\nslurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-02T03:04:05 ***", 143),
    ("OOM", "step 5/9\nslurmstepd: error: Detected 1 oom_kill event in StepId=9.0.", 137),
    ("OOM", "step 5/9\nkernel: Out of memory: Killed process 8 (python)", 137),
    ("DEAD", "step 5/9\nKilled", 137),
    ("DEAD", "step 5/9", 137),
    ("DEAD", "step 5/9\nSegmentation fault (core dumped)", 139),
    (
        "CODE_BUG",
        "step 5/9\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  bad",
        134,
    ),
    ("DEAD", "step 5/9\nfree(): invalid pointer", 134),
    ("DEAD", "step 5/9\nrun.sh: line 3: 44 Bus error (core dumped) python x.py", 135),
    ("ENVIRONMENT", "bash: line 1: accelerate: command not found", 127),
    (
        "CODE_BUG",
        "usage: train.py [-h] --data DATA\ntrain.py: error: the following arguments are required: --data",
        2,
    ),
    ("ENVIRONMENT", "python: can't open file '/home/u/tain.py': [Errno 2] No such file or directory", 2),
    ("STOPPED", "step 5/9", 130),
    ("UNKNOWN", "step 5/9\nbye", 7),
]
