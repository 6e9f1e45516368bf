"""A fourth set: ends as less usual tools write them, failed and healthy.

JAX, TensorFlow and Paddle, accelerators other than NVIDIA's, model servers, clients of endpoints, clouds,
pods, schedulers, workflow engines, sweeps, clusters of Dask, Ray and Spark, MPI, compilers and shells. The forms
were learned from reports of real failures; every end is written for this file, after the catalogue had
learned the forms: it guards them, and measures nothing.
"""

# ruff: noqa: E501
from __future__ import annotations

MAIN = 'Traceback (most recent call last):\n  File "train.py", line 212, in <module>\n    main()\n'
BEFORE = "".join(f"step {n}/900 loss {3 - n / 400:.3f}\n" for n in range(100, 160, 10))
AFTER = "".join(f"step {n}/900 loss {3 - n / 400:.3f}\n" for n in range(160, 220, 10))

#: (defensible classes, log, exit code)
FAILED: list[tuple[tuple[str, ...], str, int]] = [
    # jax bfc
    (
        ("OOM",),
        "I0512 03:04:05.123 140 train.py:88] step 100 loss 3.21 steps/s 1.2\nI0512 03:04:05.123 140 train.py:88] step 200 loss 3.11 steps/s 1.2\n2026-01-02 03:04:05.123: W external/xla/xla/tsl/framework/bfc_allocator.cc:482] Allocator (GPU_0_bfc) ran out of memory trying to allocate 9.50GiB (rounded to 43733812479)requested by op\n"
        + MAIN
        + "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 43733812479 bytes.\n",
        1,
    ),
    # jax cudnn init
    (
        ("ENVIRONMENT",),
        "I0512 03:04:05.123 140 train.py:88] step 100 loss 3.21 steps/s 1.2\nI0512 03:04:05.123 140 train.py:88] step 200 loss 3.11 steps/s 1.2\n2026-01-02 03:04:05.123: E external/xla/xla/stream_executor/cuda/cuda_dnn.cc:456] Loaded runtime CuDNN library: 8.5.0 but source was compiled with: 8.6.0.  \n"
        + MAIN
        + "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: DNN library initialization failed.\n",
        1,
    ),
    # jax ptx
    (
        ("ENVIRONMENT",),
        "E external/org_tensorflow/tensorflow/compiler/xla/pjrt/pjrt_stream_executor_client.cc:2086] Execution of replica 0 failed: INTERNAL: CustomCall failed: jaxlib/cuda_prng_kernels.cc:30: operation cudaGetLastError() failed: the provided PTX was compiled with an unsupported toolchain.\n"
        + MAIN
        + "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: CustomCall failed: jaxlib/cuda_prng_kernels.cc:30: operation cudaGetLastError() failed: the provided PTX was compiled with an unsupported toolchain.\n",
        1,
    ),
    # jax debug nans
    (
        ("DIVERGED",),
        "I0512 03:04:05.123 140 train.py:88] step 100 loss 3.21 steps/s 1.2\nI0512 03:04:05.123 140 train.py:88] step 200 loss 3.11 steps/s 1.2\nInvalid nan value encountered in the output of a jax.jit function. Calling the de-optimized version.\n"
        + MAIN
        + "FloatingPointError: invalid value (nan) encountered in log\n",
        1,
    ),
    # tpu in use
    (
        (
            "ENVIRONMENT",
            "HARDWARE",
        ),
        MAIN
        + "RuntimeError: Unable to initialize backend 'tpu': ABORTED: The TPU is already in use by process with pid 4711. (set JAX_PLATFORMS='' to automatically choose an available backend)\n",
        1,
    ),
    # tpu core halted
    (
        ("HARDWARE",),
        "  0%|          | 1/7800 [00:01<2:37:37,  1.21s/it]F0000 00:00:4202010583.890307    9276 pjrt_computation_client.cc:487] Non-OK-status: status status: INTERNAL: Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely, perhaps due to an on-device check-failure. Node 0 halted unexpectedly at tag:pc TensorCoreSeque\n*** Begin stack trace ***\n\ttsl::CurrentStackTrace()\n*** End stack trace ***\nAborted (core dumped)\n",
        134,
    ),
    # tpu unavailable socket
    (
        (
            "DISTRIBUTED",
            "NETWORK",
        ),
        "I0512 03:04:05.123 140 train.py:88] step 100 loss 3.21 steps/s 1.2\nI0512 03:04:05.123 140 train.py:88] step 200 loss 3.11 steps/s 1.2\n"
        + MAIN
        + "jaxlib.xla_extension.XlaRuntimeError: UNAVAILABLE: Socket closed\n",
        1,
    ),
    # torch_xla
    (
        ("OOM",),
        '2026-01-02 03:04:05.123: E tensorflow/compiler/xla/xla_client/xla_util.cc:88]   (1) RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory.78G free, 0B reserved, and 3.33G reservable.\nException in device=TPU:4: RESOURCE_EXHAUSTED: From /job:tpu_worker/replica:0/task:0:\n2 root error(s) found.\n  (0) RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory. That was not possible.\nTraceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/torch_xla/distributed/xla_multiprocessing.py", line 329, in _mp_start_fn\n    _start_fn(index)\n  File "train.py", line 212, in <module>\n    main()\nRuntimeError: RESOURCE_EXHAUSTED: From /job:tpu_worker/replica:0/task:0:\nException: process 4 terminated with exit code 17\n',
        1,
    ),
    # xla mesh rendezvous
    (
        ("DISTRIBUTED",),
        "Process 0 is using TPU:0\nException in device=TPU:3: tensorflow/compiler/xla/xla_client/mesh_service.cc:243 : Failed to meet rendezvous 'init': Socket closed (14)\nException in device=TPU:4: tensorflow/compiler/xla/xla_client/mesh_service.cc:243 : Failed to meet rendezvous 'init': Socket closed (14)\n"
        + MAIN
        + "RuntimeError: tensorflow/compiler/xla/xla_client/mesh_service.cc:243 : Failed to meet rendezvous 'init': Socket closed (14)\n",
        1,
    ),
    # keras terminate
    (
        ("DIVERGED",),
        "Epoch 3/30\n   1/1500 [..............................] - ETA: 4:11 - loss: 2.2759 - accuracy: 0.2188\n 700/1500 [=============>................] - ETA: 2:11 - loss: 2.1759 - accuracy: 0.2388\n 702/1500 [=============>................] - ETA: 2:11 - loss: nan - accuracy: 0.1719  Batch 701: Invalid loss, terminating training\n"
        + MAIN
        + "SystemExit: 1\n",
        1,
    ),
    # tf libdevice
    (
        ("ENVIRONMENT",),
        "Epoch 3/30\n   1/1500 [..............................] - ETA: 4:11 - loss: 2.2759 - accuracy: 0.2188\n 700/1500 [=============>................] - ETA: 2:11 - loss: 2.1759 - accuracy: 0.2388\n2026-01-02 03:04:05.123: W tensorflow/compiler/xla/service/gpu/nvptx_helper.cc:56] Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. \n"
        + MAIN
        + "tensorflow.python.framework.errors_impl.InternalError: Graph execution error:\n\nDetected at node 'StatefulPartitionedCall_4' defined at (most recent call last):\nNode: 'StatefulPartitionedCall_4'\nlibdevice not found at ./libdevice.10.bc\n\t [[{{node StatefulPartitionedCall_4}}]] [Op:__inference_train_function_3470]\n",
        1,
    ),
    # tf cuda launch
    (
        (
            "HARDWARE",
            "CODE_BUG",
        ),
        "Epoch 3/30\n   1/1500 [..............................] - ETA: 4:11 - loss: 2.2759 - accuracy: 0.2188\n 700/1500 [=============>................] - ETA: 2:11 - loss: 2.1759 - accuracy: 0.2388\n2026-01-02 03:04:05.123: E tensorflow/stream_executor/cuda/cuda_event.cc:29] Error polling for event status: failed to query event: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure\n2026-01-02 03:04:05.123: F tensorflow/core/common_runtime/gpu/gpu_event_mgr.cc:220] Unexpected Event status: 1\nAborted (core dumped)\n",
        134,
    ),
    # tf dst host
    (
        ("OOM",),
        "Epoch 3/30\n   1/1500 [..............................] - ETA: 4:11 - loss: 2.2759 - accuracy: 0.2188\n 700/1500 [=============>................] - ETA: 2:11 - loss: 2.1759 - accuracy: 0.2388\n"
        + MAIN
        + "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:\n\nfailed to allocate memory\n\t [[{{node Adam/Adam/update}}]]\n",
        1,
    ),
    # paddle 719
    (
        (
            "HARDWARE",
            "CODE_BUG",
        ),
        "[2026/01/02 03:04:05] ppocr INFO: epoch: [3/1200], global_step: 750, lr: 0.001000, loss: 2.015131, ips: 22.2 samples/s, eta: 03:04:05\n[2026/01/02 03:04:05] ppocr INFO: epoch: [4/1200], global_step: 770, lr: 0.001000, loss: 2.244609, ips: 22.2 samples/s\n"
        + MAIN
        + "OSError: (External) CUDA error(719), unspecified launch failure. \n  [Hint: 'cudaErrorLaunchFailure'. An exception occurred on the device while executing a kernel.] (at /paddle/paddle/phi/backends/gpu/cuda/cuda_info.cc:259)\n",
        1,
    ),
    # paddle oom
    (
        ("OOM",),
        "[2026/01/02 03:04:05] ppocr INFO: epoch: [3/1200], global_step: 750, lr: 0.001000, loss: 2.015131, ips: 22.2 samples/s, eta: 03:04:05\n[2026/01/02 03:04:05] ppocr INFO: epoch: [4/1200], global_step: 770, lr: 0.001000, loss: 2.244609, ips: 22.2 samples/s\n--------------------------------------\nC++ Traceback (most recent call last):\n--------------------------------------\n0   paddle::imperative::BasicEngine::Execute()\n1   paddle::memory::allocation::CUDAAllocator::AllocateImpl(unsigned long)\n\n----------------------\nError Message Summary:\n----------------------\nResourceExhaustedError: \n\nOut of memory error on GPU 0. Cannot allocate 1.2GB memory on GPU 0, 22.1GB memory has been allocated and available memory is only 860MB.\n\n\n (at /paddle/paddle/fluid/memory/allocation/cuda_allocator.cc:95)\n",
        1,
    ),
    # paddle term
    (
        (
            "STOPPED",
            "DEAD",
        ),
        "[2026/01/02 03:04:05] ppocr INFO: epoch: [3/1200], global_step: 750, lr: 0.001000, loss: 2.015131, ips: 22.2 samples/s, eta: 03:04:05\n[2026/01/02 03:04:05] ppocr INFO: epoch: [4/1200], global_step: 770, lr: 0.001000, loss: 2.244609, ips: 22.2 samples/s\n\n--------------------------------------\nC++ Traceback (most recent call last):\n--------------------------------------\nNo stack trace in paddle, may be caused by external reasons.\n\n----------------------\nError Message Summary:\n----------------------\nFatalError: `Termination signal` is detected by the operating system.\n  [TimeInfo: *** Aborted at 4557349118 (unix time) ***]\n  [SignalInfo: *** SIGTERM (@0x2714) received by PID 1835 (TID 0x7f) from PID 43331 ***]\n",
        1,
    ),
    # paddle worker
    (
        ("CODE_BUG",),
        '[2026/01/02 03:04:05] ppocr INFO: epoch: [3/1200], global_step: 750, lr: 0.001000, loss: 2.015131, ips: 22.2 samples/s, eta: 03:04:05\n[2026/01/02 03:04:05] ppocr INFO: epoch: [4/1200], global_step: 770, lr: 0.001000, loss: 2.244609, ips: 22.2 samples/s\nTraceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/paddle/fluid/dataloader/dataloader_iter.py", line 632, in _get_data\n    raise\n  File "train.py", line 212, in <module>\n    main()\nRuntimeError: DataLoader 1 workers exit unexpectedly, pids: 461\n',
        1,
    ),
    # paddle launch
    (
        ("UNKNOWN",),
        "[2026/01/02 03:04:05] ppocr INFO: epoch: [3/1200], global_step: 750, lr: 0.001000, loss: 2.015131, ips: 22.2 samples/s, eta: 03:04:05\n[2026/01/02 03:04:05] ppocr INFO: epoch: [4/1200], global_step: 770, lr: 0.001000, loss: 2.244609, ips: 22.2 samples/s\nLAUNCH INFO 2026-01-02 03:04:05,123 Pod failed\nLAUNCH ERROR 2026-01-02 03:04:05,123 Container failed !!!\nContainer rank 0 status failed cmd ['/usr/bin/python', '-u', 'tools/train.py'] code 1 log log/workerlog.0\nLAUNCH INFO 2026-01-02 03:04:05,123 ------------------------- ERROR LOG DETAIL -------------------------\nLAUNCH INFO 2026-01-02 03:04:05,123 Exit code 1\n",
        1,
    ),
    # fairseq oom
    (
        ("OOM",),
        "2026-01-02 03:04:05 | INFO | train_inner | epoch 002:    300 / 1374 loss=13.689, ppl=44739.82, num_updates=290, lr=7.3e-06, gnorm=3.057\n2026-01-02 03:04:05 | WARNING | fairseq.trainer | OOM: Ran out of memory with exception: CUDA out of memory. Tried to allocate 1.1 GiB (GPU 0; 10.76 GiB total capacity)\n2026-01-02 03:04:05 | ERROR | fairseq.trainer | OOM during optimization, irrecoverable\n"
        + MAIN
        + "RuntimeError: CUDA out of memory. Tried to allocate 1.1 GiB (GPU 0; 10.76 GiB total capacity)\n",
        1,
    ),
    # espnet run.pl
    (
        ("ENVIRONMENT",),
        "2021-09-29T10:10:10 (asr.sh:1100:main) ASR training started... log: 'exp/asr/train.log'\nrun.pl: job failed, log is in exp/asr/train.log\n# Running on gpu01\n# Started at Wed Sep 29\nbash: line 1: sox: command not found\n# Accounting: time=2 threads=1\n# Ended (code 127) at Wed Sep 29, elapsed time 2 seconds\n",
        1,
    ),
    # kaldi run.pl
    (("UNKNOWN",), "steps/train.sh --stage 11\nrun.pl: 4 / 32 failed, log is in exp/tri1/log/acc.1.*.log\n", 1),
    # nemo hydra
    (
        ("CODE_BUG",),
        "[NeMo I 2026-01-02 03:04:05 exp_manager:300] Experiments will be logged at /results\nError executing job with overrides: ['trainer.devices=8']\n"
        + MAIN
        + "omegaconf.errors.MissingMandatoryValue: Missing mandatory value: model.train_ds.manifest_filepath\n    full_key: model.train_ds.manifest_filepath\n    object_type=dict\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n",
        1,
    ),
    # megatron nan
    (
        ("DIVERGED",),
        " iteration        3/   43333 | consumed samples:           96 | elapsed time per iteration (ms): 3487.3 | learning rate: 3.0E-07 | lm loss: 2.098205E+01 | grad norm: 308.510 | number of nan iterations:   0 |\n"
        + MAIN
        + "AssertionError: Rank 11: found NaN in local grad norm in backward pass before data-parallel communication collective. Device: 3, node: n7\n",
        1,
    ),
    # megatron rerun
    (
        ("DIVERGED",),
        " iteration        3/   43333 | consumed samples:           96 | elapsed time per iteration (ms): 3487.3 | learning rate: 3.0E-07 | lm loss: 2.098205E+01 | grad norm: 308.510 | number of nan iterations:   0 |\nERROR:megatron.core.rerun_state_machine:Unexpected result nan on rank 3 at iteration #3 invocation #2 (message='found NaN in local grad norm for bucket #0 in backward pass before data-parallel communication collective')\nERROR:megatron.core.rerun_state_machine:Rank 3, node n7, device 3, iteration #3: First rerun: unexpected result is reproducible within the tolerance (nan = nan).\nWARNING:megatron.core.rerun_state_machine:Exiting now. A checkpoint at the last iteration is being saved \n",
        1,
    ),
    # megatron inf
    (
        ("DIVERGED",),
        " iteration        3/   43333 | consumed samples:           96 | elapsed time per iteration (ms): 3487.3 | learning rate: 3.0E-07 | lm loss: 2.098205E+01 | grad norm: 308.510 | number of nan iterations:   0 |\n"
        + MAIN
        + "RuntimeError: Unexpected result inf (message='found Inf in local grad norm for bucket #0 in backward pass')\n",
        1,
    ),
    # colossalai
    (
        ("OOM",),
        MAIN
        + "RuntimeError: CUDA out of memory. Tried to allocate 2.0 GiB\nERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 0 (pid: 88) of binary: /opt/conda/bin/python\nError: failed to run torchrun --nproc_per_node=4 train.py on 127.0.0.1, is localhost: True, exception: Encountered a bad command exit code!\n\nCommand: 'cd /w && torchrun --nproc_per_node=4 train.py'\n\nExit code: 1\n",
        1,
    ),
    # ascend npu
    (
        ("OOM",),
        "  5%|5         | 12/240 [01:00<18:00,  5.0s/it]\n[ERROR] 2026-01-02-03:04:05 (PID:48862, Device:2, RankID:2) ERR00100 PTA call acl api failed\nEL0004: 2026-01-02-03:04:05.123.141 Failed to allocate memory.\n        Possible Cause: Available memory is insufficient.\n        Solution: Close applications not in use.\n",
        1,
    ),
    # detectron anchors
    (
        ("DIVERGED",),
        MAIN + "FloatingPointError: Predicted boxes or scores contain Inf/NaN. Training has diverged.\n",
        1,
    ),
    # kohya latents
    (
        ("DIVERGED",),
        "caching latents...\n  0%|          | 0/19 [00:01<?, ?it/s]\n╭──────── Traceback (most recent call last) ────────╮\n│ /w/train_network.py:252 in train                  │\n│   249 │   with torch.no_grad():                   │\n╰───────────────────────────────────────────────────╯\nRuntimeError: NaN detected in latents: /w/img/100_x/020.jpg\n╭──────── Traceback (most recent call last) ────────╮\n│ /opt/conda/bin/accelerate:8 in <module>           │\n╰───────────────────────────────────────────────────╯\nCalledProcessError: Command '['/opt/conda/bin/python', './train_network.py']' returned non-zero exit status 1.\n",
        1,
    ),
    # diffusers black
    (
        ("CODE_BUG",),
        MAIN
        + "ValueError: Cannot load <class 'diffusers.models.unets.unet_2d_condition.UNet2DConditionModel'> from /m because the following keys are missing: \n conv_in.weight, conv_in.bias\n",
        1,
    ),
    # whisper ffmpeg load
    (
        ("ENVIRONMENT",),
        MAIN
        + "RuntimeError: Failed to load audio: ffmpeg version 4.4.2 Copyright (c) 2000-2021\n/data/a.wav: Invalid data found when processing input\n",
        1,
    ),
    # sglang mem
    (
        ("OOM",),
        "[2026-01-02 03:04:05 TP0] Load weight end. type=Llama, avail mem=1.73 GB, mem usage=66.59 GB.\n[2026-01-02 03:04:05 TP0] Scheduler hit an exception: "
        + MAIN
        + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n[2026-01-02 03:04:05] Received sigquit from a child process. It usually means the child failed.\nKilled\n",
        1,
    ),
    # tgi signal 9
    (
        ("DEAD",),
        "2024-04-18T22:44:08.150056Z  INFO shard-manager: text_generation_launcher: Waiting for shard to be ready... rank=0\n2024-04-18T22:44:09.150056Z ERROR shard-manager: text_generation_launcher: Shard complete standard error output:\n\n rank=0\n2024-04-18T22:44:09.150057Z ERROR shard-manager: text_generation_launcher: Shard process was signaled to shutdown with signal 9 rank=0\n2024-04-18T22:44:09.2Z ERROR text_generation_launcher: Shard 0 failed to start\n2024-04-18T22:44:09.2Z  INFO text_generation_launcher: Shutting down shards\nError: ShardCannotStart\n",
        1,
    ),
    # tgi oom
    (
        ("OOM",),
        '2024-04-18T22:44:08.150056Z  INFO text_generation_launcher: Warming up model\n2024-04-18T22:44:09.150056Z ERROR warmup{max_input_length=1024 max_prefill_tokens=4096}:warmup: text_generation_client: router/client/src/lib.rs:33: Server error: Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`\nError: Warmup(Generation("Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`"))\n2024-04-18T22:44:09.2Z ERROR text_generation_launcher: Webserver Crashed\nError: WebserverFailed\n',
        1,
    ),
    # llama.cpp
    (
        ("OOM",),
        "load_tensors: loading model tensors, this can take a while... (mmap = true)\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 41902.04 MiB on device 0: cudaMalloc failed: out of memory\nalloc_tensor_range: failed to allocate CUDA0 buffer of size 480980521571\nllama_model_load: error loading model: unable to allocate CUDA0 buffer\nllama_model_load_from_file_impl: failed to load model\nmain: error: unable to load model\n",
        1,
    ),
    # llama.cpp cpu
    (
        ("OOM",),
        "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 442611473\nalloc_tensor_range: failed to allocate CPU buffer of size 442611473\nllama_model_load: error loading model: unable to allocate CPU buffer\nllama_model_load_from_file_impl: failed to load model\npanic: unable to load model: /blobs/sha256-ac9b\n\ngoroutine 40 [running]:\ngithub.com/ollama/ollama/runner/llamarunner.(*Server).loadModel(0xc000)\n",
        1,
    ),
    # ollama killed
    (
        (
            "DEAD",
            "OOM",
        ),
        "question 12/200 ok\nquestion 13/200 ok\n"
        + MAIN
        + "ollama._types.ResponseError: llama runner process has terminated: signal: killed (status code: 500)\n",
        1,
    ),
    # ollama down
    (("PROXY_DOWN",), MAIN + "ConnectionError: Failed to connect to Ollama. It is not running.\n", 1),
    # gguf arch
    (
        ("ENVIRONMENT",),
        "llama_model_load: error loading model: error loading model architecture: unknown model architecture: 'qwen9'\nllama_model_load_from_file_impl: failed to load model\nmain: error: unable to load model\n",
        1,
    ),
    # gemini 429
    (
        ("API_QUOTA",),
        "item 40/200\n"
        + MAIN
        + "google.genai.errors.ClientError: 429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'message': 'You exceeded your current quota, please check your plan and billing details.', 'status': 'RESOURCE_EXHAUSTED'}}\n",
        1,
    ),
    # anthropic 529
    (
        ("PROXY_DOWN",),
        MAIN
        + "anthropic._exceptions.OverloadedError: Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}\n",
        1,
    ),
    # replicate 402
    (
        ("API_QUOTA",),
        MAIN
        + "replicate.exceptions.ReplicateError: ReplicateError Details:\ntitle: Billing required\nstatus: 402\ndetail: set up billing first\n",
        1,
    ),
    # promptfoo
    (
        ("API_QUOTA",),
        '[worker] Running 200 test cases\nEvaluating [██████████░░░░░░] 41% | 82/200\nError: API call error: 429 Too Many Requests\n{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}\nEvaluation aborted\n',
        1,
    ),
    # deepeval timeout
    (
        ("PROXY_DOWN",),
        "Evaluating 60 test case(s) in parallel: |██        | 20% (12/60) [Time Taken: 01:11,  5.9s/test case]\n"
        + MAIN
        + "openai.APITimeoutError: Request timed out.\n",
        1,
    ),
    # llamaindex
    (
        ("PROXY_DOWN",),
        "Retrying llama_index.llms.openai.base.OpenAI._chat in 1.0 seconds as it raised APIConnectionError: Connection error..\nRetrying llama_index.llms.openai.base.OpenAI._chat in 2.0 seconds as it raised APIConnectionError: Connection error..\n"
        + MAIN
        + "openai.APIConnectionError: Connection error.\n",
        1,
    ),
    # langchain parser
    (
        ("CODE_BUG",),
        "> Entering new AgentExecutor chain...\n"
        + MAIN
        + "ValueError: An output parsing error occurred. This is the error: Could not parse LLM output: `I need to`\n\n",
        1,
    ),
    # sagemaker oom
    (
        ("OOM",),
        '2026-01-02 03:04:05,123 sagemaker-training-toolkit ERROR    Reporting training FAILURE\n2026-01-02 03:04:05,123 sagemaker-training-toolkit ERROR    ExecuteUserScriptError:\nExitCode 1\nErrorMessage "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 14.76 GiB"\nCommand "/opt/conda/bin/python3.10 train.py --epochs 3"\n2026-01-02 03:04:05,123 sagemaker-training-toolkit ERROR    Encountered exit_code 1\n\n2026-01-02 03:04:05 Uploading - Uploading generated training model\n2026-01-02 03:04:05 Failed - Training job failed\n',
        1,
    ),
    # sagemaker spot/maxruntime
    (
        ("STOPPED",),
        "step 100 loss 2.2\n2026-01-02 03:04:05 MaxRuntimeExceeded - Training job runtime exceeded MaxRuntimeInSeconds provided\n2026-01-02 03:04:05 Stopped - Training job stopped\n",
        1,
    ),
    # vertex
    (
        ("UNKNOWN",),
        'Job failed with:\ncode: 3\nmessage: "The replica workerpool0-0 exited with a non-zero status of 1."\n',
        1,
    ),
    # vertex 137
    (
        (
            "DEAD",
            "OOM",
        ),
        "INFO:root:step 100 loss 2.2\n"
        + MAIN
        + 'RuntimeError: Training failed with:\ncode: 3\nmessage: "The replica workerpool0-0 exited with a non-zero status of 137. Termination reason: Error."\n',
        1,
    ),
    # azureml
    (
        ("UNKNOWN",),
        'Traceback:\nCleaning up all outstanding Run operations, waiting 300.0 seconds\n1 items cleaning up...\nError: ActivityFailedException:\n\tMessage: Activity Failed:\n{\n    "error": {\n        "code": "UserError",\n        "message": "Execution failed. User process \'/azureml-envs/bin/python\' exited with status code 1. Please check log file \'user_logs/std_log.txt\' for error details."\n    }\n}\n',
        1,
    ),
    # azureml with err
    (
        ("CODE_BUG",),
        '{\n    "error": {\n        "code": "UserError",\n        "message": "Execution failed. User process \'python\' exited with status code 1. Please check log file \'user_logs/std_log.txt\' for error details. Error: Traceback (most recent call last):\\n  File \\"train.py\\", line 3, in <module>\\n    x = d[\'lr\']\\nKeyError: \'lr\'\\n"\n    }\n}\n',
        1,
    ),
    # k8s describe
    (
        ("OOM",),
        "step 400 loss 2.1\n    State:          Waiting\n      Reason:       CrashLoopBackOff\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n",
        137,
    ),
    # k8s image
    (
        ("ENVIRONMENT",),
        'Events:\n  Warning  Failed     12s (x2 over 30s)  kubelet            Failed to pull image "reg/x:1": rpc error: code = NotFound desc = failed to pull and unpack image\n  Warning  Failed     12s (x2 over 30s)  kubelet            Error: ErrImagePull\n  Normal   BackOff    1s (x2 over 29s)   kubelet            Back-off pulling image "reg/x:1"\n',
        1,
    ),
    # k8s unschedulable
    (
        ("ENVIRONMENT",),
        "Events:\n  Type     Reason            Age   From               Message\n  Warning  FailedScheduling  30s   default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.\nerror: timed out waiting for the condition on pods/train-0\n",
        1,
    ),
    # k8s starterror
    (
        ("ENVIRONMENT",),
        '    Last State:     Terminated\n      Reason:       StartError\n      Message:      failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "trainer.task": executable file not found in $PATH: unknown\n      Exit Code:    128\n',
        128,
    ),
    # pbs vmem
    (("OOM",), "step 10 loss 2.2\n=>> PBS: job killed: vmem 4427054327 exceeded limit 4012194519\n", 271),
    # pbs mail
    (
        ("OOM",),
        "PBS Job Id: 48245231\nJob Name:   sarekRecal\nExec host:  node450/0-19\nAborted by PBS Server\nJob exceeded a memory resource limit (vmem, pvmem, etc.). Job was aborted\nSee Administrator for help\nExit_status=-10\n",
        143,
    ),
    # lsf owner
    (
        ("STOPPED",),
        "TERM_OWNER: job killed by owner.\nExited with exit code 130.\n\nResource usage summary:\n    CPU time :     100 sec.\n",
        130,
    ),
    # lsf preempt
    (("STOPPED",), "TERM_PREEMPT: job killed after preemption.\nExited with exit code 1.\n", 1),
    # condor evict
    (
        ("STOPPED",),
        "step 10 loss 2\n004 (812.000.000) 2026-01-02 03:04:05 Job was evicted.\n\t(0) CPU times\n012 (812.000.000) 2026-01-02 03:04:05 Job was held.\n",
        1,
    ),
    # condor mem
    (
        ("OOM",),
        "step 10 loss 2\n012 (812.000.000) 2026-01-02 03:04:05 Job was held.\n\tError from slot1@n7: Job has gone over cgroup memory limit of 4096 megabytes. Peak usage: 4100 megabytes.\n\tCode 34 Subcode 102\n",
        1,
    ),
    # mpirun 9
    (
        (
            "DEAD",
            "OOM",
        ),
        "[1,0]<stdout>:step 100 loss 2\n--------------------------------------------------------------------------\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has been aborted.\n--------------------------------------------------------------------------\nmpirun noticed that process rank 1 with PID 811 on node n7 exited on signal 9 (Killed).\n--------------------------------------------------------------------------\n",
        137,
    ),
    # mpirun 1
    (
        (
            "UNKNOWN",
            "DISTRIBUTED",
        ),
        "[1,0]<stdout>:step 100 loss 2\n--------------------------------------------------------------------------\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has been aborted.\n--------------------------------------------------------------------------\nmpirun detected that one or more processes exited with non-zero status, so the job\nis ended. The first process to do so was:\n\n  Process name: [[46624,1],0]\n  Exit code:    1\n--------------------------------------------------------------------------\n",
        1,
    ),
    # mpirun 11
    (
        ("DEAD",),
        "--------------------------------------------------------------------------\nmpirun noticed that process rank 3 with PID 0 on node n7 exited on signal 11 (Segmentation fault).\n--------------------------------------------------------------------------\n",
        139,
    ),
    # horovod tagged
    (
        ("CODE_BUG",),
        "[1,0]<stderr>:Traceback (most recent call last):\n[1,0]<stderr>:  File \"train.py\", line 212, in <module>\n[1,0]<stderr>:    main()\n[1,0]<stderr>:ValueError: could not convert string to float: 'abc'\n[1,1]<stderr>:tensorflow.python.framework.errors_impl.UnknownError: Horovod has been shut down. \n--------------------------------------------------------------------------\nmpirun detected that one or more processes exited with non-zero status, so the job\nis ended. The first process to do so was:\n\n  Process name: [[46624,1],0]\n  Exit code:    1\n",
        1,
    ),
    # horovodrun
    (
        ("UNKNOWN",),
        MAIN
        + "RuntimeError: Horovod detected that one or more processes exited with non-zero status, thus causing the job to be terminated. The first process to do so was:\nProcess name: 1\nExit code: 1\n",
        1,
    ),
    # spark yarn
    (
        ("OOM",),
        "18/05/16 03:04:05 WARN YarnSchedulerBackend$YarnSchedulerEndpoint: Container killed by YARN for exceeding memory limits. 8.2 GB of 8 GB physical memory used.\n18/05/16 03:04:05 ERROR YarnClusterScheduler: Lost executor 6 on n7: Container killed by YARN for exceeding memory limits. 8.2 GB of 8 GB physical memory used.\n18/05/16 03:04:05 ERROR TaskSetManager: Task 1 in stage 0.0 failed 4 times; aborting job\n"
        + MAIN
        + "py4j.protocol.Py4JJavaError: An error occurred while calling o88.collectToPython.\n: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost task 1.3 in stage 0.0 (TID 7, n7, executor 6): ExecutorLostFailure (executor 6 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding memory limits.\n",
        1,
    ),
    # spark lost
    (
        ("DISTRIBUTED",),
        "24/05/16 03:04:05 ERROR TaskSchedulerImpl: Lost executor 4 on n7: Remote RPC client disassociated.\n"
        + MAIN
        + "py4j.protocol.Py4JJavaError: An error occurred while calling o88.count.\n: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost task 1.3 in stage 0.0 (TID 7, n7, executor 6): ExecutorLostFailure (executor 6 exited caused by one of the running tasks) Reason: Remote RPC client disassociated.\n",
        1,
    ),
    # tune err
    (
        ("CODE_BUG",),
        '2026-01-02 03:04:05,123\tERROR tune_controller.py:911 -- Trial task failed for trial objective_57913_00005\nTraceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/ray/_private/worker.py", line 2526, in get\n    raise value\nray.exceptions.RayTaskError(ZeroDivisionError): ray::ImplicitFunc.train() (pid=99, ip=10.0.0.1)\n  File "/w/tune.py", line 12, in objective\n    return 1/0\nZeroDivisionError: division by zero\nNumber of errored trials: 1\nTraceback (most recent call last):\n  File "/w/tune.py", line 30, in <module>\n    tune.run(objective)\n  File "/opt/conda/lib/python3.10/site-packages/ray/tune/tune.py", line 272, in run\n    raise TuneError\nray.tune.error.TuneError: (\'Trials did not complete\', [objective_57913_00005])\n',
        1,
    ),
    # tune slurm oom
    (
        ("OOM",),
        'Traceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/ray/worker.py", line 2189, in get\n    raise value\nray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.\nTraceback (most recent call last):\n  File "/w/tune.py", line 30, in <module>\n    tune.run(objective)\nray.tune.error.TuneError: (\'Trials did not complete\', [seed:5591])\nslurmstepd: error: Detected 8 oom-kill event(s) in step 46042963.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.\n',
        1,
    ),
    # optuna
    (
        ("CODE_BUG",),
        "[I 2026-01-02 03:04:05,123] A new study created in memory with name: no-name\n[W 2026-01-02 03:04:05,123] Trial 0 failed with parameters: {'lr': 0.1} because of the following error: KeyError('val_loss').\nTraceback (most recent call last):\n  File \"opt.py\", line 22, in objective\n    return m['val_loss']\nKeyError: 'val_loss'\n",
        1,
    ),
    # nextflow 137
    (
        (
            "DEAD",
            "OOM",
        ),
        "executor >  local (3)\n[8a/11ff22] process > ALIGN (3) [ 66%] 2 of 3\nError executing process > 'ALIGN (3)'\n\nCaused by:\n  Process `ALIGN (3)` terminated with an error exit status (137)\n\nCommand executed:\n\n  minimap2 -x map-ont ref.fa\n\nCommand exit status:\n  137\n\nCommand output:\n  (empty)\n\nCommand error:\n  .command.sh: line 2:    33 Killed                  minimap2 -x map-ont ref.fa\n\nWork dir:\n  /w/wd/8a/11ff22\n\n",
        1,
    ),
    # nextflow 127
    (
        ("ENVIRONMENT",),
        "Error executing process > 'ALIGN (3)'\n\nCaused by:\n  Process `ALIGN (3)` terminated with an error exit status (127)\n\nCommand executed:\n\n  minimap2 ref.fa\n\nCommand exit status:\n  127\n\nCommand error:\n  .command.sh: line 2: minimap2: command not found\n\nWork dir:\n  /w/wd/8a/11ff22\n",
        1,
    ),
    # nextflow 127 bare
    (
        ("ENVIRONMENT",),
        "Error executing process > 'ALIGN (3)'\n\nCaused by:\n  Process `ALIGN (3)` terminated with an error exit status (127)\n\nCommand exit status:\n  127\n\nCommand output:\n  (empty)\n\nWork dir:\n  /w/wd/8a/11ff22\n",
        1,
    ),
    # nextflow 125 docker
    (
        ("ENVIRONMENT",),
        "Error executing process > 'ALIGN (3)'\n\nCaused by:\n  Process `ALIGN (3)` terminated with an error exit status (125)\n\nCommand error:\n  docker: Got permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock\n  See 'docker run --help'.\n",
        1,
    ),
    # nextflow 1
    (
        ("UNKNOWN",),
        "Error executing process > 'FIT (1)'\n\nCaused by:\n  Process `FIT (1)` terminated with an error exit status (1)\n\nCommand executed:\n\n  fit.py --x\n\nCommand exit status:\n  1\n\nCommand output:\n  (empty)\n\nWork dir:\n  /w/wd/8a/11ff22\n\n",
        1,
    ),
    # dvc
    (
        ("UNKNOWN",),
        "Running stage 'train':\n> python train.py\nERROR: failed to reproduce 'train': failed to run: python train.py, exited with 1\n",
        1,
    ),
    # dvc missing
    (
        ("ENVIRONMENT",),
        "Running stage 'prep':\nERROR: failed to reproduce 'train': [Errno 2] No such file or directory: '/w/data'\n",
        1,
    ),
    # dvc pull
    (
        ("ENVIRONMENT",),
        "Collecting                          |12.0 [00:01,  8.0entry/s]\nERROR: failed to pull data from the cloud - Checkout failed for following targets:\ndata/raw\nIs your cache up to date?\n<https://error.dvc.org/missing-files>\n",
        255,
    ),
    # bnb
    (
        ("ENVIRONMENT",),
        "CUDA SETUP: Required library version not found: libbitsandbytes_cuda118.so. Maybe you need to compile it from source?\nCUDA SETUP: Defaulting to libbitsandbytes_cpu.so...\n"
        + MAIN
        + "RuntimeError: \n        CUDA Setup failed despite GPU being available. Please run the following command to get more information:\n\n        python -m bitsandbytes\n",
        1,
    ),
    # hip function
    (
        ("ENVIRONMENT",),
        MAIN
        + "RuntimeError: HIP error: invalid device function\nHIP kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nFor debugging consider passing AMD_SERIALIZE_KERNEL=3\n",
        1,
    ),
    # hip nobinary
    (
        ("ENVIRONMENT",),
        '"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"\nAborted (core dumped)\n',
        134,
    ),
    # xpu lost
    (("HARDWARE",), MAIN + "RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)\n", 1),
    # xpu oor
    (("OOM",), MAIN + "RuntimeError: level_zero backend failed with error: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)\n", 1),
    # mps placeholder
    (("CODE_BUG",), MAIN + "RuntimeError: Placeholder storage has not been allocated on MPS device!\n", 1),
    # mps notimpl
    (
        (
            "CODE_BUG",
            "ENVIRONMENT",
        ),
        MAIN
        + "NotImplementedError: The operator 'aten::_ctc_loss' is not currently implemented for the MPS device. \n",
        1,
    ),
    # mps insufficient
    (
        ("OOM",),
        "Error: command buffer exited with error status.\n\tThe Metal Performance Shaders operations encoded on it may not have completed.\n\tError: \n\t(null)\n\tInsufficient Memory (43333339:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n\t<AGXG14XFamilyCommandBuffer: 0x45fd0ea50>\n",
        1,
    ),
    # mps invalid buffer
    (("OOM",), MAIN + "RuntimeError: Invalid buffer size: 9.75 GB\n", 1),
    # triton compile
    (
        ("CODE_BUG",),
        MAIN
        + "triton.compiler.errors.CompilationError: at 12:8:\n    x = tl.dot(a, b)\n        ^\nAssertionError('Input shapes should have M >= 16, N >= 16 and K >= 16')\n",
        1,
    ),
    # 126
    (("ENVIRONMENT",), "bash: ./train.sh: Permission denied\n", 126),
    # 127
    (("ENVIRONMENT",), "+ module load cuda\n+ trtrain --x\n", 127),
    # abort
    (
        ("CODE_BUG",),
        "step 10/90 loss 1.2\ntrain: ../src/x.cc:12: void f(): Assertion `n > 0' failed.\nAborted (core dumped)\n",
        134,
    ),
    # int
    (("STOPPED",), "step 10/90 loss 1.2\n^C\n", 130),
    # docker compose
    (("OOM",), "trainer-1  | step 10/90 loss 1.2\ntrainer-1 exited with code 137 (OOMKilled: true)\n", 137),
    # vllm illegal prefixed
    (
        ("CODE_BUG",),
        "(EngineCore pid=47711) ERROR 07-15 03:04:05 [core.py:1240] Traceback (most recent call last):\n(EngineCore pid=47711) ERROR 07-15 03:04:05 [core.py:1240]   File \"/opt/v/lib/python3.12/site-packages/vllm/v1/executor/multiproc_executor.py\", line 394, in get_response\n(EngineCore pid=47711) ERROR 07-15 03:04:05 [core.py:1240]     raise RuntimeError(\n(EngineCore pid=47711) ERROR 07-15 03:04:05 [core.py:1240] RuntimeError: Worker failed with error 'CUDA error: an illegal memory access was encountered\n(EngineCore pid=47711) ERROR 07-15 03:04:05 [core.py:1240] Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com for more information.\n(EngineCore pid=47711) ERROR 07-15 03:04:05 [core.py:1240] ', please check the stack trace above for the root cause\n(EngineCore pid=47711) ERROR 07-15 03:04:05 [multiproc_executor.py:284] Worker proc VllmWorker-0 died unexpectedly (exit code: -15), shutting down executor.\n"
        + MAIN
        + "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n",
        1,
    ),
    # watchdog stuck
    (
        ("DISTRIBUTED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n[rank6]:[E429 03:04:05.123 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 6] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.\n[rank6]:[F429 03:04:05.123 ProcessGroupNCCL.cpp:1554] [PG ID 0 PG GUID 0(default_pg) Rank 6] Terminating the process after attempting to dump debug info, due to ProcessGroupNCCL watchdog hang.\nAborted (core dumped)\n",
        134,
    ),
    # watchdog illegal
    (
        ("CODE_BUG",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nterminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 2 PG GUID 3 Rank 0] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nException raised from c10_cuda_check_implementation at /pytorch/c10/cuda/CUDAException.cpp:42 (most recent call first):\nframe #0: c10::Error::Error(c10::SourceLocation) + 0x80 (0x7f0 in libc10.so)\n",
        134,
    ),
    # watchdog ecc
    (
        ("HARDWARE",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nterminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [Rank 2] Process group watchdog thread terminated with exception: CUDA error: uncorrectable ECC error encountered\nframe #0: c10::Error::Error\n",
        134,
    ),
    # singularity
    (
        ("ENVIRONMENT",),
        "FATAL:   container creation failed: mount /proc/self/fd/3->/usr/local/var/singularity/mnt/session/rootfs error: while mounting image /proc/self/fd/3: failed to find loop device: could not attach image file to loop device: no loop devices available\n",
        255,
    ),
    # apptainer extract
    (
        ("ENVIRONMENT",),
        "INFO:    Converting SIF file to temporary sandbox...\nFATAL:   while extracting img.sif: root filesystem extraction failed: extract command failed: FATAL:   container creation failed: open /etc/resolv.conf: no such file or directory\n: exit status 255\n",
        255,
    ),
    # apptainer image
    (
        ("ENVIRONMENT",),
        "FATAL:   could not open image /w/img.sif: failed to retrieve path for /w/img.sif: lstat /w/img.sif: no such file or directory\n",
        255,
    ),
    # apptainer disk
    (
        ("ENVIRONMENT",),
        "INFO:    Creating SIF file...\nFATAL:   While making image from oci registry: error fetching image to cache: while building SIF from layers: while creating squashfs: create command failed: exit status 1: FATAL ERROR: Failed to write to output filesystem: No space left on device\n",
        255,
    ),
    # podman
    (("ENVIRONMENT",), "Error: statfs /data/imagenet: no such file or directory\n", 125),
    # docker gpu
    (
        ("ENVIRONMENT",),
        "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: nvml error: driver not loaded: unknown.\n",
        125,
    ),
    # sky preempt
    (
        ("STOPPED",),
        "(task, pid=12) step 100 loss 2.1\nI 03-12 03:04:05 recovery: Cluster was preempted. Recovering...\n(task, pid=12) Connection to 10.0.0.1 closed.\nspot VM preempted by the cloud provider\n",
        1,
    ),
    # sky failed
    (
        ("UNKNOWN",),
        "(task, pid=6295) starting\n✓ Job finished (status: FAILED_DRIVER).\ncommand terminated with exit code 100\n",
        100,
    ),
    # sky failed code
    (
        ("UNKNOWN",),
        "(task, pid=6295) step 100 loss 2.1\nERROR: Job 1 failed with return codes: [1]\n✗ Job finished (status: FAILED).\n",
        1,
    ),
    # gcp preempt
    (("STOPPED",), "step 100 loss 2.1\nReceived ACPI shutdown: instance was preempted\nShutting down\n", 1),
    # aws spot
    (
        ("STOPPED",),
        "step 100 loss 2.1\nEC2 Spot Instance interruption warning received: action terminate at 2024-01-01T10:10:10Z\nsaving checkpoint\n",
        1,
    ),
    # airflow zombie
    (
        ("DEAD",),
        "[2026-01-02, 03:04:05 UTC] {taskinstance.py:1327} INFO - Executing <Task(PythonOperator): train>\n[2026-01-02, 03:04:05 UTC] {scheduler_job_runner.py:1736} ERROR - Detected zombie job: {'full_filepath': '/dags/train.py', 'msg': \"{'DAG Id': 'train', 'Task Id': 'train'}\"}\n[2026-01-02, 03:04:05 UTC] {local_task_job_runner.py:225} INFO - Task exited with return code -9\n",
        1,
    ),
    # airflow -9
    (
        (
            "DEAD",
            "OOM",
        ),
        "[2026-01-02, 03:04:05 UTC] {train.py:13} INFO - step 100 loss 2.1\n[2026-01-02, 03:04:05 UTC] {local_task_job_runner.py:225} INFO - Task exited with return code Negsignal.SIGKILL\n",
        1,
    ),
    # airflow sigterm
    (
        ("STOPPED",),
        "[2026-01-02, 03:04:05 UTC] {train.py:13} INFO - step 100 loss 2.1\n[2026-01-02, 03:04:05 UTC] {local_task_job.py:211} WARNING - State of this instance has been externally set to failed. Terminating instance.\n[2026-01-02, 03:04:05 UTC] {taskinstance.py:1483} ERROR - Received SIGTERM. Terminating subprocesses.\n"
        + MAIN
        + "airflow.exceptions.AirflowException: Task received SIGTERM signal\n",
        1,
    ),
    # prefect
    (
        ("CODE_BUG",),
        "03:04:05.123 | INFO    | Flow run 'happy-cat' - step 100\n03:04:05.123 | ERROR   | Task run 'train-0' - Encountered exception during execution:\n"
        + MAIN
        + "KeyError: 'val'\n03:04:05.123 | ERROR   | Flow run 'happy-cat' - Finished in state Failed(\"Flow run encountered an exception: KeyError: 'val'\")\n",
        1,
    ),
    # prefect crash
    (
        ("STOPPED",),
        "03:04:05.123 | INFO    | Flow run 'happy-cat' - step 100\n03:04:05.123 | ERROR   | Flow run 'happy-cat' - Crash detected! Execution was interrupted by an unexpected exception: KeyboardInterrupt\n",
        1,
    ),
    # metaflow
    (
        ("CODE_BUG",),
        "2026-01-02 03:04:05.123 [88/train/12 (pid 811)] <flow T step train> failed:\n2026-01-02 03:04:05.123 [88/train/12 (pid 811)] Internal error\n2026-01-02 03:04:05.123 [88/train/12 (pid 811)] Traceback (most recent call last):\n2026-01-02 03:04:05.123 [88/train/12 (pid 811)]   File \"train.py\", line 212, in <module>\n2026-01-02 03:04:05.123 [88/train/12 (pid 811)]     main()\n2026-01-02 03:04:05.123 [88/train/12 (pid 811)] AttributeError: 'NoneType' object has no attribute 'shape'\n2026-01-02 03:04:05.123 [88/train/12 (pid 811)] Task failed.\n2026-01-02 03:04:05.123 Workflow failed.\n    Step failure:\n    Step train (task-id 12) failed.\n",
        1,
    ),
    # dali open
    (
        ("ENVIRONMENT",),
        MAIN
        + "RuntimeError: Error when constructing operator: readers__Video encountered:\n[/opt/dali/dali/operators/reader/loader/video_loader.cc:324] Could not find video stream in /data/db/k400/x.mp4\n",
        1,
    ),
    # decord
    (
        ("ENVIRONMENT",),
        MAIN
        + "decord._ffi.base.DECORDError: [03:04:05] /github/workspace/src/video/video_reader.cc:151: Check failed: st_nb >= 0 (-4490789747 vs. 0) ERROR cannot find video stream with wanted index: -1\n",
        1,
    ),
    # wds tar
    (
        ("ENVIRONMENT",),
        'Traceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/webdataset/tariterators.py", line 88, in tar_file_iterator\n    for tarinfo in stream:\n  File "train.py", line 212, in <module>\n    main()\ntarfile.ReadError: unexpected end of data\n',
        1,
    ),
    # wds pipe
    (
        (
            "NETWORK",
            "ENVIRONMENT",
        ),
        'curl: (22) The requested URL returned error: 404\nTraceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/webdataset/gopen.py", line 88, in check_status\n    raise IOError\n  File "train.py", line 212, in <module>\n    main()\nOSError: (("pipe:curl -s -L https://h/shard-433330.tar",), {}): exit 22 (read) {}\n',
        1,
    ),
    # lmdb
    (("ENVIRONMENT",), MAIN + "lmdb.MapFullError: mdb_put: MDB_MAP_FULL: Environment mapsize limit reached\n", 1),
    # lm-eval 500
    (
        ("PROXY_DOWN",),
        "Requesting API:   0%|  | 52/45059 [00:16<2:48:58,  5.54it/s]WARNING 2026-01-02 03:04:05,123 lm-eval:347: API request failed with error message: Internal Server Error. Retrying...\nWARNING 2026-01-02 03:04:05,123 lm-eval:347: API request failed with error message: Internal Server Error. Retrying...\nWARNING 2026-01-02 03:04:05,123 lm-eval:347: API request failed with error message: Internal Server Error. Retrying...\n"
        + MAIN
        + "requests.exceptions.HTTPError: 500 Server Error: Internal Server Error for url: http://0.0.0.0:8000/v1/completions\n",
        1,
    ),
    # helm
    (
        ("UNKNOWN",),
        "  Running instance 100\n"
        + MAIN
        + 'helm.benchmark.runner.RunnerError: Failed runs: ["med_qa:model=NousResearch_Meta-Llama-3-8B"]\n',
        1,
    ),
    # inspect
    (
        ("API_QUOTA",),
        "mmlu (20 samples)                     openai/gpt-4o\nTotal time:             0:01:11\n╭─────────────── Task interrupted (no samples completed) ───────────────╮\n│ RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota', 'code': 'insufficient_quota'}} │\n╰───────────────────────────────────────────────────────────────────────╯\n",
        1,
    ),
    # httpx remote
    (
        (
            "NETWORK",
            "PROXY_DOWN",
        ),
        MAIN
        + "httpx.RemoteProtocolError: peer closed connection without sending complete message body (incomplete chunked read)\n",
        1,
    ),
    # bedrock model
    (
        ("ENVIRONMENT",),
        MAIN
        + "botocore.errorfactory.ValidationException: An error occurred (ValidationException) when calling the InvokeModel operation: The provided model identifier is invalid.\n",
        1,
    ),
    # bedrock denied
    (
        (
            "PROXY_DOWN",
            "ENVIRONMENT",
        ),
        MAIN
        + "botocore.errorfactory.AccessDeniedException: An error occurred (AccessDeniedException) when calling the InvokeModel operation: You don't have access to the model with the specified model ID.\n",
        1,
    ),
    # hf 429
    (
        ("API_QUOTA",),
        MAIN
        + "huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/x (Request ID: Root=1-6)\n\nWe had to rate limit your IP.\n",
        1,
    ),
    # xgb illegal
    (
        ("CODE_BUG",),
        "terminate called after throwing an instance of 'dmlc::Error'\n  what():  [03:04:05] /w/xgboost/src/common/common.h:41: gpu_predictor.cu: 236: an illegal memory access was encountered\nStack trace returned 10 entries:\n[bt] (0) libxgboost.so(dmlc::StackTrace)\nAborted (core dumped)\n",
        134,
    ),
    # catboost
    (
        ("OOM",),
        MAIN
        + "_catboost.CatBoostError: catboost/cuda/cuda_lib/memory_pool/stack_like_memory_pool.h:305: Error: Out of memory. Requested 10.2 GB; Free 8.1 GB\n",
        1,
    ),
    # make
    (
        ("CODE_BUG",),
        "g++ -O2 -c x.cc\nx.cc:12:3: error: 'foo' was not declared in this scope\nmake: *** [Makefile:7: x.o] Error 1\n",
        2,
    ),
    # pip build
    (
        ("ENVIRONMENT",),
        "  error: subprocess-exited-with-error\n  × python setup.py bdist_wheel did not run successfully.\n  │ exit code: 1\n  ╰─> [12 lines of output]\n      RuntimeError: CUDA_HOME environment variable is not set\n  ERROR: Failed building wheel for flash-attn\nERROR: Could not build wheels for flash-attn, which is required to install pyproject.toml-based projects\n",
        1,
    ),
    # ninja
    (
        ("ENVIRONMENT",),
        "FAILED: fused_adam_frontend.o \n/usr/bin/nvcc ... \nnvcc fatal   : Unsupported gpu architecture 'compute_89'\nninja: build stopped: subcommand failed.\n"
        + MAIN
        + "RuntimeError: Error building extension 'fused_adam'\n",
        1,
    ),
    # npm
    (
        ("ENVIRONMENT",),
        "npm ERR! code ENOENT\nnpm ERR! syscall open\nnpm ERR! path /w/package.json\nnpm ERR! errno -2\nnpm ERR! enoent ENOENT: no such file or directory, open '/w/package.json'\n",
        1,
    ),
    # lightning nan
    (
        ("DIVERGED",),
        "Epoch 3:  40%|####      | 40/100 [00:10<00:15, loss=nan]\n"
        + MAIN
        + "ValueError: The loss returned in `training_step` is tensor(nan).\n",
        1,
    ),
    # early nan
    (
        ("DIVERGED",),
        "[W] Monitored metric val_loss = nan is not finite. Previous best value was 0.123. Signaling Trainer to stop.\n"
        + MAIN
        + "SystemExit: 1\n",
        1,
    ),
    # xid log
    (
        ("HARDWARE",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n[ 812.1] NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
        + MAIN
        + "RuntimeError: CUDA error: unspecified launch failure\n",
        1,
    ),
    # mig
    (
        ("ENVIRONMENT",),
        MAIN
        + "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start. Setting the available devices to be zero.\n",
        1,
    ),
    # condor vacated
    (("DEAD",), "005 (812.000.000) 2026-01-02 03:04:05 Job terminated.\n\t(0) Abnormal termination (signal 9)\n", 1),
    # mlflow proj
    (
        ("OOM",),
        "Killed process 811 (python) total-vm:99999kB\n2026/01/02 03:04:05 ERROR mlflow.cli: === Run (ID 'abc') failed ===\n",
        1,
    ),
    # mlflow only
    (
        ("UNKNOWN",),
        "2026/01/02 03:04:05 INFO mlflow.projects: === Running command 'python train.py' in run with ID 'abc' ===\n2026/01/02 03:04:05 ERROR mlflow.cli: === Run (ID 'abc') failed ===\n",
        1,
    ),
    # argo
    (
        ("UNKNOWN",),
        'time="2024-01-01T10:10:10Z" level=info msg="sub-process exited" argo=true error="<nil>"\nError: exit status 1\n',
        1,
    ),
    # argo oom
    (("OOM",), 'time="2024-01-01T10:10:10Z" level=info msg="capturing logs"\nOOMKilled (exit code 137)\n', 1),
    # kubeflow
    (
        ("UNKNOWN",),
        "E0101 03:04:05.123 launcher] exit status 1\nThis step is in Failed state with this message: Error (exit code 1)\n",
        1,
    ),
    # ray sigterm
    (
        ("STOPPED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n2026-01-02 03:04:05,123\tINFO scripts.py:1054 -- Did not find any active Ray processes.\n[2026-01-02 03:04:05,123 C 12 12] (raylet) Raylet received SIGTERM, shutting down...\nTerminated\n",
        1,
    ),
    # gcs
    (
        ("DISTRIBUTED",),
        "[2026-01-02 03:04:05,123 E 12 12] gcs_rpc_client.h:179: Failed to connect to GCS at address 10.0.0.1:6379 within 5 seconds.\n[2026-01-02 03:04:05,123 C 12 12] core_worker_process.cc: Failed to get the system config from raylet because it is dead. Worker will terminate. Status: GrpcUnavailable: RPC Error message: failed to connect to all addresses\n",
        1,
    ),
    # hydra instantiate
    (
        ("CODE_BUG",),
        "Error executing job with overrides: []\n"
        + MAIN
        + "hydra.errors.InstantiationException: Error in call to target 'src.models.Net':\nTypeError(\"Net.__init__() got an unexpected keyword argument 'hid'\")\nfull_key: model\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n",
        1,
    ),
    # pbs walltime mail
    (
        ("STOPPED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nPBS Job Id: 12.hal\nJob exceeded resource limit walltime. See Administrator for help\nTerminated\n",
        143,
    ),
    # qdel
    (
        ("STOPPED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nJob deleted at request of kim@login1\nTerminated\n",
        143,
    ),
    # sge usr
    (("STOPPED",), "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nUser defined signal 2\n", 140),
    # oom kernel log
    (
        ("OOM",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n[Tue Jan 2 03:04:05 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,task=python,pid=811\n[Tue Jan 2 03:04:05 2026] Memory cgroup out of memory: Killed process 811 (python) total-vm:9kB\nKilled\n",
        137,
    ),
    # subprocess sigkill
    (
        ("DEAD",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n"
        + MAIN
        + "subprocess.CalledProcessError: Command '['python', 'worker.py']' died with <Signals.SIGKILL: 9>.\n",
        1,
    ),
    # subprocess segv
    (
        ("DEAD",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n"
        + MAIN
        + "subprocess.CalledProcessError: Command '['./sim']' died with <Signals.SIGSEGV: 11>.\n",
        1,
    ),
    # pool terminated
    (
        (
            "DEAD",
            "OOM",
        ),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n"
        + MAIN
        + "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.\n",
        1,
    ),
    # loky
    (
        (
            "OOM",
            "DEAD",
        ),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n"
        + MAIN
        + "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker process managed by the executor was unexpectedly terminated. This could be caused by a segmentation fault while calling the function or by an excessive memory usage causing the Operating System to kill the worker.\n\nThe exit codes of the workers are {SIGKILL(-9)}\n",
        1,
    ),
    # map child died
    (
        (
            "DEAD",
            "OOM",
        ),
        'epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nTraceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/datasets/utils/py_utils.py", line 700, in iflatmap_unordered\n    raise RuntimeError(\n  File "train.py", line 212, in <module>\n    main()\nRuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.\n',
        1,
    ),
    # ray tune sigint
    (
        (
            "STOPPED",
            "DEAD",
        ),
        "2026-01-02 03:04:05,123\tWARNING tune.py:186 -- Stop signal received (e.g. via SIGINT/Ctrl+C), ending Ray Tune run. This will try to checkpoint the experiment state one last time. Press CTRL+C (or send SIGINT/SIGKILL/SIGTERM) to skip.\n",
        1,
    ),
    # uvicorn
    (
        ("STOPPED",),
        'INFO:     127.0.0.1:5 - "POST /v1/chat HTTP/1.1" 200 OK\nINFO:     Shutting down\nINFO:     Waiting for application shutdown.\nINFO:     Application shutdown complete.\nINFO:     Finished server process [12]\n',
        130,
    ),
    # gh runner
    (
        ("STOPPED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nError: The operation was canceled.\nError: Process completed with exit code 137.\n",
        137,
    ),
    # gh lost runner
    (
        ("HARDWARE",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nThe hosted runner lost communication with the server. Anything in your workflow that terminates the runner process, starves it for CPU/Memory, or blocks its network access can cause this error.\n",
        1,
    ),
    # gh shutdown
    (
        ("STOPPED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\nError: The runner has received a shutdown signal. This can happen when the runner service is stopped, or a manually started runner is canceled.\n",
        1,
    ),
    # hccl
    (
        ("DISTRIBUTED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n"
        + MAIN
        + "RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64\n[Error]: Communication operation timed out. EI0002: The wait execution of the Notify register times out.\n",
        1,
    ),
    # npu lost
    (
        ("HARDWARE",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n[ERROR] 2026-01-02-03:04:05 (PID:1,Device:7,RankID:7) ERR99999 the device has a hardware fault: DDR ECC error\n"
        + MAIN
        + "RuntimeError: synchronize:npu device lost, error code is 432966\n",
        1,
    ),
    # gaudi
    (
        ("HARDWARE",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n"
        + MAIN
        + "RuntimeError: [Rank:3] FATAL ERROR :: MODULE:PT_DEVMEM HabanaLaunchThread: device critical error, synDeviceAcquire failed: device lost\n",
        1,
    ),
    # tpu hbm
    (
        ("OOM",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n"
        + MAIN
        + "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 17.10G of 15.48G hbm. Exceeded hbm capacity by 1.62G.\n",
        1,
    ),
    # neuron
    (
        ("OOM",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n2024-Jan-01 03:04:05.123 ERROR  TDRV:dmem_alloc_internal   Failed to alloc DEVICE memory: 459148185\n2024-Jan-01 03:04:05.123 ERROR  NRT:nrt_load   Insufficient memory on device\n"
        + MAIN
        + "RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: LoadCollectives: error condition !(NRT_RESOURCE == NRT_SUCCESS)\n",
        1,
    ),
    # torchrun store
    (
        ("DISTRIBUTED",),
        MAIN
        + "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (10.0.0.1, 46833).\n",
        1,
    ),
    # ucx
    (
        ("DISTRIBUTED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n[4231034903.1] [n7:811  :0] ib_mlx5_log.c:177  UCX  ERROR Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)\n[n7:811] *** Process received signal ***\n[n7:811] Signal: Aborted (6)\n",
        1,
    ),
    # mpi fortran
    (
        ("CODE_BUG",),
        "At line 12 of file solver.f90 (unit = 10, file = 'in.dat')\nFortran runtime error: End of file\n\nError termination. Backtrace:\n#0  0x7f in ???\nprimary job terminated\n",
        1,
    ),
    # mpi missing
    (
        ("ENVIRONMENT",),
        "mpirun: error while loading shared libraries: libmpi.so.40: cannot open shared object file: No such file or directory\n",
        1,
    ),
    # llamafactory
    (("CODE_BUG",), MAIN + "ValueError: Some keys are not used by the HfArgumentParser: ['lora_tragets']\n", 1),
    # tf oom kill
    (
        ("OOM",),
        "2026-01-02 03:04:05.123: W tensorflow/core/common_runtime/bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB\n2026-01-02 03:04:05.123: W tensorflow/core/framework/op_kernel.cc:1768] RESOURCE_EXHAUSTED: failed to allocate memory\n"
        + MAIN
        + "tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node __wrapped__Mul_device_/job:localhost/replica:0/task:0/device:GPU:0}} failed to allocate memory [Op:Mul]\n",
        1,
    ),
    # tf checknum
    (
        ("DIVERGED",),
        MAIN
        + "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\nDetected at node 'CheckNumerics' defined at (most recent call last):\nNode: 'CheckNumerics'\n : Tensor had NaN values\n\t [[{{node CheckNumerics}}]]\n",
        1,
    ),
    # tf estimator
    (
        ("DIVERGED",),
        "ERROR:tensorflow:Model diverged with loss = NaN.\n"
        + MAIN
        + "tensorflow.python.training.basic_session_run_hooks.NanLossDuringTrainingError: NaN loss during training.\n",
        1,
    ),
    # nemo nan
    (
        ("DIVERGED",),
        "[NeMo W 2026-01-02 03:04:05 nemo_logging:349] train_loss is nan\n"
        + MAIN
        + "ValueError: NaN or Inf found in input tensor.\n",
        1,
    ),
    # paddle nan
    (
        ("DIVERGED",),
        MAIN
        + "RuntimeError: (PreconditionNotMet) There are NAN or INF (num_nan=128, num_inf=0, num_zero=0) in [op=matmul_v2_grad, tensor=x@GRAD, dtype=float32].\n",
        1,
    ),
    # loss spike stop
    (
        ("DIVERGED",),
        "epoch 2 step 100/900 loss 2.10\nepoch 2 step 110/900 loss 2.05\n[WARN] loss 49700.2 is 100x its running mean, stopping: training diverged\n",
        1,
    ),
    # timm data
    (
        ("ENVIRONMENT",),
        MAIN
        + "RuntimeError: Found 0 images in subfolders of /data/val. Supported image extensions are .png, .jpg, .jpeg\n",
        1,
    ),
    # kohya empty
    (
        ("ENVIRONMENT",),
        "No data found. Please verify arguments (train_data_dir must be the parent of folders with images) / 画像がありません。\nTraceback (most recent call last):\n  File \"/opt/conda/bin/accelerate\", line 8, in <module>\n    sys.exit(main())\nsubprocess.CalledProcessError: Command '['/opt/conda/bin/python', 'train_network.py']' returned non-zero exit status 1.\n",
        1,
    ),
    # gemini free tier
    (
        ("API_QUOTA",),
        "E0000 retry exhausted\n"
        + MAIN
        + 'google.api_core.exceptions.ResourceExhausted: 429 You exceeded your current quota. Please migrate. [violations { quota_metric: "generate_content_free_tier_requests" quota_value: 50 }]\n',
        1,
    ),
    # gemini location
    (
        ("ENVIRONMENT",),
        MAIN
        + "google.genai.errors.ClientError: 400 FAILED_PRECONDITION. {'error': {'code': 400, 'message': 'User location is not supported for the API use.', 'status': 'FAILED_PRECONDITION'}}\n",
        1,
    ),
    # gemini blocked
    (
        ("CODE_BUG",),
        MAIN
        + "ValueError: Invalid operation: The `response.text` quick accessor requires the response to contain a valid `Part`, but none were returned. The candidate's finish_reason is 2 (SAFETY)\n",
        1,
    ),
    # anthropic rl
    (
        ("API_QUOTA",),
        MAIN
        + "anthropic.RateLimitError: Error code: 429 - {'type': 'error', 'error': {'type': 'rate_limit_error', 'message': 'This request would exceed your organization’s rate limit of 40,000 input tokens per minute.'}}\n",
        1,
    ),
    # together 503
    (
        ("PROXY_DOWN",),
        MAIN
        + 'together.error.ServiceUnavailableError: Error code: 503 - {"message": "The server is overloaded or not ready yet.", "type_": "service_unavailable"}\n',
        1,
    ),
    # groq decom
    (
        ("ENVIRONMENT",),
        MAIN
        + "groq.BadRequestError: Error code: 400 - {'error': {'message': 'The model `mixtral-8x7b-47259` has been decommissioned and is no longer supported.', 'code': 'model_decommissioned'}}\n",
        1,
    ),
    # litellm timeout
    (
        (
            "NETWORK",
            "PROXY_DOWN",
        ),
        MAIN
        + "litellm.exceptions.Timeout: litellm.Timeout: APITimeoutError - Request timed out. Error_str: Request timed out.\n",
        1,
    ),
    # vllm refused
    (
        ("PROXY_DOWN",),
        'httpx.ConnectError: [Errno 111] Connection refused\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File "eval.py", line 12, in <module>\n    main()\nopenai.APIConnectionError: Connection error.\n',
        1,
    ),
    # promptfoo file
    (
        ("ENVIRONMENT",),
        "Error: ENOENT: no such file or directory, open 'file://prompts.txt'\n    at readFileSync (node:fs:441:20)\n\nNode.js v20.11.0\n",
        1,
    ),
    # qdrant
    (
        ("PROXY_DOWN",),
        MAIN + "qdrant_client.http.exceptions.ResponseHandlingException: [Errno 111] Connection refused\n",
        1,
    ),
    # snakemake conda
    (
        ("ENVIRONMENT",),
        "CreateCondaEnvironmentException:\nCould not create conda environment from /w/envs/a.yaml:\nLibMambaUnsatisfiableError: Encountered problems while solving:\n  - nothing provides cudatoolkit 9.9 needed by x\n",
        1,
    ),
    # nextflow groovy
    (
        ("CODE_BUG",),
        "N E X T F L O W  ~  version 23.10.0\nERROR ~ Script compilation error\n- file : /w/main.nf\n- cause: Unexpected input: '{' @ line 12, column 10.\n",
        1,
    ),
    # nextflow sigterm
    (
        ("STOPPED",),
        "[8a/11] process > ALIGN (3) [ 30%] 3 of 9\nERROR ~ Execution aborted -- Cause: SIGTERM\nWARN: Killing running tasks (2)\n",
        1,
    ),
    # nextflow java heap
    (
        ("OOM",),
        "[8a/11] process > ALIGN (3) [ 30%] 3 of 9\nERROR ~ Java heap space\n\n -- Check '.nextflow.log' file for details\n",
        1,
    ),
    # pytest
    (
        ("CODE_BUG",),
        "tests/test_a.py F\n=================================== FAILURES ===================================\nE       assert 3 == 4\nFAILED tests/test_a.py::test_x - assert 3 == 4\n========================= 1 failed in 0.12s =========================\n",
        1,
    ),
    # bar after
    (
        ("OOM",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\n 12%|█▏        | 240/2000 [01:11<08:44,  3.36it/s]\n"
        + MAIN
        + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.20 GiB (GPU 3; 39.39 GiB total capacity; 36 GiB already allocated)\n 12%|█▏        | 240/2000 [01:12<08:49,  3.32it/s]\n",
        1,
    ),
    # sglang cuda graph
    (
        ("OOM",),
        "[2026-01-02 03:04:05 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=0.73 GB\n[2026-01-02 03:04:05 TP0] Scheduler hit an exception: "
        + MAIN
        + "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 20.00 MiB.\nPossible solutions:\n1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)\n[2026-01-02 03:04:05] Received sigquit from a child process. It usually means the child failed.\n",
        1,
    ),
    # vllm sampler
    (
        ("OOM",),
        'INFO 01-02 03:04:05 worker.py:267] model weights take 14.99GiB\nERROR 01-02 03:04:05 core.py:515] EngineCore failed to start.\nERROR 01-02 03:04:05 core.py:515] Traceback (most recent call last):\nERROR 01-02 03:04:05 core.py:515]   File "/v/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 506, in run_engine_core\nERROR 01-02 03:04:05 core.py:515]     engine_core = EngineCoreProc(*args, **kwargs)\nERROR 01-02 03:04:05 core.py:515] RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.\n'
        + MAIN
        + "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n",
        1,
    ),
    # vllm maxlen
    (
        ("ENVIRONMENT",),
        MAIN
        + "ValueError: User-specified max_model_len (47259) is greater than the derived max_model_len (max_position_embeddings=4096 or model_max_length=None in model's config.json).\n",
        1,
    ),
    # tgi too long
    (
        ("ENVIRONMENT",),
        MAIN
        + "text_generation.errors.ValidationError: Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2100 `inputs` tokens and 20 `max_new_tokens`\n",
        1,
    ),
    # bnb missing
    (
        ("ENVIRONMENT",),
        MAIN
        + "ImportError: Using `bitsandbytes` 4-bit quantization requires the latest version of bitsandbytes: `pip install -U bitsandbytes`\n",
        1,
    ),
    # flash import
    (
        ("ENVIRONMENT",),
        MAIN
        + "ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following error: the package flash_attn seems to be not installed.\n",
        1,
    ),
    # fsdp pg
    (
        ("DISTRIBUTED",),
        MAIN
        + "torch.distributed.DistBackendError: [4] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Socket Timeout\n",
        1,
    ),
    # gloo
    (
        ("DISTRIBUTED",),
        MAIN
        + "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete\n",
        1,
    ),
    # lost rank after oom elsewhere
    (
        ("DISTRIBUTED",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\n 12%|█▏        | 240/2000 [01:11<08:44,  3.36it/s]\n[rank1]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, remote process exited or there was a network error, NCCL version 2.20.5\n[rank1]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n",
        1,
    ),
    # rank1 oom cascade
    (
        ("OOM",),
        '[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\n 12%|█▏        | 240/2000 [01:11<08:44,  3.36it/s]\n[rank1]: Traceback (most recent call last):\n[rank1]:   File "train.py", line 212, in <module>\n[rank1]:     main()\n[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n[rank0]:[E ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=42, OpType=ALLREDUCE) ran for 433303 milliseconds before timing out.\nW0101 03:04:05.123 8 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 88 closing signal SIGTERM\nE0101 03:04:05.123 8 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 1 (pid: 89) of binary: /opt/conda/bin/python\n',
        1,
    ),
    # ultra labels
    (
        ("ENVIRONMENT",),
        "train: Scanning /data/labels... 0 images, 120 backgrounds, 0 corrupt: 100%|██████████| 120/120\n"
        + MAIN
        + "RuntimeError: No valid images found in /data/labels.cache. Images with incorrectly formatted labels are ignored. See https://docs.ultralytics.com/datasets for dataset formatting guidance.\n",
        1,
    ),
    # mmcv version
    (
        ("ENVIRONMENT",),
        MAIN + "AssertionError: MMCV==2.2.0 is used but incompatible. Please install mmcv>=2.0.0rc4, <2.2.0.\n",
        1,
    ),
    # diffusers weights
    (
        ("ENVIRONMENT",),
        MAIN + "OSError: Error no file named diffusion_pytorch_model.bin found in directory /m/unet.\n",
        1,
    ),
    # diffusers nan
    (
        ("DIVERGED",),
        "Steps:  40%|████      | 400/1000 [10:00<15:00, loss=nan, lr=1e-5]\nSteps:  40%|████      | 401/1000 [10:01<15:00, loss=nan, lr=1e-5]\nSteps:  40%|████      | 402/1000 [10:03<15:00, loss=nan, lr=1e-5]\nSteps:  40%|████      | 403/1000 [10:04<15:00, loss=nan, lr=1e-5]\n",
        1,
    ),
    # whisper sha
    (
        ("NETWORK",),
        MAIN
        + "RuntimeError: Model has been downloaded but the SHA256 checksum does not not match. Please retry loading the model.\n",
        1,
    ),
    # s3
    (
        ("NETWORK",),
        MAIN
        + 'botocore.exceptions.ConnectTimeoutError: Connect timeout on endpoint URL: "https://s3.eu.amazonaws.com/b/k"\n',
        1,
    ),
    # s3 denied
    (
        ("ENVIRONMENT",),
        MAIN
        + "botocore.exceptions.ClientError: An error occurred (403) when calling the HeadObject operation: Forbidden\n",
        1,
    ),
    # gcs
    (
        ("ENVIRONMENT",),
        MAIN
        + "google.api_core.exceptions.Forbidden: 403 GET https://storage.googleapis.com/storage/v1/b/x: sa@p.iam.gserviceaccount.com does not have storage.buckets.get access to the Google Cloud Storage bucket.\n",
        1,
    ),
    # disk warn then
    (
        ("ENVIRONMENT",),
        "UserWarning: Not enough free disk space to download the file. The expected file size is: 9976.57 MB. The target location /home/u/.cache only has 812 MB free disk space.\n"
        + MAIN
        + "RuntimeError: Data processing error: CAS service error : IO Error: No space left on device (os error 28)\n",
        1,
    ),
    # inotify
    (("ENVIRONMENT",), MAIN + "OSError: [Errno 28] inotify watch limit reached\n", 1),
    # ssh
    (
        ("DEAD",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\nclient_loop: send disconnect: Broken pipe\n",
        1,
    ),
    # ssh lost
    (
        ("DEAD",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\nConnection to gpu7.lab closed by remote host.\nConnection to gpu7.lab closed.\n",
        255,
    ),
    # nvlink
    (
        ("HARDWARE",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\nNCCL WARN Cuda failure 'uncorrectable NVLink error detected during the execution'\n"
        + MAIN
        + "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n",
        1,
    ),
    # kbd torchrun
    (
        ("STOPPED",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\n 12%|█▏        | 240/2000 [01:11<08:44,  3.36it/s]\n"
        + MAIN
        + "torch.distributed.elastic.multiprocessing.api.SignalException: Process 88 got signal: 2\n",
        1,
    ),
    # proxy 407
    (("PROXY_DOWN",), MAIN + "httpx.ProxyError: 407 Proxy Authentication Required\n", 1),
    # 502 html
    (
        ("PROXY_DOWN",),
        "ERROR: HTTP 502 from http://gw:4000/v1/chat/completions: <html><head><title>502 Bad Gateway</title></head>\ngave up after 6 tries\n",
        1,
    ),
    # litellm none
    (
        ("PROXY_DOWN",),
        MAIN
        + "litellm.exceptions.InternalServerError: litellm.InternalServerError: InternalServerError: OpenAIException - Connection error.\n",
        1,
    ),
    # ollama goroutine
    (
        ("OOM",),
        'time=2025-03-07T05:36:39.884Z level=INFO source=server.go:421 msg="starting llama server"\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 3257.82 MiB on device 0: cudaMalloc failed: out of memory\npanic: unable to load model: /blobs/sha256-8934\n\ngoroutine 24 [running]:\ngithub.com/ollama/ollama/runner/llamarunner.(*Server).loadModel(0xc000037d40)\n\trunner.go:851 +0x375\ncreated by github.com/ollama/ollama/runner/llamarunner.Execute in goroutine 1\ntime=2025-03-07T05:36:39.884Z level=ERROR source=server.go:421 msg="llama runner terminated" error="exit status 2"\n',
        2,
    ),
    # js sdk 429
    (
        ("API_QUOTA",),
        'graded 12/90\nSDKError: API error occurred: Status 429\nBody: {"object":"error","message":"Rate limit exceeded","type":"rate_limited","code":"1300"}\n    at file:///w/eval.mjs:5:2425\n    at process.processTicksAndRejections (node:internal/process/task_queues:103:5)\n\nNode.js v20.11.0\n',
        1,
    ),
    # gemini cli
    (
        ("API_QUOTA",),
        '✕ [API Error: [{\n    "error": {\n      "code": 429,\n      "message": "Resource exhausted. Please try again later.",\n      "status": "RESOURCE_EXHAUSTED"\n    }\n  }\n  ]]\n',
        1,
    ),
    # node 529
    (
        ("PROXY_DOWN",),
        'Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_01"}\n    at generate (file:///w/node_modules/x/core.mjs:466:9)\n    at async main (file:///w/eval.mjs:22:3)\n\nNode.js v20.11.0\n',
        1,
    ),
    # js payment
    (
        ("API_QUOTA",),
        '[llm/error] [1:llm:replicate] [1.53s] LLM run errored with error: "API request failed: Payment Required"\nError: API request failed: Payment Required\n    at Replicate.request (/w/node_modules/replicate/index.js:144:13)\n  attemptNumber: 7,\n  retriesLeft: 0\n}\n',
        1,
    ),
    # gemini capacity
    (
        ("PROXY_DOWN",),
        '{\n  "error": {\n    "code": 503,\n    "details": [{"reason": "MODEL_CAPACITY_EXHAUSTED"}],\n    "message": "No capacity available for model on the server",\n    "status": "UNAVAILABLE"\n  }\n}\n'
        + MAIN
        + "SystemExit: 1\n",
        1,
    ),
    # tgi signal 7
    (
        (
            "ENVIRONMENT",
            "DEAD",
        ),
        "2023-06-13T12:05:21Z  INFO text_generation_launcher: Starting download process.\n2023-06-13T12:05:25Z ERROR text_generation_launcher: Download process was signaled to shutdown with signal 7: \nError: DownloadError\n",
        1,
    ),
    # tgi signal 4
    (
        ("DEAD",),
        "2023-06-13T12:05:21Z  INFO shard-manager: text_generation_launcher: Starting shard rank=0\n2023-06-13T12:05:25Z ERROR shard-manager: text_generation_launcher: Shard process was signaled to shutdown with signal 4 rank=0\nError: ShardCannotStart\n",
        1,
    ),
    # horovodrun label
    (
        ("CODE_BUG",),
        '[0]<stderr>:Traceback (most recent call last):\n[0]<stderr>:  File "train.py", line 212, in <module>\n[0]<stderr>:    main()\n[0]<stderr>:ValueError: bad shape of labels\n[1]<stderr>:horovod.common.exceptions.HorovodInternalError: Horovod has been shut down.\nProcess 0 exit with status code 1.\nTerminating remaining workers after failure of Process 0.\n',
        1,
    ),
    # determined label
    (
        ("CODE_BUG",),
        "[2026-01-02 03:04:05] 087c0ee7 || Traceback (most recent call last):\n[2026-01-02 03:04:05] 087c0ee7 ||   File \"train.py\", line 212, in <module>\n[2026-01-02 03:04:05] 087c0ee7 ||     main()\n[2026-01-02 03:04:05] 087c0ee7 || KeyError: 'image_id'\n[2026-01-02 03:04:05] 087c0ee7 || INFO: container failed with non-zero exit code: 1 (exit code 1)\n",
        1,
    ),
    # determined oom
    (
        ("OOM",),
        '[2026-01-02 03:04:05] 087c0ee7 [rank=1] || Traceback (most recent call last):\n[2026-01-02 03:04:05] 087c0ee7 [rank=1] ||   File "train.py", line 212, in <module>\n[2026-01-02 03:04:05] 087c0ee7 [rank=1] ||     main()\n[2026-01-02 03:04:05] 087c0ee7 [rank=1] || torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n[2026-01-02 03:04:05] 087c0ee7 || INFO: container failed with non-zero exit code: 1 (exit code 1)\n',
        1,
    ),
    # k8s out of
    (("OOM",), "NAME      READY   STATUS        RESTARTS   AGE\ntrain-0   0/1     OutOfmemory   0          12s\n", 137),
    # tekton
    (
        ("OOM",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\nStep train: container exceeded memory limit; reason: OOMKilled, exitCode: 137\n",
        1,
    ),
    # k8s node
    (
        ("DEAD",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\nWarning  NodeNotReady  12s  node-controller  Node is not ready\npod train-0: ContainerStatusUnknown, exit code 137\n",
        1,
    ),
    # cloudwatch
    (
        ("CODE_BUG",),
        "2026-01-02T03:04:05.123-04:00   Traceback (most recent call last):\n2026-01-02T03:04:05.123-04:00     File \"train.py\", line 212, in <module>\n2026-01-02T03:04:05.123-04:00       main()\n2026-01-02T03:04:05.123-04:00   TypeError: '>=' not supported between instances of 'NoneType' and 'int'\n2026-01-02T03:04:05.123-04:00   Error: WebserverFailed\n",
        1,
    ),
    # docker compose label
    (
        ("CODE_BUG",),
        "trainer-1  | Traceback (most recent call last):\ntrainer-1  |   File \"train.py\", line 212, in <module>\ntrainer-1  |     main()\ntrainer-1  | AttributeError: module 'numpy' has no attribute 'float'\ntrainer-1 exited with code 1\n",
        1,
    ),
    # k8s log label
    (
        ("NETWORK",),
        "[pod/train-0/main] Traceback (most recent call last):\n[pod/train-0/main]   File \"train.py\", line 212, in <module>\n[pod/train-0/main]     main()\n[pod/train-0/main] requests.exceptions.ConnectionError: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))\n",
        1,
    ),
    # gh actions ts
    (
        ("OOM",),
        '2026-01-02T03:04:05.123Z Traceback (most recent call last):\n2026-01-02T03:04:05.123Z   File "train.py", line 212, in <module>\n2026-01-02T03:04:05.123Z     main()\n2026-01-02T03:04:05.123Z MemoryError: Unable to allocate 12.0 GiB for an array with shape (43333, 43333) and data type float64\n2026-01-02T03:04:06.0000000Z ##[error]Process completed with exit code 1.\n',
        1,
    ),
    # journald
    (
        ("CODE_BUG",),
        "Dec 31 03:04:05 FORGE train[488471]: Traceback (most recent call last):\nDec 31 03:04:05 FORGE train[488471]:   File \"train.py\", line 212, in <module>\nDec 31 03:04:05 FORGE train[488471]:     main()\nDec 31 03:04:05 FORGE train[488471]: IndexError: list index out of range\nDec 31 03:04:05 FORGE systemd[1]: train.service: Main process exited, code=exited, status=1/FAILURE\nDec 31 03:04:05 FORGE systemd[1]: train.service: Failed with result 'exit-code'.\n",
        1,
    ),
    # systemd oom
    (
        ("OOM",),
        "Dec 31 03:04:05 FORGE train[488471]: step 12/900 loss 2.1\nDec 31 03:04:05 FORGE systemd[1]: train.service: A process of this unit has been killed by the OOM killer.\nDec 31 03:04:05 FORGE systemd[1]: train.service: Main process exited, code=killed, status=9/KILL\nDec 31 03:04:05 FORGE systemd[1]: train.service: Failed with result 'oom-kill'.\n",
        1,
    ),
    # systemd kill
    (
        ("DEAD",),
        "Dec 31 03:04:05 FORGE train[488471]: step 12/900 loss 2.1\nDec 31 03:04:05 FORGE systemd[1]: train.service: Main process exited, code=killed, status=9/KILL\nDec 31 03:04:05 FORGE systemd[1]: train.service: Failed with result 'signal'.\n",
        1,
    ),
    # systemd timeout
    (
        (
            "DEAD",
            "STOPPED",
        ),
        "Dec 31 03:04:05 FORGE train[488471]: step 12/900 loss 2.1\nDec 31 03:04:05 FORGE systemd[1]: Stopping train.service...\nDec 31 03:04:05 FORGE systemd[1]: train.service: Main process exited, code=killed, status=15/TERM\n",
        1,
    ),
    # supervisor
    (
        ("CODE_BUG",),
        "2026-01-02 03:04:05,123 INFO spawned: 'train' with pid 12\n"
        + MAIN
        + "NameError: name 'foo' is not defined #: invalid syntax\n2026-01-02 03:04:05,123 WARN exited: train (exit status 1; not expected)\n2026-01-02 03:04:05,123 INFO gave up: train entered FATAL state, too many start retries too quickly\n",
        1,
    ),
    # loguru
    (
        ("CODE_BUG",),
        "2026-01-02 03:04:05.123 | ERROR    | __main__:main:22 - An error has been caught in function 'main', process 'MainProcess' (12), thread 'MainThread' (14):\nTraceback (most recent call last):\n\n> File \"/w/train.py\", line 40, in <module>\n    main()\n    └ <function main at 0x7f>\n\n  File \"/w/train.py\", line 22, in main\n    x = d['k']\n        └ {}\n\nKeyError: 'k'\n",
        1,
    ),
    # loguru nan
    (
        ("DIVERGED",),
        "2026-01-02 03:04:05.123 | CRITICAL | __main__:train:88 - loss became NaN at step 1200, giving up\n",
        1,
    ),
    # structlog
    (
        ("CODE_BUG",),
        '{"event": "run failed", "level": "error", "exception": "Traceback (most recent call last):\\n  File \\"/w/train.py\\", line 40, in <module>\\n    main()\\nValueError: labels must be >= 0"}\n',
        1,
    ),
    # json log quota
    (
        ("API_QUOTA",),
        '{"level": "error", "msg": "evaluation aborted", "error": "openai.RateLimitError: Error code: 429 - insufficient_quota"}\n',
        1,
    ),
    # logfmt
    (
        ("PROXY_DOWN",),
        'level=info msg="item 12/90"\nlevel=error msg="giving up" err="Post http://gw:4000/v1: dial tcp 10.0.0.1:4000: connect: connection refused"\n',
        1,
    ),
    # logfmt disk
    (
        ("ENVIRONMENT",),
        'level=info msg="item 12/90"\nlevel=fatal msg="cannot write" err="write /data/out: no space left on device"\n',
        1,
    ),
    # conda activate
    (("ENVIRONMENT",), "CondaError: Run 'conda init' before 'conda activate'\n", 1),
    # uv
    (("ENVIRONMENT",), "error: Failed to spawn: `lm_eval`\n  Caused by: No such file or directory (os error 2)\n", 1),
    # go panic idx
    (
        ("CODE_BUG",),
        "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:12 +0x1d\nexit status 2\n",
        1,
    ),
    # rust
    (
        ("CODE_BUG",),
        "thread 'main' panicked at src/main.rs:14:10:\ncalled `Option::unwrap()` on a `None` value\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
        101,
    ),
    # java npe
    (
        ("CODE_BUG",),
        'Exception in thread "main" java.lang.NullPointerException: Cannot invoke "String.length()" because "s" is null\n\tat Main.main(Main.java:5)\n',
        1,
    ),
    # java heap
    (
        ("OOM",),
        'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf(Arrays.java:3332)\n',
        1,
    ),
    # paddle abort
    (
        ("UNKNOWN",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\nINFO 2026-01-02 03:04:05,123 launch_utils.py:307] terminate all the procs\nERROR 2026-01-02 03:04:05,123 launch_utils.py:545] ABORT!!! Out of all 4 trainers, the trainer process with rank=[3] was aborted. Please check its log.\n[INFO]: train job failed! train_ret: 1\n",
        1,
    ),
    # paddle segv
    (
        ("DEAD",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\nW1212 03:04:05.123 41311 init.cc:205] *** Aborted at 4825074484 (unix time) ***\nW1212 03:04:05.123 41311 init.cc:205] *** SIGSEGV (@0x0) received by PID 41311 (TID 0x7f6) from PID 0; stack trace: ***\nW1212 03:04:05.123 41311 init.cc:205]     @     0x7f64 (unknown)\nERROR 2026-01-02 03:04:05,123 launch.py:269] ABORT!!! Out of all 4 trainers, the trainer process with rank=[0, 2] was aborted. Please check its log.\n",
        1,
    ),
    # slurm task failure
    (
        ("UNKNOWN",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\nslurmstepd: error: *** STEP 812.0 ON n7 CANCELLED AT 2026-01-02T03:04:05 DUE TO TASK FAILURE ***\nsrun: error: n7: tasks 0-57,59-63: Terminated\nsrun: Force Terminated StepId=812.0\n",
        1,
    ),
    # pyxis
    (
        ("ENVIRONMENT",),
        "pyxis: importing docker image ...\nslurmstepd: error: pyxis: container start failed with error code: 1\nslurmstepd: error: pyxis: printing contents of log file ...\nslurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/bash: No such file or directory\nslurmstepd: error: pyxis: couldn't start container\nslurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1\nsrun: error: n7: task 0: Exited with exit code 1\n",
        1,
    ),
    # openrlhf
    (
        (
            "DISTRIBUTED",
            "DEAD",
        ),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\n"
        + MAIN
        + 'ray.exceptions.RayTaskError(ActorDiedError): ray::ActorModelRayActor.fit() (pid=9, ip=10.0.0.6, actor_id=12b7)\n  File "/w/ppo_actor.py", line 300, in fit\n    ray.get(ref)\nray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: LLMRayActor\nThe actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file.\n',
        1,
    ),
    # openrlhf oom
    (
        ("OOM",),
        "[epoch 3] iter 200/2000 loss=2.778 lr=0.0003\n[epoch 3] iter 220/2000 loss=2.756 lr=0.0003\n[epoch 3] iter 240/2000 loss=2.733 lr=0.0003\n(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker exit type: SYSTEM_ERROR\nslurmstepd: error: Detected 3 oom_kill events in StepId=812.0. Some of the step tasks have been OOM Killed.\nsrun: error: n7: task 0: Out Of Memory\n",
        1,
    ),
    # verl prefixed
    (
        ("CODE_BUG",),
        '(TaskRunner pid=467657) Traceback (most recent call last):\n(TaskRunner pid=467657)   File "/w/verl/protocol.py", line 600, in chunk\n(TaskRunner pid=467657)     assert len(self) % chunks == 0\n(TaskRunner pid=467657) AssertionError: only support equal chunk. Got size of DataProto 10 and chunk 4.\n'
        + MAIN
        + 'ray.exceptions.RayTaskError(AssertionError): ray::TaskRunner.run() (pid=467657, ip=10.0.0.1)\n  File "/w/verl/protocol.py", line 600, in chunk\n    assert len(self) % chunks == 0\nAssertionError: only support equal chunk. Got size of DataProto 10 and chunk 4.\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n',
        1,
    ),
    # mindspore
    (
        ("OOM",),
        MAIN
        + "RuntimeError: Malloc for kernel output failed, Memory isn't enough, node: Default/network/Conv2D-op12\n\n----------------------------------------------------\n- C++ Call Stack: (For framework developers)\n----------------------------------------------------\nmindspore/ccsrc/runtime/graph_scheduler/actor/memory_manager_actor.cc:70 Allocate\n",
        1,
    ),
    # mindspore nan
    (("DIVERGED",), MAIN + "RuntimeError: The loss is NaN or Inf, please check the dataset or the learning rate.\n", 1),
    # oneflow
    (
        ("ENVIRONMENT",),
        MAIN
        + "oneflow._oneflow_internal.exception.RuntimeError: CUDA error : no kernel image is available for execution on the device\n",
        1,
    ),
    # a message that is itself a traceback
    (
        ("OOM",),
        MAIN
        + 'mxnet.base.MXNetError: Traceback (most recent call last):\n  File "src/storage/./pooled_storage_manager.h", line 161\nMXNetError: cudaMalloc retry failed: out of memory\n',
        1,
    ),
    # no call came through, and the code is 0
    (
        ("PROXY_DOWN",),
        'ERROR:ragas.executor:Exception raised in Job[0]: ConnectError(All connection attempts failed)\nERROR:ragas.executor:Exception raised in Job[1]: ConnectError(All connection attempts failed)\nERROR:ragas.executor:Exception raised in Job[2]: ConnectError(All connection attempts failed)\nERROR:ragas.executor:Exception raised in Job[3]: ConnectError(All connection attempts failed)\nERROR:ragas.executor:Exception raised in Job[4]: ConnectError(All connection attempts failed)\nERROR:ragas.executor:Exception raised in Job[5]: ConnectError(All connection attempts failed)\n{\n   "faithfulness": NaN\n}\n',
        0,
    ),
    # a pod that wrote too much
    (
        ("ENVIRONMENT",),
        "step 120/900 loss 2.7\ntrainer-0   0/2     Evicted   0          21m\nReason:           Evicted\nMessage:          Pod ephemeral local storage usage exceeds the total limit of containers 5Gi.\n",
        137,
    ),
    # a nanny that lost patience
    (
        ("OOM",),
        "distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting\ndistributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting\ndistributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting\n"
        + MAIN
        + "distributed.scheduler.KilledWorker: ('sum-6e', <Worker 'tcp://127.0.0.1:8', processing: 3>)\n",
        1,
    ),
    # what the GPU asserted
    (
        ("DIVERGED",),
        "Assertion `probability tensor contains either `inf`, `nan` or element < 0` failed.\n"
        + MAIN
        + "torch.AcceleratorError: CUDA error: device-side assert triggered\n",
        1,
    ),
    # Ctrl-C on a workflow
    (
        ("STOPPED",),
        "Job 12 has been submitted with SLURM jobid 812.\n^CTerminating processes on user request, this might take some time.\nWorkflowError:\nAt least one job did not complete successfully.\n",
        1,
    ),
    # a sweep
    (
        ("CODE_BUG",),
        "Run a1 errored: IndexError('list index out of range')\nwandb: ERROR Run a1 errored: IndexError('list index out of range')\nDetected 3 failed runs in the first 60 seconds, killing sweep.\n",
        1,
    ),
    # a clone that broke off
    (
        ("NETWORK",),
        "error: RPC failed; curl 18 transfer closed with outstanding read data remaining\nfatal: the remote end hung up unexpectedly\nfatal: early EOF\nfatal: index-pack failed\n",
        1,
    ),
]

#: Still at work, whatever they say.
HEALTHY: list[str] = [
    # dask restart
    BEFORE
    + "distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting\ndistributed.nanny - WARNING - Restarting worker\n"
    + AFTER,
    # nextflow retry
    "[8a/11] process > ALIGN (3) [ 30%] 3 of 9\n[8a/12] NOTE: Process `ALIGN (3)` terminated with an error exit status (137) -- Execution is retried (1)\n[8a/13] Re-submitted process > ALIGN (3)\n[8a/11] process > ALIGN (3) [ 55%] 5 of 9\n[8a/11] process > ALIGN (3) [ 66%] 6 of 9\n",
    # nextflow retry end
    "[8a/11] process > ALIGN (3) [ 30%] 3 of 9\n[8a/12] NOTE: Process `ALIGN (3)` terminated with an error exit status (137) -- Execution is retried (1)\n",
    # spark lost task
    "24/05/16 03:04:05 WARN TaskSetManager: Lost task 1.0 in stage 0.0 (TID 7, n7, executor 6): ExecutorLostFailure (executor 6 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding memory limits. 8.2 GB of 8 GB physical memory used.\n24/05/16 03:04:05 INFO TaskSetManager: Starting task 1.1 in stage 0.0 (TID 9, n8, executor 7)\n24/05/16 03:04:05 INFO TaskSetManager: Finished task 1.1 in stage 0.0 (TID 9) in 43333 ms on n8 (executor 7) (4/8)\n24/05/16 03:04:05 INFO TaskSetManager: Finished task 5.0 in stage 0.0 (TID 12) in 43333 ms on n8 (executor 7) (5/8)\n",
    # wandb agent one
    "wandb: Agent Starting Run: a1 with config:\nRun a1 errored: ValueError('lr too high')\nwandb: ERROR Run a1 errored: ValueError('lr too high')\nwandb: Agent Starting Run: a2 with config:\nwandb: Tracking run with wandb version 0.16\n"
    + BEFORE,
    # optuna failed trial
    "[I 2026-01-02 03:04:05,123] Trial 3 finished with value: 0.91 and parameters: {'lr': 0.01}. Best is trial 3 with value: 0.91.\n[W 2026-01-02 03:04:05,123] Trial 4 failed with parameters: {'lr': 0.1} because of the following error: RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB').\n[W 2026-01-02 03:04:05,123] Trial 4 failed with value None.\n[I 2026-01-02 03:04:05,123] Trial 5 finished with value: 0.92 and parameters: {'lr': 0.02}. Best is trial 5 with value: 0.92.\n[I 2026-01-02 03:04:05,123] Trial 6 finished with value: 0.90 and parameters: {'lr': 0.03}. Best is trial 5 with value: 0.92.\n",
    # ragas few
    "Evaluating:  30%|###       | 6/20 [00:38<01:29,  6.40s/it]\nException raised in Job[3]: TimeoutError()\nEvaluating:  40%|####      | 8/20 [00:51<01:16,  6.40s/it]\nEvaluating:  50%|#####     | 10/20 [01:04<01:04,  6.40s/it]\n",
    # jax backend
    "INFO:2026-01-02 03:04:05,123:jax._src.xla_bridge:867: Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory\nINFO:2026-01-02 03:04:05,123:jax._src.xla_bridge:867: Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'\n"
    + BEFORE,
    # jax bfc warn
    BEFORE
    + "2026-01-02 03:04:05.123: W external/xla/xla/tsl/framework/bfc_allocator.cc:296] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.50GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.\n"
    + AFTER,
    # tf warnings
    "2026-01-02 03:04:05.123: E tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc:9342] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered\n2026-01-02 03:04:05.123: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT\n2026-01-02 03:04:05.123: I tensorflow/core/common_runtime/executor.cc:1197] [/device:CPU:0] (DEBUG INFO) Executor start aborting (this does not indicate an error and you can ignore this message): INVALID_ARGUMENT: You must feed a value for placeholder tensor\n 700/1500 [=============>................] - ETA: 2:11 - loss: 2.1759 - accuracy: 0.2388\n 701/1500 [=============>................] - ETA: 2:11 - loss: 2.1759 - accuracy: 0.2388\n",
    # espnet few nan
    "[gpu01] 2026-01-02 03:04:05,123 (trainer:582) WARNING: The grad norm is nan. Skipping updating the model.\n[gpu01] 2026-01-02 03:04:05,123 (trainer:582) WARNING: The grad norm is nan. Skipping updating the model.\n[gpu01] 2026-01-02 03:04:05,123 (trainer:582) WARNING: The grad norm is nan. Skipping updating the model.\n[gpu01] 2026-01-02 03:04:05,123 (trainer:582) WARNING: The grad norm is nan. Skipping updating the model.\n[gpu01] 2026-01-02 03:04:05,123 (trainer:737) INFO: 2epoch:train:101-200batch: iter_time=1e-4, loss_ctc=88.1, loss=77.1, backward_time=0.1\n[gpu01] 2026-01-02 03:04:05,123 (trainer:737) INFO: 2epoch:train:201-300batch: iter_time=1e-4, loss_ctc=82.1, loss=71.1, backward_time=0.1\n",
    # fairseq overflow
    "2026-01-02 03:04:05 | INFO | fairseq.trainer | NOTE: overflow detected, setting loss scale to: 1\n2026-01-02 03:04:05 | INFO | fairseq.trainer | NOTE: overflow detected, setting loss scale to: 0.5\n2026-01-02 03:04:05 | INFO | fairseq.trainer | NOTE: overflow detected, setting loss scale to: 0.25\n2026-01-02 03:04:05 | INFO | train_inner | epoch 003:      5 / 356 loss=9.44, ppl=347.28, num_updates=700, lr=0.000175, gnorm=156.036, oom=0\n2026-01-02 03:04:05 | INFO | train_inner | epoch 003:     15 / 356 loss=9.34, ppl=327.28, num_updates=710, lr=0.000175, gnorm=56.036, oom=0\n",
    # megatron nan iters 0
    " iteration     7/   43333 | consumed samples: 56 | lm loss: 2.09E+00 | loss scale: 1.0 | grad norm: 1.2 | number of skipped iterations:   0 | number of nan iterations:   0 |\n iteration     8/   43333 | consumed samples: 64 | lm loss: 2.09E+00 | loss scale: 1.0 | grad norm: 1.2 | number of skipped iterations:   0 | number of nan iterations:   0 |\n iteration     9/   43333 | consumed samples: 72 | lm loss: 2.09E+00 | loss scale: 1.0 | grad norm: 1.2 | number of skipped iterations:   0 | number of nan iterations:   0 |\n iteration     10/   43333 | consumed samples: 80 | lm loss: 2.09E+00 | loss scale: 1.0 | grad norm: 1.2 | number of skipped iterations:   0 | number of nan iterations:   0 |\n iteration     11/   43333 | consumed samples: 88 | lm loss: 2.09E+00 | loss scale: 1.0 | grad norm: 1.2 | number of skipped iterations:   0 | number of nan iterations:   0 |\n",
    # k8s events earlier
    "Events:\n  Warning  FailedScheduling  3m    default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu.\n  Normal   Scheduled         2m    default-scheduler  Successfully assigned ml/train-0 to n7\n  Normal   Pulled            2m    kubelet            Container image already present\n"
    + BEFORE,
    # pod evicted cache words
    BEFORE + "cache: 12 blocks evicted, hit rate 0.91\nprefix pod index: evicted 3 keys\n" + AFTER,
    # tgi
    "2024-04-18T22:44:08Z  INFO shard-manager: text_generation_launcher: Waiting for shard to be ready... rank=0\n2024-04-18T22:44:18Z  INFO shard-manager: text_generation_launcher: Shard ready in 20.1s rank=0\n2024-04-18T22:44:19Z  WARN text_generation_router: no pipeline tag found for model /data/m\n2024-04-18T22:45:19Z  INFO generate: text_generation_router: Success\n2024-04-18T22:45:20Z  INFO generate: text_generation_router: Success\n",
    # ollama log
    '[GIN] 2026/01/02 - 03:04:05 | 200 |  1.2s | 127.0.0.1 | POST "/api/chat"\ntime=2024-01-01T10:10:11Z level=WARN source=sched.go:456 msg="gpu VRAM usage didn\'t recover within timeout" seconds=5.1\n[GIN] 2026/01/02 - 03:04:05 | 404 |  1.2ms | 127.0.0.1 | GET "/favicon.ico"\n[GIN] 2026/01/02 - 03:04:05 | 200 |  1.2s | 127.0.0.1 | POST "/api/chat"\n[GIN] 2026/01/02 - 03:04:05 | 200 |  1.1s | 127.0.0.1 | POST "/api/chat"\n',
    # json retry quoted
    BEFORE
    + '{"level":"warning","msg":"call failed, retrying in 2 s","exc":"Traceback (most recent call last):\\n  File \\"a.py\\", line 3, in f\\n    g()\\nValueError: bad\\n"}\n'
    + AFTER,
    # json retry quoted last
    BEFORE
    + '{"level":"warning","msg":"call failed, retrying in 2 s","exc":"Traceback (most recent call last):\\n  File \\"a.py\\", line 3, in f\\n    g()\\nValueError: bad\\n"}\n',
    # horovod tags
    "[1,0]<stderr>:2026-01-02 03:04:05: W tensorflow/core: Skipping loop optimization, error: invalid\n[1,1]<stderr>:2026-01-02 03:04:05: W tensorflow/core: Skipping loop optimization, error: invalid\n[1,2]<stderr>:2026-01-02 03:04:05: W tensorflow/core: Skipping loop optimization, error: invalid\n[1,0]<stdout>:step 20/900 loss 2.20\n[1,0]<stdout>:step 21/900 loss 2.21\n[1,0]<stdout>:step 22/900 loss 2.22\n[1,0]<stdout>:step 23/900 loss 2.23\n[1,0]<stdout>:step 24/900 loss 2.24\n[1,0]<stdout>:step 25/900 loss 2.25\n",
    # questions exit codes
    "[q 7] what does exit code 137 mean? -> correct\n[q 8] container exited with code 139 - why? -> wrong\n[q 9] Job was evicted, explain -> correct\n[q 10] next\n[q 11] next\n",
    # agent benchmark sandbox
    "task 12/50: sandbox command finished with exit code 137, scored 0\ntask 13/50: sandbox command finished with exit code 0, scored 1\ntask 14/50: sandbox command finished with exit code 1, scored 0\ntask 15/50: sandbox command finished with exit code 127, scored 0\n",
    # agent benchmark sandbox last
    "task 12/50: sandbox command finished with exit code 0, scored 0\ntask 13/50: sandbox command finished with exit code 0, scored 1\ntask 14/50: sandbox command finished with exit code 1, scored 0\ntask 15/50: sandbox command finished with exit code 137, scored 0\n",
    # make error ignored
    "make: [Makefile:12: clean] Error 1 (ignored)\n" + BEFORE,
    # ctrl-c hint
    'INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)\nINFO:     127.0.0.1:5 - "POST /v1/chat HTTP/1.1" 200 OK\nINFO:     127.0.0.1:5 - "POST /v1/chat HTTP/1.1" 200 OK\n',
    # git early
    "fatal: early EOF\nfatal: fetch-pack: invalid index-pack output\nretrying the clone (2/3)\nReceiving objects: 100% (5133/5133), done.\n"
    + BEFORE,
    # sagemaker info
    "2026-01-02 03:04:05,123 sagemaker-training-toolkit INFO     Invoking user script\n2026-01-02 03:04:05,123 sagemaker-training-toolkit INFO     No GPUs detected (normal if no gpus installed)\n2026-01-02 03:04:05,123 sagemaker-training-toolkit INFO     Exceptions not handled by SageMaker Debugger will be reported\n"
    + BEFORE,
    # slurm requeue
    "slurmstepd: error: *** JOB 812 ON n7 CANCELLED AT 2024-01-01T10:10:10 DUE TO PREEMPTION ***\nrequeued, restart count 1\nresumed from step 150\n"
    + AFTER,
    # ray retry
    BEFORE
    + "(raylet) A worker died or was killed while executing a task by an unexpected system error. Retries left: 3\n(raylet) [2026-01-02 03:04:05,123 E 88 88] 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node\n"
    + AFTER,
    # mpi btl
    "--------------------------------------------------------------------------\nWARNING: There was an error initializing an OpenFabrics device.\n\n  Local host:   n7\n  Local device: mlx5_0\n--------------------------------------------------------------------------\n"
    + BEFORE,
    # rocm
    "MIOpen(HIP): Warning [IsEnoughWorkspace] [GetSolutionsFallback WTI] Solver <GemmFwdRest>, workspace required: 1, provided ptr: 0 size: 0\nhip_fatbin.cpp: init: Returned hipErrorNoBinaryForGpu : continue parsing remaining modules\n"
    + BEFORE,
    # bnb
    "Could not find the bitsandbytes CUDA binary at PosixPath('/x/libbitsandbytes_cuda124.so')\nThe installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers, 8-bit multiplication, and GPU quantization are unavailable.\n"
    + BEFORE,
    # mps fallback
    "UserWarning: The operator 'aten::avg_pool3d.out' is not currently supported on the MPS backend and will fall back to run on the CPU.\n"
    + BEFORE,
    # paddle
    "W0412 03:04:05.123 46630 gpu_resources.cc:61] Please NOTE: device: 0, GPU Compute Capability: 7.5, Driver API Version: 11.6\n[2026/01/02 03:04:05] ppocr INFO: epoch: [3/1200], global_step: 750, lr: 0.001, loss: 2.015, ips: 22.2\n[2026/01/02 03:04:05] ppocr INFO: epoch: [4/1200], global_step: 770, lr: 0.001, loss: 2.244, ips: 22.2\n",
    # detectron nan guard
    "[01/01 03:04:05 d2.utils.events]:  eta: 1:11:11  iter: 19  total_loss: 3.1  lr: 0.02  max_mem: 9000M\nanomaly guard: checks for nan, inf losses; none in 20 iters\n[01/01 03:04:05 d2.utils.events]:  eta: 1:10:11  iter: 39  total_loss: 2.1  lr: 0.02  max_mem: 9000M\n[01/01 03:04:05 d2.utils.events]:  eta: 1:09:11  iter: 59  total_loss: 1.9  lr: 0.02  max_mem: 9000M\n",
    # nccl warn
    BEFORE
    + "n7:811:812 [0] transport/net_ib.cc:94 NCCL WARN NET/IB : Got async event : port error\nn7:811:812 [0] NCCL INFO NET/IB : port active again\n"
    + AFTER,
    # ssh words
    BEFORE + "checking ssh: Connection to gpu7 closed.\n" + AFTER,
    # tests in agent
    "task 3: running tests ... 2 failed, 10 passed in 1.2s -> patch rejected\ntask 4: running tests ... 12 passed in 1.1s -> resolved\ntask 5: running tests ... 12 passed in 1.1s -> resolved\n",
    # tests in agent raw
    "[task 3] running tests\n=========== 2 failed, 10 passed in 1.20s ===========\n[task 3] not resolved\n[task 4] running tests\n=========== 12 passed in 1.20s ===========\n[task 4] resolved\n[task 5] running tests\n",
    # compile in agent
    "[task 3] build\nx.cc:12:3: error: 'foo' was not declared in this scope\n[task 3] score 0\n[task 4] build\n[task 4] score 1\n[task 5] build\n[task 5] score 1\n",
    # found 0
    "Found 0 images without labels, 47333 with\n" + BEFORE,
    # no data found cache
    "no data found in the cache, downloading\nDownloading: 100%|##########| 12/12 [00:01<00:00]\n" + BEFORE,
    # ckpt fail
    BEFORE + "WARNING: failed to allocate buffer of size 1024, using the pageable path\n" + AFTER,
    # ckpt fail last
    BEFORE + "WARNING: failed to allocate buffer of size 1024, using the pageable path\n",
    # stop signal handler
    "INFO: stop signal handler installed, send SIGINT to stop\n" + BEFORE,
    # evict
    BEFORE + "lru: evicted 1200 entries\nWarning: cache over 90 %, evicting\n" + AFTER,
    # vllm pre
    "INFO 01-02 03:04:05 scheduler.py: Sequence group 3 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.\nWARNING 01-02 03:04:05 scheduler: 3 requests evicted and recomputed\nINFO 01-02 03:04:05 metrics.py: Avg prompt throughput: 120.0 tokens/s\nINFO 01-02 03:04:05 metrics.py: Avg prompt throughput: 121.0 tokens/s\n",
    # job exceeded est
    BEFORE + "WARN: job exceeded its estimated run time by 12 min, still 3 h left\n" + AFTER,
    # gcs
    "[2026-01-02 03:04:05,123 W 12 12] gcs_rpc_client: Failed to connect to GCS, retrying\n[2026-01-02 03:04:05,123 I 12 12] connected to GCS\n"
    + BEFORE,
    # quality
    "INFO eval: 3 samples with invalid data found when processing input were skipped\nevaluated 120/900\nevaluated 140/900\n",
    # error level info
    'level=error msg="metrics endpoint not reachable" err="dial tcp 10.0.0.1:9: connect: connection refused"\n'
    + BEFORE,
    # exit code table
    "run | exit code\n--- | ---\na | 0\nb | 137\nc | 1\n" + BEFORE,
    # sub exit
    "worker 3 exited with code 1, restarting it (1/5)\n" + BEFORE,
    # sub exit 137
    "worker 3 exited with code 137, restarting it (1/5)\n" + BEFORE,
    # sub exit 137 last
    BEFORE + "worker 3 exited with code 137, restarting it (1/5)\n",
    # docker
    "docker: pulling image\nERROR: manifest of tag latest is old, using it\n" + BEFORE,
    # k8s
    "  Normal   Killing              109s  kubelet  Stopping container init\n  Normal   Started              100s  kubelet  Started container train\n"
    + BEFORE,
    # launch info
    "LAUNCH INFO 2026-01-02 03:04:05,123 Run Pod: abc, replicas 2, status ready\nLAUNCH INFO 2026-01-02 03:04:05,123 Watching Pod: abc, replicas 2, status running\n"
    + BEFORE,
    # dask last
    BEFORE
    + "distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting\ndistributed.nanny - WARNING - Restarting worker\n",
    # dask dist
    "INFO - task block 12 done\ndistributed.worker_memory - WARNING - Worker is at 81% memory usage. Pausing worker.  Process memory: 3.06 GiB -- Worker memory limit: 3.73 GiB\ndistributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:3 (pid=12) exceeded 95% memory budget. Restarting...\ndistributed.nanny - WARNING - Restarting worker\n",
    # spark last
    "24/05/16 03:04:05 INFO TaskSetManager: Finished task 0.0 in stage 0.0 (TID 6) in 900 ms on n7 (1/8)\n24/05/16 03:04:05 ERROR YarnClusterScheduler: Lost executor 6 on n7: Container killed by YARN for exceeding memory limits. 8.2 GB of 8 GB physical memory used.\n24/05/16 03:04:05 INFO TaskSetManager: Starting task 1.1 in stage 0.0 (TID 9, n8, executor 7)\n",
    # ray mem last
    BEFORE
    + "(raylet) [2026-01-02 03:04:05,123 E 88 88] 3 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: a, IP: 10.0.0.1) over the last time period.\n",
    # npu warn
    BEFORE + "[W] NPU out of memory cache flush, retrying allocation\n",
    # java heap gauge
    BEFORE + "Java heap space used: 3.1 GB of 8 GB\n",
    # failed alloc pinned
    BEFORE + "could not pin: failed to allocate 2.00 GiB of pinned memory; going on without\n",
    # xla reserve
    BEFORE
    + "2026-01-02 03:04:05.123: W external/xla/xla/stream_executor/gpu: failed to allocate 9.50GiB (43733812479 bytes) from device: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
    # tf growth
    "2026-01-02 03:04:05.123: I tensorflow/core/common_runtime/bfc_allocator.cc: failed to allocate 2.00GiB (4012194519 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n2026-01-02 03:04:05.123: I tensorflow: using a smaller pool\n"
    + BEFORE,
    # mem limit words
    BEFORE + "memory limit of the job: 64 GB, used 12 GB; nothing exceeded its memory limit\n",
    # exceed mem
    BEFORE + "INFO cache: entry exceeded its memory limit and was written to disk\n",
    # oom guard
    BEFORE + "INFO guard: batch of 9000 tokens exceeds available memory, splitting it\n",
    # rpc
    "remote: Counting objects: 100% (12/12), done.\nerror: RPC failed; curl 56 GnuTLS recv error\ntrying the mirror\nReceiving objects: 100% (12/12), done.\n"
    + BEFORE,
    # ollama
    BEFORE
    + 'time=2024-01-01T10:10:11Z level=WARN msg="llama runner process no longer running" sys=9 string="signal: killed"\ntime=2024-01-01T10:10:12Z level=INFO msg="llama runner started in 1.2 seconds"\n',
]

#: Ended well, with exit code 0.
DONE: list[str] = [
    # nextflow done
    "[8a/12] NOTE: Process `ALIGN (3)` terminated with an error exit status (137) -- Execution is retried (1)\n[8a/11] process > ALIGN (3) [100%] 9 of 9, failed: 1, retries: 1\nCompleted at: 01-Jan-2024 03:04:05\nDuration    : 1h 3m\nSucceeded   : 9\nFailed      : 1\n",
    # optuna done
    "[W 2026-01-02 03:04:05,123] Trial 4 failed with parameters: {'lr': 0.1} because of the following error: RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB').\n[I 2026-01-02 03:04:05,123] Trial 6 finished with value: 0.90 and parameters: {'lr': 0.03}. Best is trial 5 with value: 0.92.\nstudy done: best 0.92\n",
    # ragas few nan
    "Exception raised in Job[0]: TimeoutError()\nException raised in Job[1]: TimeoutError()\nException raised in Job[2]: TimeoutError()\nEvaluating: 100%|##########| 200/200 [02:08<00:00,  6.42s/it]\n{'faithfulness': 0.91, 'answer_relevancy': 0.88}\n",
    # eval with null field
    BEFORE
    + 'item 0: HTTP 429 Too Many Requests, retrying in 2 s\nitem 1: HTTP 429 Too Many Requests, retrying in 2 s\nitem 2: HTTP 429 Too Many Requests, retrying in 2 s\nitem 3: HTTP 429 Too Many Requests, retrying in 2 s\nitem 4: HTTP 429 Too Many Requests, retrying in 2 s\nitem 5: HTTP 429 Too Many Requests, retrying in 2 s\nitem 6: HTTP 429 Too Many Requests, retrying in 2 s\nitem 7: HTTP 429 Too Many Requests, retrying in 2 s\nitem 8: HTTP 429 Too Many Requests, retrying in 2 s\n{"accuracy": 0.71, "by_group": {"rare": null}}\nlast_checkpoint = None\n',
    # swebench
    "Running 50 instances\ninstance 1: process exited with code 1\ninstance 2: process exited with code 137\ninstance 3: process exited with code 0\nAll instances run.\nreport written\n",
    # dvc
    "Stage 'prep' didn't change, skipping\nRunning stage 'train':\n> python train.py --epochs 3\nERROR: metric file missing, writing a new one\nepoch 3/3 loss 0.2\nUpdating lock file 'dvc.lock'\nUse `dvc push` to send your updates to remote storage.\n",
    # lsf ok
    BEFORE
    + "\n------------------------------------------------------------\nSender: LSF System <lsf@n7>\nSubject: Job 12: <t> in cluster <c> Done\n\nSuccessfully completed.\n\nResource usage summary:\n\n    Max Memory : 6 MB\n    Total Requested Memory : 8 GB\n    Delta Memory : -\n",
    # refusals none
    "ERROR call 0: ConnectError(All connection attempts failed)\nERROR call 1: ConnectError(All connection attempts failed)\nERROR call 2: ConnectError(All connection attempts failed)\nERROR call 3: ConnectError(All connection attempts failed)\nERROR call 4: ConnectError(All connection attempts failed)\nERROR call 5: ConnectError(All connection attempts failed)\nreconnected, all repeated\naccuracy=0.71\nseed=None\n",
]
