"""A third set, in the forms that public bug reports show: cut, wrapped, interleaved and repeated ends of logs.

The forms were learned from reports of real failures (what a tool prints, and where it prints it); every
line here is written for this file. The set was written after the catalogue had learned the forms: it
guards them, and measures nothing.
"""

# ruff: noqa: E501
from __future__ import annotations

WORK = "loading the model\nepoch 1 step 10/900 loss 1.9\nepoch 1 step 20/900 loss 1.8\n"
USER = '  File "/home/kim/lab/main.py", line 77, in <module>\n    main()\n'
LIB = '  File "/opt/v/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1501, in _call_impl\n    return forward_call(*args)\n'
REPORT = (
    "E1103 10:00:12.000000 139 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 88) of binary: /opt/v/bin/python\n"
    'Traceback (most recent call last):\n  File "/opt/v/bin/torchrun", line 8, in <module>\n    sys.exit(main())\n'
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n====\nmain.py FAILED\n"
)


def trace(raised: str) -> str:
    """Return some work and a traceback that ends with these words."""
    return f"{WORK}Traceback (most recent call last):\n{USER}{raised}\n"


def cut(raised: str) -> str:
    """Return a log that begins in the middle of a traceback."""
    return f"    return forward_call(*args)\n{USER}{LIB}{raised}\n"


def each(prefix: str, text: str) -> str:
    """Return the text with a prefix before every line, as launchers and log handlers write it."""
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


#: (defensible classes, log, exit code or None where nobody knows it)
FAILED: list[tuple[tuple[str, ...], str, int | None]] = [
    # cut, alone, wrapped
    (("OOM",), cut("RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 15.90 GiB total capacity)"), None),
    (("CODE_BUG",), cut("RuntimeError: CUDA error: an illegal memory access was encountered"), 1),
    (("OOM",), "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.\nBufferAssignment stats:\n             parameter allocation:  1.0MiB\nPeak buffers:\n\tBuffer 1:\n\t\tSize: 6.00MiB\n", 1),
    (("OOM",), "RuntimeError                              Traceback (most recent call last)\nCell In[4], line 2\n      1 model.cuda()\n----> 2 fit(model)\n\nFile ~/lab/fit.py:12, in fit(model)\n     11 def fit(model):\n---> 12     model(x)\n\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", 1),
    (("CODE_BUG",), WORK + each("2026-01-02 03:04:05,678 - runner - INFO - ", "Scheduler hit an exception: Traceback (most recent call last):\n" + USER + "AttributeError: no such layer"), 1),
    (("ENVIRONMENT",), each("2026-01-02 03:04:05.977 [12/train/7 (pid 28)] [a1b2c3] ", "Traceback (most recent call last):\n" + USER + "OSError: [Errno 28] No space left on device"), 1),
    (("CODE_BUG",), f"{WORK}Traceback (most recent call last):\n" + "".join(line.strip() + "\n" for line in (USER + "KeyError: 'labels'").splitlines()), 1),
    (("CODE_BUG",), "Traceback (most recent call last):\n" + USER + "[2026-01-02 03:04:05,000] [INFO] [pack.py:9] [RANK:0] packing 0.78\n" + LIB + "[2026-01-02 03:04:05,001] [INFO] [pack.py:9] [RANK:0] packing 0.79\nTypeError: forward() got an unexpected keyword argument 'n'\n", 1),
    (("ENVIRONMENT",), "Traceback (most recent call last):\n" + USER + "Traceback (most recent call last):\n" + USER + LIB + "ImportError: /opt/v/ext.so: undefined symbol: _ZN2at\n", 1),
    (("ENVIRONMENT",), each("[rank4]: ", "Traceback (most recent call last):\n" + USER + "RuntimeError: Failed to import vision.tower because of the following error (look up to see its traceback):\n/opt/v/ext.so: undefined symbol: _ZN3c10"), 1),
    (("OOM",), trace("RuntimeError: storage.h 168\ncuda failed with error 2 out of memory. use CUDA_LAUNCH_BLOCKING=1 to get correct traceback."), 1),
    (("OOM",), trace("SystemError: \n\n----------------------\nError Message Summary:\n----------------------\nResourceExhaustedError: \n\nOut of memory error on GPU 0. Cannot allocate 1.0GB memory on GPU 0."), 1),
    (("OOM",), "ERROR: LoadError: OutOfMemoryError()\nStacktrace:\n [1] Array\n", 1),
    (("OOM",), "Error: cannot allocate vector of size 7.5 Gb\nExecution halted\n", 1),
    (("CODE_BUG",), "Error in fit(x) : object 'lambda' not found\nExecution halted\n", 1),
    (("CODE_BUG",), "thread 'main' panicked at src/main.rs:14:10:\nindex out of bounds\n", 101),
    (("CODE_BUG",), 'Exception in thread "main" java.lang.NullPointerException: s is null\n\tat org.lab.Main.run(Main.java:31)\n', 1),
    (("ENVIRONMENT",), "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module 'openai'\nRequire stack:\n- /srv/eval.js\n", 1),
    # memory, GPUs
    (("OOM",), WORK + "W tensorflow/core/framework/op_kernel.cc:968] Resource exhausted: OOM when allocating tensor with shape[256,832]\n", 1),
    (("OOM",), "E tensorflow/core/session.cc:170] Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY; total memory reported: 84\n" + trace("tensorflow.python.framework.errors_impl.InternalError: Failed to create session.").removeprefix(WORK), 1),
    (("ENVIRONMENT",), trace("tensorflow.python.framework.errors_impl.ResourceExhaustedError: disk quota exceeded [Op:SaveV2]"), 1),
    (("OOM",), trace("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1333, unhandled cuda error\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nFailed to CUDA calloc async 608 bytes"), 1),
    (("OOM",), trace("ValueError: To serve at least one request with the model's max seq len (100000), (4.26 GiB KV cache is needed, which is larger than the available KV cache memory"), 1),
    (("OOM",), WORK + "srun: error: gpu001: task 0: Out Of Memory\n", 1),
    (("OOM",), WORK + "slurmstepd-n3: error: Detected 1 oom-kill event(s) in StepId=9.0. Some of your processes may have been killed by the cgroup out-of-memory handler.\nsrun: error: n3: task 0: Out Of Memory\nslurmstepd-n3: error: *** STEP 9.0 ON n3 CANCELLED AT 2026-05-17T17:58:10 ***\n", 1),
    (("OOM",), "llama_load: error loading model: unable to allocate CUDA0 buffer\n", 1),
    (("ENVIRONMENT",), trace("tensorflow.python.framework.errors_impl.UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize"), 1),
    (("ENVIRONMENT",), trace("ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0."), 1),
    (("HARDWARE",), "[ 1843.3] NVRM: The NVIDIA GPU 0000:b3:00.0\n               NVRM: fallen off the bus and is not responding to commands.\n", None),
    (("CODE_BUG",), WORK + "/aten/src/IndexKernel.cu:92: operator(): block: [9,0,0], thread: [96,0,0] Assertion `index < sizes[i]` failed.\n", 1),
    (("DEAD",), "train: loss: 4.3]:  20%|## | 11/56 [00:02<00:08,  5.02it/s]Segmentation fault (core dumped)\n", 139),
    # several processes
    (("DISTRIBUTED",), WORK + "terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 0 Rank 3] Process group watchdog thread terminated with exception: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, NumelIn=1) ran for 90 milliseconds\nframe #0: c10::Error::Error(std::string) + 0x96 (0x7f in libc10.so)\nframe #1: clone + 0x44 (0x7f in libc.so.6)\n", -6),
    (("CODE_BUG",), "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: an illegal memory access was encountered\nframe #0: c10::Error::Error(std::string) + 0x57 (0x7f in libc10.so)\n", -6),
    (("DISTRIBUTED",), each("[rank5]: ", "Traceback (most recent call last):\n" + USER + "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, remote process exited or there was a network error\nncclRemoteError: A call failed possibly due to a network error\nLast error:\nsocketProgress: Call to recv from 10.0.0.7<33759> failed : Connection reset by peer"), 1),
    (("OOM",), WORK + each("[rank3]: ", "Traceback (most recent call last):\n" + USER + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.") + "epoch 1 step 30/900 loss 1.7\n[rank0]:[E1101 10:10:10 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8)\n" + REPORT, 1),
    (("UNKNOWN",), WORK + REPORT, 1),
    (("UNKNOWN",), WORK + "srun: error: n1: task 3: Exited with exit code 1\nsrun: Terminating StepId=7.0\nslurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-04-03T09:40:00 ***\nsrun: error: n1: tasks 0-2: Terminated\n", 1),
    (("CODE_BUG",), WORK + "AssertionError: Expected throughput of 560000, found 289619\nsrun: error: n1: task 0: Exited with exit code 1\nslurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-04-03T09:40:00 ***\n", 1),
    (("CODE_BUG",), WORK + "ValueError: Target modules {'query'} not found in the base model.\n" + REPORT, 1),
    (("DISTRIBUTED", "DEAD"), WORK + "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.\n\tclass_name: WorkerDict\n\tpid: 69\nThe actor is dead because its worker process has died. There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.\n", 1),
    (("CODE_BUG",), "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 2 terminated with the following error:\n" + trace("AttributeError: 'Namespace' object has no attribute 'batch'"), 1),
    (("DEAD", "OOM"), WORK + "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGKILL\n", 1),
    (("DISTRIBUTED",), WORK + "E coordination_service.cc:954] /job:jax_worker/task:37 has been set to ERROR in coordination service: UNAVAILABLE: Task 37 heartbeat timeout. This indicates that the remote task has failed\n", 1),
    # schedulers, containers, shells
    (("STOPPED",), "|'Epoch 57:  58%|#####| 208/356 [09:46<06:57, loss=slurmstepd: error: *** JOB 7 ON g1 CANCELLED AT 2026-07-08T08:46:25 DUE TO TIME LIMIT ***\n", 1),
    (("STOPPED",), WORK + "slurmstepd: error: *** JOB 6 ON g1 CANCELLED AT 2026-08-12T02:06:12 DUE TO JOB REQUEUE ***\nslurmstepd: error: Failed to send MESSAGE_TASK_EXIT: Connection refused\n", 1),
    (("STOPPED",), WORK + "Job not requeued because: timed-out and not checkpointable.\n", 1),
    (("OOM",), "=>> PBS: job killed: mem 67110012kb exceeded limit 67108864kb\n", 1),
    (("ENVIRONMENT",), 'Lmod has detected the following error:  The following module(s) are unknown: "cuda/99"\n', 1),
    (("ENVIRONMENT",), "FATAL:   could not open image /x/img.sif: failed to retrieve path for /x/img.sif: lstat /x/img.sif: no such file or directory\n", 255),
    (("ENVIRONMENT",), 'Failed to pull image "reg/x:1": rpc error: code = NotFound desc = failed to pull and unpack image\n', 1),
    (("CODE_BUG",), "./train.sh: line 9: DATA_DIR: unbound variable\n", 1),
    (("DEAD", "OOM"), WORK + "make: *** [Makefile:12: train] Killed\n", 2),
    (("STOPPED",), "Traceback (most recent call last):\n" + USER + "TimeoutError: timed out\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n" + USER + "KeyboardInterrupt\n", 130),
    # endpoints, hubs, trackers
    (("API_QUOTA",), WORK + "".join(f"2026-01-02 03:04:0{n} [WARNING] client: Encountered API error: Exception Type: RateLimitError, You exceeded your current quota\n" for n in range(4)) + trace("RuntimeError: Failed to get a response from the API after 5 attempts.").removeprefix(WORK), 1),
    (("ENVIRONMENT",), WORK + trace("TimeoutError: query failed after 10 retries: ContentPolicyViolationError").removeprefix(WORK), 1),
    (("PROXY_DOWN", "NETWORK"), "".join(f"[3/90] request failed (ConnectError), retrying in {n} s\n" for n in (2, 4, 8)) + trace("RuntimeError: giving up after 3 attempts").removeprefix(WORK), 1),
    (("API_QUOTA",), trace("langfuse.api.core.api_error.ApiError: status_code: 429, body: slow down"), 1),
    (("API_QUOTA",), WORK + "<class 'botocore.exceptions.EventStreamError'>:An error occurred (throttlingException) when calling the Invoke operation: Too many requests\n", 1),
    (("PROXY_DOWN",), trace("google.genai.errors.ServerError: 503 UNAVAILABLE. \n{\n    'error': {\n        'code': 503,\n        'status': 'UNAVAILABLE'\n    }\n}"), 1),
    (("PROXY_DOWN",), "API Error: 529 Overloaded. This is a server-side issue.\n", 1),
    (("NETWORK",), trace("RuntimeError: Data error: CAS service error : HTTP status server error (500 Internal Server Error) for url (https://cas.xethub.hf.co/x)"), 1),
    (("NETWORK",), trace("ValueError: Connection error, and we cannot find the requested files in the cached path. Please try again or make sure your Internet connection is on."), 1),
    (("ENVIRONMENT",), "Traceback (most recent call last):\n" + USER + "requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://huggingface.co/org/m/resolve/main/config.json\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n" + USER + "OSError: You are trying to access a gated repo.\n", 1),
    (("ENVIRONMENT",), trace("wandb.errors.errors.CommError: failed to upsert bucket: returned error 403: permission denied"), 1),
    # numbers; bars that are printed again
    (("DIVERGED",), "".join(f"Epoch {n}/90\n100/100 [====] - 3s/step - loss: {'nan' if n > 4 else 0.5}\n" for n in range(1, 9)), 1),
    (("DIVERGED",), "".join(f"{{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 2e-05, 'epoch': 0.{n}}}\n" for n in range(2, 6)), 1),
    (("OOM",), "Epoch 3:  41%|####| 410/1000 [05:12<07:29, loss=0.71]\n" + trace("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB").removeprefix(WORK) + "Epoch 3:  41%|####| 410/1000 [05:13<07:31, loss=0.71]\nwandb: Run summary:\nwandb:  train/loss 0.71\nwandb: trainer/global_step 3410\n", 1),
    (("DIVERGED",), trace("FloatingPointError: Loss became infinite or NaN at iteration=0!\nloss_dict = {'loss_cls': 157.09, 'loss_box': nan}"), 1),
]  # fmt: skip
THREAD = 'Exception in thread Thread-5:\nTraceback (most recent call last):\n  File "/opt/v/lib/python3.11/site-packages/wandb/sdk/internal/file_stream.py", line 277, in _send\n    raise response\nrequests.exceptions.HTTPError: 500 Server Error: Internal Server Error for url: https://api.wandb.ai/files\n'
HEALTHY: list[str] = [
    WORK + THREAD,
    WORK + THREAD + "epoch 1 step 30/900 loss 1.7\n",
    "Epoch 0:   1%|# | 44/4943 [00:11<21:31, loss=7.11]\nwandb: ERROR Error while calling W&B API: internal database error (<Response [500]>)\nEpoch 0:   1%|# | 60/4943 [00:14<20:16, loss=6.37]\nwandb: ERROR Error while calling W&B API: internal database error (<Response [500]>)\n",
    "[W socket.cpp:601] [c10d] The client socket has failed to connect to [localhost]:29500 (errno: 111 - Connection refused).\n",
    "W tensorflow/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory\nEpoch 1/10\n1875/1875 [====] - 4s 2ms/step - loss: 0.29\n",
    "WARNING scheduler.py:1057] Sequence group 12 is preempted because there is not enough KV cache space.\nINFO metrics.py:396] GPU KV cache usage: 99.1%\n",
    "INFO:client:Retrying request to /chat/completions in 0.41 seconds\nINFO:httpx:HTTP Request: POST https://h/v1 \"HTTP/1.1 503 Service Unavailable\"\nINFO:client:Retrying request to /chat/completions in 0.86 seconds\n",
    WORK + "Traceback (most recent call last):\n" + USER + "ModuleNotFoundError: No module named 'seaborn'\nplots are left out\nEvaluation finished in 812 s, accuracy 0.71\n",
    "".join(f"INFO fl 2026-07-23 15:2{n}:01,120 | server.py:222 | round {n} got 10 results\n" for n in range(1, 6)) + "(raylet) A worker died or was killed while executing a task by an unexpected system error. Task was retried: retries left: 2.\n" + "".join(f"INFO fl 2026-07-23 15:3{n}:01,120 | server.py:222 | round {n} got 10 results\n" for n in range(6, 9)),
    "FAILED tests/test_api.py::test_slow - requests.exceptions.ReadTimeout: HTTPSConnectionPool\n[instance 12/300] resolved=False\n[instance 13/300] running\n",
    "[12/50] model said: \"I get torch.OutOfMemoryError: CUDA out of memory. Let me lower the batch.\"\n[13/50] model said: \"Segmentation fault (core dumped) when I run it\"\n",
    "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4294967296, reducing to 2147483648\n{'loss': 1.2, 'grad_norm': nan, 'epoch': 0.01}\n{'loss': 1.1, 'grad_norm': 1.3, 'epoch': 0.02}\n",
    "health check failed once, passed at the next try\nshard 3 stored\nshard 4 stored\n",
    "'(ReadTimeoutError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out.\"))' thrown while requesting HEAD https://huggingface.co/m/config.json\nRetrying in 1s [Retry 1/5].\nMap:  12%|# | 120/1000 [00:01<00:10]\n",
]  # fmt: skip
