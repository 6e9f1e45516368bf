"""Ends of logs with their cause, written from general knowledge of such logs before the diagnosis was read.

The texts are invented; none was copied from a run. ``cls`` holds every class that is defensible (one, mostly);
a case with ``healthy`` set either runs still (both exit values null) or ended with code 0.
"""

# ruff: noqa: E101, E501
from __future__ import annotations

from typing import Any


def failed(name: str, cls: str | tuple[str, ...], log: str, code: int | None = 1, signal: int | None = None) -> dict[str, Any]:
    """A run that ended badly: by an exit code, or by a signal when the code is None."""
    classes = (cls,) if isinstance(cls, str) else cls
    return {"name": name, "log": log, "exit": {"code": code, "signal": signal}, "healthy": False, "cls": classes}


def healthy(name: str, log: str, code: int | None = None) -> dict[str, Any]:
    """A run with nothing wrong: still running (no code) or ended with code 0."""
    return {"name": name, "log": log, "exit": {"code": code, "signal": None}, "healthy": True, "cls": ()}


CASES: list[dict[str, Any]] = [
    # ------------------------------------------------------------------ memory: device
    failed("cuda_oom_torch2", "OOM", """\
2026-03-02 11:04:10 INFO  trainer: epoch 1/3 step 410/5200 loss 1.8821 lr 1.9e-05
2026-03-02 11:04:14 INFO  trainer: epoch 1/3 step 420/5200 loss 1.8790 lr 1.9e-05
Traceback (most recent call last):
  File "/home/ana/proj/finetune.py", line 233, in <module>
    main()
  File "/home/ana/proj/finetune.py", line 201, in main
    loss.backward()
  File "/home/ana/.venv/lib/python3.11/site-packages/torch/_tensor.py", line 626, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 79.25 GiB of which 1.12 GiB is free. Including non-PyTorch memory, this process has 78.10 GiB memory in use. Of the allocated memory 74.02 GiB is allocated by PyTorch, and 3.11 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.
"""),
    failed("cuda_oom_torch1_with_bar", "OOM", """\
Epoch 0:  12%|█▏        | 119/988 [02:10<15:52,  1.10s/it, loss=2.31]\rEpoch 0:  12%|█▏        | 120/988 [02:11<15:51,  1.10s/it, loss=2.30]
Traceback (most recent call last):
  File "train_seg.py", line 88, in <module>
    out = net(img.cuda())
  File "/opt/conda/lib/python3.8/site-packages/torch/nn/modules/module.py", line 1130, in _call_impl
    return forward_call(*input, **kwargs)
  File "/workspace/unet.py", line 41, in forward
    x = torch.cat([skip, x], dim=1)
RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 1; 10.76 GiB total capacity; 9.20 GiB already allocated; 280.44 MiB free; 9.51 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.
"""),
    failed("cublas_alloc_failed", "OOM", """\
loaded 7.2 B parameters in bf16
starting evaluation on cuda:0, 1319 items
Traceback (most recent call last):
  File "/srv/eval/run.py", line 64, in generate
    out = model.generate(**batch, max_new_tokens=512)
  File "/srv/eval/.venv/lib/python3.10/site-packages/torch/nn/modules/linear.py", line 116, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`
"""),
    failed("vllm_no_cache_blocks", ("OOM", "ENVIRONMENT"), """\
INFO 04-11 09:12:55 model_runner.py:1067] Loading model weights took 65.7410 GB
INFO 04-11 09:13:20 gpu_executor.py:122] # GPU blocks: 0, # CPU blocks: 819
Traceback (most recent call last):
  File "/data/bench/serve_eval.py", line 31, in <module>
    llm = LLM(model=args.model, max_model_len=32768)
  File "/data/bench/env/lib/python3.11/site-packages/vllm/worker/worker.py", line 497, in raise_if_cache_size_invalid
    raise ValueError("No available memory for the cache blocks. "
ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
"""),
    failed("vllm_free_memory_too_small", ("OOM", "ENVIRONMENT"), """\
(EngineCore_0 pid=21877) INFO 10-02 18:40:11 [core.py:76] Initializing a V1 LLM engine (v0.10.1)
(EngineCore_0 pid=21877) ERROR 10-02 18:40:19 [core.py:700] EngineCore failed to start.
(EngineCore_0 pid=21877) ERROR 10-02 18:40:19 [core.py:700] Traceback (most recent call last):
(EngineCore_0 pid=21877) ERROR 10-02 18:40:19 [core.py:700]   File "/opt/vllm/v1/worker/gpu_worker.py", line 179, in init_device
(EngineCore_0 pid=21877) ERROR 10-02 18:40:19 [core.py:700]     raise ValueError(
(EngineCore_0 pid=21877) ERROR 10-02 18:40:19 [core.py:700] ValueError: Free memory on device (4.88/79.19 GiB) on startup is less than desired GPU memory utilization (0.9, 71.27 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
Traceback (most recent call last):
  File "/home/rui/judge/main.py", line 12, in <module>
    engine = LLM(args.judge)
  File "/opt/vllm/v1/engine/utils.py", line 732, in wait_for_engine_startup
    raise RuntimeError("Engine core initialization failed. "
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""),
    failed("jax_resource_exhausted", "OOM", """\
I0302 10:22:01.100291 140 train.py:140] step=200 loss=3.9110
I0302 10:22:41.887203 140 train.py:140] step=300 loss=3.7022
2026-03-02 10:22:58.110233: W external/xla/xla/tsl/framework/bfc_allocator.cc:497] Allocator (GPU_0_bfc) ran out of memory trying to allocate 12.50GiB (rounded to 13421772800)requested by op
Traceback (most recent call last):
  File "/home/k/flaxlm/train.py", line 177, in <module>
    app.run(main)
  File "/home/k/flaxlm/train.py", line 133, in main
    state, metrics = p_train_step(state, batch)
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 13421772800 bytes.
"""),
    failed("tf_resource_exhausted", "OOM", """\
Epoch 2/40
 11/782 [..............................] - ETA: 4:20 - loss: 1.4410 - accuracy: 0.4920
2026-01-19 08:31:12.402117: W tensorflow/core/framework/op_kernel.cc:1828] OP_REQUIRES failed at conv_ops_impl.h:770 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[256,128,112,112] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
Traceback (most recent call last):
  File "/u/marta/cls/fit.py", line 77, in <module>
    model.fit(ds, epochs=40)
  File "/u/marta/env/lib/python3.10/site-packages/keras/src/utils/traceback_utils.py", line 70, in error_handler
    raise e.with_traceback(filtered_tb) from None
tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:
OOM when allocating tensor with shape[256,128,112,112] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
	 [[{{node model/conv2d_3/Conv2D}}]]
Hint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions for current allocation info.
"""),
    failed("hip_oom", "OOM", """\
[rank5]: Traceback (most recent call last):
[rank5]:   File "/lustre/work/pretrain.py", line 410, in <module>
[rank5]:     train(cfg)
[rank5]:   File "/lustre/work/pretrain.py", line 322, in train
[rank5]:     logits = model(tokens)
[rank5]: torch.OutOfMemoryError: HIP out of memory. Tried to allocate 3.00 GiB. GPU 5 has a total capacity of 63.98 GiB of which 2.40 GiB is free. Of the allocated memory 58.10 GiB is allocated by PyTorch, and 2.02 GiB is reserved by PyTorch but unallocated.
W0611 02:11:40.120 4177 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 4190 closing signal SIGTERM
E0611 02:11:42.551 4177 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 5 (pid: 4195) of binary: /usr/bin/python3
"""),
    failed("oom_one_rank_then_nccl_abort", "OOM", """\
[rank2]: Traceback (most recent call last):
[rank2]:   File "/home/j/sft/train.py", line 150, in <module>
[rank2]:     trainer.train()
[rank2]:   File "/home/j/sft/.venv/lib/python3.11/site-packages/transformers/trainer.py", line 3698, in training_step
[rank2]:     loss = self.compute_loss(model, inputs)
[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.42 GiB. GPU 2 has a total capacity of 79.11 GiB of which 5.01 GiB is free.
[rank0]:[E520 14:10:02.118 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4411, OpType=ALLREDUCE, NumelIn=26214400, NumelOut=26214400, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.
[rank0]:[E520 14:10:02.130 ProcessGroupNCCL.cpp:684] [Rank 0] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.
terminate called after throwing an instance of 'c10::DistBackendError'
E0520 14:10:05.339 99121 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 2 (pid: 99141) of binary: /home/j/sft/.venv/bin/python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
"""),
    # ------------------------------------------------------------------ memory: host
    failed("numpy_array_memory", "OOM", """\
reading shards 0..127
concatenating embeddings
Traceback (most recent call last):
  File "build_index.py", line 52, in <module>
    sims = emb @ emb.T
numpy._core._exceptions._ArrayMemoryError: Unable to allocate 149. GiB for an array with shape (200000, 200000) and data type float32
"""),
    failed("plain_memory_error", "OOM", """\
parsed 41000000 lines
parsed 42000000 lines
parsed 43000000 lines
Traceback (most recent call last):
  File "/data/ngrams/count.py", line 30, in <module>
    table[tuple(words[i:i + 5])] += 1
MemoryError
"""),
    # Relabelled (was OOM alone): the shell's "Killed" names no sender; without a word of the kernel, memory is a guess.
    failed("shell_says_killed", ("OOM", "STOPPED"), """\
Running tokenizer on dataset (num_proc=32):  71%|███████   | 5120000/7200000 [11:02<04:31, 7650.11 examples/s]
Running tokenizer on dataset (num_proc=32):  72%|███████▏  | 5184000/7200000 [11:11<04:30, 7444.90 examples/s]
Running tokenizer on dataset (num_proc=32):  72%|███████▏  | 5190000/7200000 [11:29<08:54, 3760.00 examples/s]
Running tokenizer on dataset (num_proc=32):  72%|███████▏  | 5191000/7200000 [11:55<23:04, 1450.42 examples/s]
./prepare.sh: line 14: 30911 Killed                  python tokenize_corpus.py --num-proc 32
""", 137),
    failed("slurm_oom_kill_event", "OOM", """\
[step 1200] loss 0.8812
[step 1300] loss 0.8790
slurmstepd: error: Detected 1 oom_kill event in StepId=7719203.batch. Some of the step tasks have been OOM Killed.
srun: error: gpu-n41: task 0: Out Of Memory
srun: Terminating StepId=7719203.0
"""),
    failed("loader_worker_killed", "OOM", """\
Epoch 3 | it 880 | loss 0.4471 | 2.1 it/s
Epoch 3 | it 890 | loss 0.4402 | 2.1 it/s
Traceback (most recent call last):
  File "/home/pd/vit/main.py", line 299, in train_one_epoch
    for images, target in loader:
  File "/home/pd/vit/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1295, in _get_data
    success, data = self._try_get_data()
  File "/home/pd/vit/venv/lib/python3.10/site-packages/torch/utils/data/_utils/signal_handling.py", line 66, in handler
    _error_if_any_worker_fails()
RuntimeError: DataLoader worker (pid 55121) is killed by signal: Killed.
"""),
    failed("cpu_allocator", "OOM", """\
Loading checkpoint shards:  60%|██████    | 9/15 [01:02<00:42,  7.08s/it]
Traceback (most recent call last):
  File "/opt/app/merge_lora.py", line 22, in <module>
    base = AutoModelForCausalLM.from_pretrained(src, device_map="cpu")
  File "/opt/app/.venv/lib/python3.11/site-packages/transformers/modeling_utils.py", line 4225, in from_pretrained
    new_value = torch.empty_like(param, device="cpu")
RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 1073741824 bytes. Error code 12 (Cannot allocate memory)
"""),
    failed("bad_alloc_abort", "OOM", """\
[info] building suffix array over 31.2 GB of text
[info] bucket 3 of 64
[info] bucket 4 of 64
terminate called after throwing an instance of 'std::bad_alloc'
  what():  std::bad_alloc
Aborted (core dumped)
""", None, 6),
    failed("ray_memory_monitor", "OOM", """\
(map_batches pid=8021) processed 400 blocks
(raylet) 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 5a1c77, IP: 10.12.0.9) over the last time period.
Traceback (most recent call last):
  File "featurise.py", line 71, in <module>
    ds.write_parquet(out)
ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.
Memory on the node (IP: 10.12.0.9, ID: 5a1c77) where the task (task ID: 20f6, name=map_batches, pid=8021, memory used=41.02GB) was running was 243.33GB / 251.55GB (0.967327), which exceeds the memory usage threshold of 0.95.
"""),
    # Relabelled (STOPPED added): as sigkill_without_a_word below, a SIGKILL whose sender nobody names.
    failed("deepspeed_return_code_minus_9", ("OOM", "UNKNOWN", "STOPPED"), """\
[2026-02-03 05:11:41,002] [INFO] [utils.py:782:see_memory_usage] CPU Virtual Memory:  used = 497.12 GB, percent = 98.8%
[2026-02-03 05:11:55,430] [INFO] [partition_parameters.py:348:__exit__] finished initializing model - num_params = 723, num_elems = 68.98B
[2026-02-03 05:12:20,114] [INFO] [launch.py:316:sigkill_handler] Killing subprocess 7781
[2026-02-03 05:12:20,600] [INFO] [launch.py:316:sigkill_handler] Killing subprocess 7782
[2026-02-03 05:12:21,002] [ERROR] [launch.py:322:sigkill_handler] ['/usr/bin/python3', '-u', 'train.py', '--local_rank=1', '--deepspeed', 'ds_z3_offload.json'] exits with return code = -9
""", 247),
    # Relabelled (STOPPED added): the same, told by torchrun.
    failed("torchrun_child_sigkill", ("OOM", "UNKNOWN", "STOPPED"), """\
Caching images (48.2GB RAM): 88%|████████▊ | 104112/118287 [05:40<00:50, 280.13it/s]
W0107 20:14:17.882 612 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 640 closing signal SIGTERM
E0107 20:14:19.021 612 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 1 (pid: 641) of binary: /opt/conda/bin/python
Traceback (most recent call last):
  File "/opt/conda/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
=======================================================
train.py FAILED
-------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-01-07_20:14:17
  host      : worker-3
  rank      : 1 (local_rank: 1)
  exitcode  : -9 (pid: 641)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 641
=======================================================
"""),
    failed("fork_errno12", "OOM", """\
INFO  building 16 workers
INFO  worker 0 up
INFO  worker 1 up
Traceback (most recent call last):
  File "/home/t/rl/collect.py", line 93, in spawn
    p.start()
  File "/usr/lib/python3.11/multiprocessing/popen_fork.py", line 66, in _launch
    self.pid = os.fork()
OSError: [Errno 12] Cannot allocate memory
"""),
    failed("pod_oomkilled", "OOM", """\
step 88 reward 0.41 kl 0.02
step 89 reward 0.43 kl 0.02
step 90 reward 0.42 kl 0.02
command terminated with exit code 137
pod/ppo-7b-worker-0: container "train" terminated, reason: OOMKilled, exitCode: 137
""", 137),
    failed("cgroup_kernel_message", "OOM", """\
encoding video 411/900
encoding video 412/900
[814210.221] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[814210.993] Memory cgroup out of memory: Killed process 22871 (python) total-vm:71820112kB, anon-rss:66993812kB, file-rss:1204kB
[814211.002] oom_reaper: reaped process 22871 (python), now anon-rss:0kB
""", None, 9),
    failed("shared_memory_bus_error", ("ENVIRONMENT", "OOM"), """\
Epoch 1:   0%|          | 0/1250 [00:00<?, ?it/s]
ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
Traceback (most recent call last):
  File "/workspace/train.py", line 120, in <module>
    batch = next(it)
  File "/usr/local/lib/python3.10/dist-packages/torch/utils/data/dataloader.py", line 1133, in _try_get_data
    raise RuntimeError(f'DataLoader worker (pid(s) {pids_str}) exited unexpectedly') from e
RuntimeError: DataLoader worker (pid(s) 318, 319) exited unexpectedly
"""),
    failed("oom_while_handling_oom", "OOM", """\
WARNING batch 64 does not fit, trying 32
WARNING batch 32 does not fit, trying 16
Traceback (most recent call last):
  File "/x/probe.py", line 18, in attempt
    step(model, size)
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 40.06 MiB is free.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/x/probe.py", line 44, in <module>
    attempt(model, 16)
  File "/x/probe.py", line 22, in attempt
    raise SystemError("even the smallest batch does not fit")
SystemError: even the smallest batch does not fit
"""),
    # ------------------------------------------------------------------ the program's own faults
    failed("matmul_shapes", "CODE_BUG", """\
params: 11.2M
Traceback (most recent call last):
  File "/home/li/mm/train.py", line 61, in <module>
    logits = head(features)
  File "/home/li/mm/.venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x768 and 512x10)
"""),
    failed("key_error_config", "CODE_BUG", """\
[14:20:11] loading config/base.yaml
[14:20:11] seed = 3
Traceback (most recent call last):
  File "run.py", line 40, in <module>
    main(cfg)
  File "run.py", line 17, in main
    scheduler = build(cfg["optim"]["warmup_ratio"])
KeyError: 'warmup_ratio'
"""),
    failed("state_dict_mismatch", "CODE_BUG", """\
=> loading weights from outputs/stage1/last.pt
Traceback (most recent call last):
  File "/home/s/track/eval.py", line 91, in load
    model.load_state_dict(ckpt["model"])
  File "/home/s/track/env/lib/python3.10/site-packages/torch/nn/modules/module.py", line 2584, in load_state_dict
    raise RuntimeError('Error(s) in loading state_dict for {}:\\n\\t{}'.format(
RuntimeError: Error(s) in loading state_dict for Tracker:
	Missing key(s) in state_dict: "decoder.norm.weight", "decoder.norm.bias".
	Unexpected key(s) in state_dict: "decoder.ln.weight", "decoder.ln.bias".
	size mismatch for head.weight: copying a param with shape torch.Size([91, 256]) from checkpoint, the shape in current model is torch.Size([80, 256]).
"""),
    failed("cannot_import_name", ("CODE_BUG", "ENVIRONMENT"), """\
+ python -m lmtrain.sft --config c.yaml
Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
  File "/repo/lmtrain/sft.py", line 9, in <module>
    from transformers.models.llama.modeling_llama import LlamaFlashAttention2
ImportError: cannot import name 'LlamaFlashAttention2' from 'transformers.models.llama.modeling_llama' (/repo/.venv/lib/python3.11/site-packages/transformers/models/llama/modeling_llama.py)
"""),
    failed("own_module_not_found", ("CODE_BUG", "ENVIRONMENT"), """\
activating environment exp
starting evaluate
Traceback (most recent call last):
  File "/home/q/vqa/scripts/evaluate.py", line 4, in <module>
    from vqa_utils.metrics import soft_accuracy
ModuleNotFoundError: No module named 'vqa_utils'
"""),
    failed("bare_assert", "CODE_BUG", """\
fold 0: 812 train, 203 test
fold 1: 812 train, 203 test
Traceback (most recent call last):
  File "cv.py", line 77, in <module>
    check(folds)
  File "cv.py", line 29, in check
    assert not set(train_ids) & set(test_ids)
AssertionError
"""),
    failed("json_of_own_data", "CODE_BUG", """\
reading predictions from out/preds.jsonl
12000 lines read
Traceback (most recent call last):
  File "score.py", line 31, in <module>
    rows = [json.loads(l) for l in f]
  File "score.py", line 31, in <listcomp>
    rows = [json.loads(l) for l in f]
  File "/usr/lib/python3.10/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""),
    failed("json_of_model_answer", "CODE_BUG", """\
item 118/500 ok
item 119/500 ok
INFO:httpx:HTTP Request: POST https://api.openai.com/v1/chat/completions "HTTP/1.1 200 OK"
Traceback (most recent call last):
  File "/home/f/judge/judge.py", line 58, in parse
    verdict = json.loads(text)
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Unterminated string starting at: line 4 column 15 (char 97)
"""),
    failed("none_attribute", "CODE_BUG", """\
frame 1021
frame 1022
frame 1023
Traceback (most recent call last):
  File "/w/extract_frames.py", line 36, in <module>
    h, w = frame.shape[:2]
AttributeError: 'NoneType' object has no attribute 'shape'
"""),
    failed("unexpected_keyword", "CODE_BUG", """\
Using device: cuda
Building trainer
Traceback (most recent call last):
  File "/home/b/dpo.py", line 88, in <module>
    trainer = DPOTrainer(model, ref_model=ref, args=args, tokenizer=tok)
TypeError: DPOTrainer.__init__() got an unexpected keyword argument 'tokenizer'
"""),
    failed("embedding_index", "CODE_BUG", """\
vocab 32000, extra tokens 4
epoch 0
Traceback (most recent call last):
  File "lm.py", line 140, in <module>
    out = model(ids)
  File "/venv/lib/python3.9/site-packages/torch/nn/functional.py", line 2210, in embedding
    return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)
IndexError: index out of range in self
"""),
    failed("device_side_assert", "CODE_BUG", """\
../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [11,0,0] Assertion `t >= 0 && t < n_classes` failed.
../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [12,0,0] Assertion `t >= 0 && t < n_classes` failed.
Traceback (most recent call last):
  File "/home/h/cls/train.py", line 71, in <module>
    print(f"loss {loss.item():.3f}")
RuntimeError: CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""),
    failed("inplace_gradient", "CODE_BUG", """\
it 0 d_loss 0.693 g_loss 0.693
Traceback (most recent call last):
  File "gan.py", line 102, in <module>
    g_loss.backward()
  File "/env/lib/python3.10/site-packages/torch/autograd/graph.py", line 825, in _engine_run_backward
    return Variable._execution_engine.run_backward(
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.cuda.FloatTensor [512, 1]], which is output 0 of AsStridedBackward0, is at version 2; expected version 1 instead.
"""),
    failed("no_grad_fn", "CODE_BUG", """\
trainable params: 0 || all params: 6,738,415,616 || trainable%: 0.0
  0%|          | 0/300 [00:00<?, ?it/s]
Traceback (most recent call last):
  File "/p/lora.py", line 64, in <module>
    trainer.train()
  File "/p/env/lib/python3.11/site-packages/accelerate/accelerator.py", line 2473, in backward
    loss.backward(**kwargs)
RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
"""),
    failed("two_devices", "CODE_BUG", """\
moving model to cuda:1
epoch 0 begins
Traceback (most recent call last):
  File "net.py", line 55, in forward
    return self.norm(x) + self.pos[: x.size(1)]
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!
"""),
    failed("dtype_mismatch", "CODE_BUG", """\
loading adapter in float16
merging
Traceback (most recent call last):
  File "/a/b/chat.py", line 20, in <module>
    h = proj(image_features)
RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half
"""),
    failed("collate_in_worker", "CODE_BUG", """\
Epoch 0:   3%|▎         | 30/940 [00:12<06:10,  2.46it/s]
Traceback (most recent call last):
  File "/home/c/det/train.py", line 45, in <module>
    for batch in loader:
  File "/home/c/det/.venv/lib/python3.11/site-packages/torch/_utils.py", line 733, in reraise
    raise exception
RuntimeError: Caught RuntimeError in DataLoader worker process 2.
Original Traceback (most recent call last):
  File "/home/c/det/.venv/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
  File "/home/c/det/.venv/lib/python3.11/site-packages/torch/utils/data/_utils/collate.py", line 272, in collate_tensor_fn
    return torch.stack(batch, 0, out=out)
RuntimeError: stack expects each tensor to be equal size, but got [3, 480, 640] at entry 0 and [3, 427, 640] at entry 1
"""),
    failed("syntax_error", "CODE_BUG", """\
+ set -e
+ cd /home/v/exp
+ python train.py --seed 1
  File "/home/v/exp/train.py", line 88
    for step in range(steps)
                            ^
SyntaxError: expected ':'
"""),
    failed("unicode_decode", "CODE_BUG", """\
reading corpus/de.txt
reading corpus/fr.txt
Traceback (most recent call last):
  File "prep.py", line 12, in <module>
    text = open(path).read()
  File "<frozen codecs>", line 322, in decode
UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 4410: invalid continuation byte
"""),
    failed("zero_division", "CODE_BUG", """\
evaluated 0 items
parsed 0 answers
computing accuracy
Traceback (most recent call last):
  File "/e/summarise.py", line 9, in <module>
    print(correct / answered)
ZeroDivisionError: division by zero
"""),
    failed("recursion", "CODE_BUG", """\
flattening tree of 8812 nodes
Traceback (most recent call last):
  File "parse.py", line 70, in <module>
    flatten(root)
  File "parse.py", line 41, in flatten
    return [x for c in node.children for x in flatten(c)]
  File "parse.py", line 41, in flatten
    return [x for c in node.children for x in flatten(c)]
  [Previous line repeated 991 more times]
RecursionError: maximum recursion depth exceeded
"""),
    failed("argparse_unknown_flag", ("CODE_BUG", "ENVIRONMENT"), """\
starting R017 on cuda:0
usage: train.py [-h] [--lr LR] [--epochs EPOCHS] [--out OUT] [--seed SEED]
                [--model {small,base,large}]
                [--resume]
train.py: error: unrecognized arguments: --learning-rate 3e-4
""", 2),
    failed("hydra_struct", "CODE_BUG", """\
[2026-04-02 10:00:01,337][__main__][INFO] - job 0
Error executing job with overrides: ['model=vit_b', 'train.epoch=20']
Traceback (most recent call last):
  File "/h/main.py", line 33, in main
    fit(cfg.train.lr_max)
omegaconf.errors.ConfigAttributeError: Key 'lr_max' is not in struct
    full_key: train.lr_max
    object_type=dict

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
"""),
    failed("unbound_local", "CODE_BUG", """\
split=val size=0
nothing to score in this split
writing metrics
Traceback (most recent call last):
  File "ev.py", line 61, in evaluate
    return {"f1": f1}
UnboundLocalError: cannot access local variable 'f1' where it is not associated with a value
"""),
    failed("pickle_lambda", "CODE_BUG", """\
spawning 4 workers
Traceback (most recent call last):
  File "C5/tune.py", line 82, in <module>
    pool.map(job, grid)
  File "/usr/lib/python3.12/multiprocessing/pool.py", line 774, in get
    raise self._value
AttributeError: Can't get local object 'make_objective.<locals>.<lambda>'
"""),
    failed("no_padding_token", "CODE_BUG", """\
Map:   0%|          | 0/9500 [00:00<?, ? examples/s]
Traceback (most recent call last):
  File "/g/classify.py", line 25, in tok
    return tokenizer(b["text"], padding="max_length", truncation=True)
  File "/g/env/lib/python3.10/site-packages/transformers/tokenization_utils_base.py", line 2762, in _get_padding_truncation_strategies
    raise ValueError(
ValueError: Asking to pad but the tokenizer does not have a padding token. Please select a token to use as `pad_token` `(tokenizer.pad_token = tokenizer.eos_token e.g.)` or add a new pad token via `tokenizer.add_special_tokens({'pad_token': '[PAD]'})`.
"""),
    failed("no_chat_template", ("CODE_BUG", "ENVIRONMENT"), """\
model loaded in 41.2 s
prompting 198 items with chat format
Traceback (most recent call last):
  File "gpqa.py", line 47, in <module>
    ids = tok.apply_chat_template(msgs, return_tensors="pt")
  File "/env/lib/python3.11/site-packages/transformers/tokenization_utils_base.py", line 1785, in get_chat_template
    raise ValueError(
ValueError: Cannot use chat template functions because tokenizer.chat_template is not set and no template argument was passed!
"""),
    failed("tf_invalid_argument", "CODE_BUG", """\
Epoch 1/10
2026-02-11 13:05:40.510100: W tensorflow/core/framework/op_kernel.cc:1816] INVALID_ARGUMENT: Matrix size-incompatible: In[0]: [64,300], In[1]: [128,64]
Traceback (most recent call last):
  File "/tf/model.py", line 90, in <module>
    model.fit(x, y)
  File "/tf/env/lib/python3.9/site-packages/tensorflow/python/eager/execute.py", line 53, in quick_execute
    tensors = pywrap_tfe.TFE_Py_Execute(ctx._handle, device_name, op_name,
tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:
Matrix size-incompatible: In[0]: [64,300], In[1]: [128,64]
	 [[{{node dense/MatMul}}]]
"""),
    failed("jax_tracer_bool", "CODE_BUG", """\
devices: [CudaDevice(id=0)]
compiling train_step
Traceback (most recent call last):
  File "/home/w/rl/agent.py", line 120, in update
    if jnp.any(done):
jax.errors.TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[]..
The error occurred while tracing the function update at /home/w/rl/agent.py:101 for jit. This concrete value was not available in Python because it depends on the value of the argument done.
See https://jax.readthedocs.io/en/latest/errors.html#jax.errors.TracerBoolConversionError
"""),
    failed("pandas_key_chain", "CODE_BUG", """\
rows: 4410
Traceback (most recent call last):
  File "/env/lib/python3.11/site-packages/pandas/core/indexes/base.py", line 3812, in get_loc
    return self._engine.get_loc(casted_key)
  File "pandas/_libs/hashtable_class_helper.pxi", line 7096, in pandas._libs.hashtable.PyObjectHashTable.get_item
KeyError: 'label_id'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/proj/agg.py", line 14, in <module>
    y = df["label_id"]
  File "/env/lib/python3.11/site-packages/pandas/core/frame.py", line 4107, in __getitem__
    indexer = self.columns.get_loc(key)
KeyError: 'label_id'
"""),
    failed("pydantic_validation", "CODE_BUG", """\
loading task file tasks/arc.yaml
Traceback (most recent call last):
  File "/bench/cli.py", line 50, in <module>
    task = Task.model_validate(raw)
  File "/bench/env/lib/python3.12/site-packages/pydantic/main.py", line 703, in model_validate
    return cls.__pydantic_validator__.validate_python(
pydantic_core._pydantic_core.ValidationError: 2 validation errors for Task
num_fewshot
  Input should be a valid integer, unable to parse string as an integer [type=int_parsing, input_value='five', input_type=str]
    For further information visit https://errors.pydantic.dev/2.10/v/int_parsing
metric
  Field required [type=missing, input_value={'num_fewshot': 'five'}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.10/v/missing
"""),
    failed("cpp_out_of_range", ("CODE_BUG", "UNKNOWN"), """\
[decoder] beam 8, max len 256
[decoder] sentence 1040
[decoder] sentence 1041
terminate called after throwing an instance of 'std::out_of_range'
  what():  vector::_M_range_check: __n (which is 51200) >= this->size() (which is 51200)
""", None, 6),
    failed("python_segfault", ("DEAD",), """\
rendering scene 12 of 40
Fatal Python error: Segmentation fault

Current thread 0x00007f21b7fff640 (most recent call first):
  File "/sim/env/render.py", line 210 in draw
  File "/sim/env/core.py", line 77 in step
  File "/sim/collect.py", line 31 in main

Extension modules: numpy.core._multiarray_umath, yaml._yaml (total: 2)
""", None, 11),
    failed("illegal_access_no_hardware", ("CODE_BUG", "HARDWARE"), """\
iter 500 loss 0.1120
iter 600 loss 0.1098
Traceback (most recent call last):
  File "/k/train_ops.py", line 133, in <module>
    torch.cuda.synchronize()
RuntimeError: CUDA error: an illegal memory access was encountered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
"""),
    failed("ddp_unused_parameters", ("CODE_BUG", "DISTRIBUTED"), """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "/m/ddp.py", line 118, in <module>
[rank1]:     out = model(x)
[rank1]:   File "/m/env/lib/python3.10/site-packages/torch/nn/parallel/distributed.py", line 1541, in _pre_forward
[rank1]:     if torch.is_grad_enabled() and self.reducer._rebuild_buckets():
[rank1]: RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing loss.
[rank1]: Parameter indices which did not receive grad for rank 1: 14 15
"""),
    failed("lightning_misconfiguration", "CODE_BUG", """\
GPU available: True (cuda), used: True
TPU available: False, using: 0 TPU cores
Traceback (most recent call last):
  File "/l/fit.py", line 40, in <module>
    trainer.fit(module)
  File "/l/env/lib/python3.10/site-packages/lightning/pytorch/trainer/configuration_validator.py", line 70, in __verify_train_val_loop_configuration
    raise MisconfigurationException(
lightning.fabric.utilities.exceptions.MisconfigurationException: No `training_step()` method defined. Lightning `Trainer` expects as minimum `training_step()`, `train_dataloader()` and `configure_optimizers()` to be defined.
"""),
    failed("snakemake_rule_with_inner_traceback", "CODE_BUG", """\
rule fit:
    input: data/train.csv
    output: models/rf.joblib
    jobid: 3
Traceback (most recent call last):
  File "/s/fit_rf.py", line 19, in <module>
    X = frame.drop(columns=["target"])
  File "/s/.venv/lib/python3.12/site-packages/pandas/core/indexes/base.py", line 7070, in drop
    raise KeyError(f"{labels[mask].tolist()} not found in axis")
KeyError: "['target'] not found in axis"
Error in rule fit:
    message: None
    jobid: 3
    shell: python fit_rf.py (command exited with non-zero exit code)
Removing output files of failed job fit since they might be corrupted:
models/rf.joblib
Shutting down, this might take some time.
Exiting because a job execution failed. Look below for error messages
"""),
    failed("torchrun_inner_assertion", "CODE_BUG", """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/t/pretrain.py", line 77, in <module>
[rank0]:     main()
[rank0]:   File "/t/pretrain.py", line 52, in main
[rank0]:     assert args.global_batch % world_size == 0, "global batch must divide by the world size"
[rank0]: AssertionError: global batch must divide by the world size
[rank0]:[W313 11:00:20.401 ProcessGroupNCCL.cpp:1496] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.
E0313 11:00:22.000 880 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 891) of binary: /t/env/bin/python
Traceback (most recent call last):
  File "/t/env/bin/torchrun", line 10, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
pretrain.py FAILED
============================================================
"""),
    failed("ray_task_value_error", "CODE_BUG", """\
(train_fn pid=991, ip=10.0.0.7) starting trial lr=0.01
Traceback (most recent call last):
  File "tune_run.py", line 60, in <module>
    ray.get(refs)
  File "/r/env/lib/python3.11/site-packages/ray/_private/worker.py", line 2745, in get
    raise value.as_instanceof_cause()
ray.exceptions.RayTaskError(ValueError): ray::train_fn() (pid=991, ip=10.0.0.7)
  File "tune_run.py", line 22, in train_fn
    x, y = make_windows(series, size)
ValueError: too many values to unpack (expected 2)
"""),
    failed("datasets_cast", ("CODE_BUG", "ENVIRONMENT"), """\
Generating train split: 18220 examples [00:01, 11023.10 examples/s]
Traceback (most recent call last):
  File "/d/env/lib/python3.11/site-packages/datasets/builder.py", line 1871, in _prepare_split_single
    writer.write_table(table)
datasets.table.CastError: Couldn't cast
id: string
answer: int64
because column names don't match

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/d/load.py", line 6, in <module>
    ds = load_dataset("json", data_files="train/*.json")
datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset
"""),
    failed("cudnn_not_supported", ("CODE_BUG", "ENVIRONMENT"), """\
conv benchmark on
epoch 0
Traceback (most recent call last):
  File "seg3d.py", line 80, in <module>
    y = net(x.permute(0, 4, 1, 2, 3))
RuntimeError: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if you passed in a non-contiguous input.
"""),
    failed("rich_box_traceback", "CODE_BUG", """\
[10:44:01] INFO     loading prompts                                  bench.py:31
╭─────────────────────────────── Traceback (most recent call last) ────────────────────────────────╮
│ /home/n/bench/bench.py:77 in run                                                                 │
│                                                                                                  │
│    75 │   for row in rows:                                                                       │
│    76 │   │   choices = row["choices"]                                                           │
│ ❱  77 │   │   gold = choices[row["answer_index"]]                                                │
│    78 │   │   yield row["id"], gold                                                              │
╰──────────────────────────────────────────────────────────────────────────────────────────────────╯
IndexError: list index out of range
"""),
    failed("exception_group", "CODE_BUG", """\
running 8 judges at once
  + Exception Group Traceback (most recent call last):
  |   File "/j/run.py", line 44, in <module>
  |     asyncio.run(main())
  |   File "/usr/lib/python3.12/asyncio/taskgroups.py", line 145, in __aexit__
  |     raise me from None
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/j/run.py", line 21, in judge
    |     score = int(match.group(1))
    | AttributeError: 'NoneType' object has no attribute 'group'
    +------------------------------------
"""),
    failed("srun_label_prefix", "CODE_BUG", """\
0: step 10 loss 6.91
0: step 20 loss 6.52
3: Traceback (most recent call last):
3:   File "/lus/gpt/train.py", line 300, in <module>
3:     sample = next(stream)
3:   File "/lus/gpt/data.py", line 81, in __next__
3:     return self.buffer[self.pos]
3: IndexError: list index out of range
srun: error: nid002341: task 3: Exited with exit code 1
srun: Terminating StepId=990121.0
0: slurmstepd: error: *** STEP 990121.0 ON nid002338 CANCELLED AT 2026-02-20T10:11:02 ***
srun: error: nid002338: task 0: Terminated
"""),
    failed("wandb_footer_after_type_error", "CODE_BUG", """\
Traceback (most recent call last):
  File "/z/ppo.py", line 210, in <module>
    advantages = returns - values.detach().numpy
TypeError: unsupported operand type(s) for -: 'Tensor' and 'builtin_function_or_method'
wandb:
wandb: You can sync this run to the cloud by running:
wandb: wandb sync /z/wandb/offline-run-20260121_110312-x8k2qa0d
wandb: Find logs at: wandb/offline-run-20260121_110312-x8k2qa0d/logs
"""),
    failed("recovered_oom_then_key_error", "CODE_BUG", """\
WARNING train: CUDA out of memory at batch 32; halving the batch and going on
INFO train: step 10 loss 2.9
INFO train: step 500 loss 1.1
INFO train: step 1000 loss 0.9
INFO train: training finished, evaluating
Traceback (most recent call last):
  File "/home/u/t.py", line 204, in <module>
    report["bleu"] = metrics["sacrebleu"]["score"]
KeyError: 'sacrebleu'
"""),
    failed("answer_text_mentions_oom", "CODE_BUG", """\
[q 41] answer: "The message CUDA out of memory means that the GPU has no room left; lower the batch size."
[q 42] answer: "HTTP 429 stands for Too Many Requests, see RFC 6585."
[q 43] answer: ""
Traceback (most recent call last):
  File "/home/u/helpdesk_eval.py", line 93, in grade
    assert text, "an empty answer cannot be graded"
AssertionError: an empty answer cannot be graded
"""),
    failed("not_implemented", "CODE_BUG", """\
backend: mps
model: whisper-small
Traceback (most recent call last):
  File "/Users/o/asr/run.py", line 18, in <module>
    feats = model.encode(audio, mode="stream")
  File "/Users/o/asr/model.py", line 66, in encode
    raise NotImplementedError("streaming is not there yet")
NotImplementedError: streaming is not there yet
"""),
    failed("loguru_value_error", "CODE_BUG", """\
2026-05-06 07:20:00.100 | INFO     | rag.index:build:31 - 1200 chunks
2026-05-06 07:20:09.901 | ERROR    | __main__:<module>:88 - An error has been caught in function '<module>', process 'MainProcess' (5120), thread 'MainThread' (1400):
Traceback (most recent call last):

> File "/rag/main.py", line 88, in <module>
    run()
    └ <function run at 0x7f2ac0>

  File "/rag/main.py", line 52, in run
    index.add(vectors)
    │         └ array([], shape=(0,), dtype=float64)
    └ <rag.index.Flat object at 0x7f2a11>

ValueError: not enough values to unpack (expected 2, got 1)
"""),
    failed("asyncio_never_awaited_type_error", "CODE_BUG", """\
submitting 300 prompts
/q/client.py:40: RuntimeWarning: coroutine 'ask' was never awaited
  results.append(ask(p))
Traceback (most recent call last):
  File "/q/client.py", line 51, in <module>
    print(results[0]["text"])
TypeError: 'coroutine' object is not subscriptable
"""),
    failed("sklearn_nan_input", ("CODE_BUG", "DIVERGED"), """\
features: 30 columns
fitting LogisticRegression
Traceback (most recent call last):
  File "/p/probe.py", line 27, in <module>
    clf.fit(X, y)
  File "/p/.venv/lib/python3.11/site-packages/sklearn/utils/validation.py", line 169, in _assert_all_finite_element_wise
    raise ValueError(msg_err)
ValueError: Input X contains NaN.
LogisticRegression does not accept missing values encoded as NaN natively.
"""),
    failed("triton_out_of_resources", ("CODE_BUG", "ENVIRONMENT", "OOM"), """\
autotuning attention kernel
Traceback (most recent call last):
  File "/kern/bench.py", line 70, in <module>
    o = attn(q, k, v)
  File "/kern/env/lib/python3.11/site-packages/triton/compiler/compiler.py", line 461, in raise_
    raise err
triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.
"""),
    failed("node_type_error", ("CODE_BUG", "UNKNOWN"), """\
> agent-bench@1.2.0 start
> node dist/run.js
loaded 40 tasks
/srv/agent/dist/run.js:118
        const score = result.metrics.exact;
                                     ^

TypeError: Cannot read properties of undefined (reading 'exact')
    at grade (/srv/agent/dist/run.js:118:38)
    at async main (/srv/agent/dist/run.js:160:20)

Node.js v20.11.1
"""),
    failed("rust_panic", ("CODE_BUG", "UNKNOWN"), """\
shuffling 900 shards
shard 17 written
shard 18 written
thread 'main' panicked at src/pack.rs:88:31:
called `Option::unwrap()` on a `None` value
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
""", 101),
    failed("julia_bounds", ("CODE_BUG", "UNKNOWN"), """\
Precompiling project...
epoch 1 loss 0.9921
epoch 2 loss 0.9110
ERROR: LoadError: BoundsError: attempt to access 128-element Vector{Float32} at index [129]
Stacktrace:
 [1] getindex(A::Vector{Float32}, i1::Int64)
   @ Base ./essentials.jl:13
in expression starting at /home/g/flux/train.jl:51
"""),
    # ------------------------------------------------------------------ quota and rate of an API
    failed("openai_tpm", "API_QUOTA", """\
INFO:httpx:HTTP Request: POST https://api.openai.com/v1/chat/completions "HTTP/1.1 429 Too Many Requests"
INFO:openai._base_client:Retrying request to /chat/completions in 7.8 seconds
INFO:httpx:HTTP Request: POST https://api.openai.com/v1/chat/completions "HTTP/1.1 429 Too Many Requests"
Traceback (most recent call last):
  File "/eval/run.py", line 33, in ask
    r = client.chat.completions.create(model=m, messages=msgs)
  File "/eval/env/lib/python3.11/site-packages/openai/_base_client.py", line 1023, in _request
    raise self._make_status_error_from_response(err.response) from None
openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o in organization org-Zz on tokens per min (TPM): Limit 30000, Used 29411, Requested 1290. Please try again in 1.4s.', 'type': 'tokens', 'param': None, 'code': 'rate_limit_exceeded'}}
"""),
    failed("openai_insufficient_quota", "API_QUOTA", """\
graded 301/1000
graded 302/1000
Traceback (most recent call last):
  File "grade.py", line 71, in <module>
    main()
openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check your plan and billing details.', 'type': 'insufficient_quota', 'param': None, 'code': 'insufficient_quota'}}
"""),
    failed("anthropic_429", "API_QUOTA", """\
2026-06-01 12:00:01 INFO worker-3 item 88
2026-06-01 12:00:02 INFO Retrying request to /v1/messages in 0.9 seconds
2026-06-01 12:00:04 INFO Retrying request to /v1/messages in 1.7 seconds
Traceback (most recent call last):
  File "/a/agent.py", line 140, in turn
    msg = client.messages.create(**kw)
anthropic.RateLimitError: Error code: 429 - {'type': 'error', 'error': {'type': 'rate_limit_error', 'message': 'This request would exceed the rate limit for your organization of 80,000 input tokens per minute.'}}
"""),
    failed("httpx_429", "API_QUOTA", """\
batch 9 sent
batch 10 sent
Traceback (most recent call last):
  File "/c/embed.py", line 20, in post
    r.raise_for_status()
  File "/c/env/lib/python3.12/site-packages/httpx/_models.py", line 829, in raise_for_status
    raise HTTPStatusError(message, request=request, response=self)
httpx.HTTPStatusError: Client error '429 Too Many Requests' for url 'https://api.mistral.ai/v1/embeddings'
For more information check: https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/429
"""),
    failed("google_resource_exhausted", "API_QUOTA", """\
prompt 57 -> 812 tokens
prompt 58 -> 790 tokens
Traceback (most recent call last):
  File "gemini_eval.py", line 41, in <module>
    resp = model.generate_content(p)
  File "/g/env/lib/python3.11/site-packages/google/api_core/grpc_helpers.py", line 78, in error_remapped_callable
    raise exceptions.from_grpc_error(exc) from exc
google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded for quota metric 'Generate Content API requests per minute' and limit 'GenerateContent request limit per minute for a region' of service 'generativelanguage.googleapis.com'.
"""),
    failed("hub_429", ("API_QUOTA", "NETWORK"), """\
Fetching 163 files:  22%|██▏       | 36/163 [00:20<01:10,  1.80it/s]
Traceback (most recent call last):
  File "/f/get.py", line 5, in <module>
    snapshot_download("acme/huge-model")
  File "/f/env/lib/python3.11/site-packages/huggingface_hub/utils/_http.py", line 482, in hf_raise_for_status
    raise _format(HfHubHTTPError, str(e), response) from e
huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/acme/huge-model/revision/main (Request ID: Root=1-67)
We had to rate limit your IP (203.0.113.9). To continue using our service, create a HF account or login to your existing account.
"""),
    failed("litellm_rate", "API_QUOTA", """\
Give Feedback / Get Help: https://github.com/BerriAI/litellm/issues/new
LiteLLM.Info: If you need to debug this error, use `litellm._turn_on_debug()'.
Traceback (most recent call last):
  File "/swe/agent.py", line 66, in query
    return litellm.completion(model=self.model, messages=self.messages)
litellm.exceptions.RateLimitError: litellm.RateLimitError: AnthropicException - {"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your per-minute rate limit"}}
"""),
    failed("azure_call_rate", "API_QUOTA", """\
deployment: gpt4o-eval, api-version 2024-08-01-preview
answered 12
answered 13
Traceback (most recent call last):
  File "az.py", line 50, in <module>
    out = call(q)
openai.RateLimitError: Error code: 429 - {'error': {'code': '429', 'message': 'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-08-01-preview have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 26 seconds.'}}
"""),
    failed("anthropic_credit", ("API_QUOTA", "ENVIRONMENT"), """\
judge claude, 400 pairs
pair 1
Traceback (most recent call last):
  File "judge.py", line 30, in <module>
    r = c.messages.create(model=M, max_tokens=400, messages=m)
anthropic.BadRequestError: Error code: 400 - {'type': 'error', 'error': {'type': 'invalid_request_error', 'message': 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.'}}
"""),
    failed("bedrock_throttling", "API_QUOTA", """\
region us-east-1
invoke 211
invoke 212
Traceback (most recent call last):
  File "/b/run.py", line 19, in invoke
    return rt.converse(modelId=mid, messages=msgs)
  File "/b/env/lib/python3.11/site-packages/botocore/client.py", line 1023, in _make_api_call
    raise error_class(parsed_response, operation_name)
botocore.errorfactory.ThrottlingException: An error occurred (ThrottlingException) when calling the Converse operation (reached max retries: 4): Too many tokens, please wait before trying again.
"""),
    failed("openrouter_402", ("API_QUOTA", "ENVIRONMENT"), """\
routing through openrouter
[77/198] ok
[78/198] ok
Traceback (most recent call last):
  File "/o/gpqa.py", line 25, in one
    r = client.chat.completions.create(model=name, messages=ms)
openai.APIStatusError: Error code: 402 - {'error': {'message': 'This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 2891.', 'code': 402}}
"""),
    failed("anthropic_overloaded", ("API_QUOTA", "PROXY_DOWN"), """\
turn 4
turn 5
Retrying request to /v1/messages in 2.1 seconds
Retrying request to /v1/messages in 4.0 seconds
Traceback (most recent call last):
  File "loop.py", line 80, in <module>
    step()
anthropic.InternalServerError: Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}
"""),
    failed("tenacity_wrapping_rate", "API_QUOTA", """\
  File "/env/lib/python3.10/site-packages/tenacity/__init__.py", line 475, in __call__
    do = self.iter(retry_state=retry_state)
openai.RateLimitError: Error code: 429 - {'error': {'message': 'Too many requests', 'type': 'requests'}}

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/mmlu/run.py", line 90, in <module>
    preds = asyncio.run(all_items())
tenacity.RetryError: RetryError[<Future at 0x7f55aa10 state=finished raised RateLimitError>]
"""),
    failed("daily_request_limit_own_words", "API_QUOTA", """\
ERROR client: request 1501 refused: HTTP 429 {"detail": "daily request limit of 1500 reached, resets at 00:00 UTC"}
ERROR client: request 1502 refused: HTTP 429 {"detail": "daily request limit of 1500 reached, resets at 00:00 UTC"}
ERROR client: request 1503 refused: HTTP 429 {"detail": "daily request limit of 1500 reached, resets at 00:00 UTC"}
ERROR client: giving up after 3 refusals
ERROR main: 1500 of 2000 items answered, stopping
""", 3),
    # ------------------------------------------------------------------ endpoint or proxy down
    failed("openai_connection_refused", "PROXY_DOWN", """\
base_url http://localhost:8000/v1
Traceback (most recent call last):
  File "/e/env/lib/python3.11/site-packages/httpx/_transports/default.py", line 101, in map_httpcore_exceptions
    yield
httpcore.ConnectError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/e/env/lib/python3.11/site-packages/openai/_base_client.py", line 972, in request
    response = self._client.send(
httpx.ConnectError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/e/run.py", line 48, in <module>
    answer(item)
openai.APIConnectionError: Connection error.
"""),
    failed("nginx_502", "PROXY_DOWN", """\
HTTP Request: POST http://llm-gw.internal/v1/chat/completions "HTTP/1.1 502 Bad Gateway"
HTTP Request: POST http://llm-gw.internal/v1/chat/completions "HTTP/1.1 502 Bad Gateway"
HTTP Request: POST http://llm-gw.internal/v1/chat/completions "HTTP/1.1 502 Bad Gateway"
Traceback (most recent call last):
  File "client.py", line 70, in <module>
    go()
openai.InternalServerError: <html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>nginx/1.25.3</center>
</body>
</html>
"""),
    failed("openai_503", "PROXY_DOWN", """\
item 4
item 5
item 6
Traceback (most recent call last):
  File "/k/bench.py", line 101, in <module>
    run_all()
openai.InternalServerError: Error code: 503 - {'error': {'message': 'no healthy upstream for model qwen2.5-72b', 'type': 'service_unavailable', 'code': 503}}
"""),
    failed("requests_proxy_error", "PROXY_DOWN", """\
HTTPS_PROXY=http://10.2.0.1:3128
asking model
Traceback (most recent call last):
  File "/h/ask.py", line 14, in <module>
    r = requests.post(URL, json=body, timeout=60)
  File "/h/env/lib/python3.10/site-packages/requests/adapters.py", line 694, in send
    raise ProxyError(e, request=request)
requests.exceptions.ProxyError: HTTPSConnectionPool(host='api.openai.com', port=443): Max retries exceeded with url: /v1/chat/completions (Caused by ProxyError('Unable to connect to proxy', NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f01>: Failed to establish a new connection: [Errno 111] Connection refused')))
"""),
    failed("massive_403", "PROXY_DOWN", """\
item 0201: HTTP 403 Forbidden
item 0202: HTTP 403 Forbidden
item 0203: HTTP 403 Forbidden
item 0204: HTTP 403 Forbidden
item 0205: HTTP 403 Forbidden
item 0206: HTTP 403 Forbidden
item 0207: HTTP 403 Forbidden
item 0208: HTTP 403 Forbidden
item 0209: HTTP 403 Forbidden
item 0210: HTTP 403 Forbidden
giving up: 210 of 210 requests to the API proxy were refused
"""),
    failed("aiohttp_cannot_connect", "PROXY_DOWN", """\
concurrency 64
Traceback (most recent call last):
  File "/n/load.py", line 37, in fire
    async with s.post(f"{base}/generate", json=p) as r:
  File "/n/env/lib/python3.12/site-packages/aiohttp/connector.py", line 1115, in _wrap_create_connection
    raise client_error(req.connection_key, exc) from exc
aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host 127.0.0.1:30000 ssl:default [Connect call failed ('127.0.0.1', 30000)]
"""),
    failed("gateway_504_many", "PROXY_DOWN", """\
WARNING ask: attempt 1/5: 504 Gateway Timeout from https://llm.example.org/v1/messages
WARNING ask: attempt 2/5: 504 Gateway Timeout from https://llm.example.org/v1/messages
WARNING ask: attempt 3/5: 504 Gateway Timeout from https://llm.example.org/v1/messages
WARNING ask: attempt 4/5: 504 Gateway Timeout from https://llm.example.org/v1/messages
WARNING ask: attempt 5/5: 504 Gateway Timeout from https://llm.example.org/v1/messages
ERROR ask: out of attempts, the endpoint does not answer
"""),
    failed("server_disconnected", ("PROXY_DOWN", "NETWORK"), """\
streaming from http://vllm-3:8000/v1/completions
chunk 1
chunk 2
Traceback (most recent call last):
  File "/y/stream.py", line 22, in <module>
    for piece in s.iter_lines():
httpx.RemoteProtocolError: peer closed connection without sending complete message body (incomplete chunked read)
"""),
    failed("openai_timeout", ("PROXY_DOWN", "NETWORK"), """\
Retrying request to /chat/completions in 0.4 seconds
Retrying request to /chat/completions in 0.9 seconds
Traceback (most recent call last):
  File "/e/env/lib/python3.11/site-packages/openai/_base_client.py", line 990, in request
    raise APITimeoutError(request=request) from err
openai.APITimeoutError: Request timed out.
"""),
    failed("http_408_repeated", ("PROXY_DOWN", "NETWORK"), """\
POST https://models.example.net/v1/responses -> 408 Request Timeout (try 1)
POST https://models.example.net/v1/responses -> 408 Request Timeout (try 2)
POST https://models.example.net/v1/responses -> 408 Request Timeout (try 3)
Traceback (most recent call last):
  File "cli.py", line 61, in <module>
    main()
openai.APIStatusError: Error code: 408 - {'error': {'message': 'upstream request timeout', 'code': 408}}
"""),
    failed("proxy_407", ("PROXY_DOWN", "ENVIRONMENT"), """\
using proxy http://proxy.corp:8080
Traceback (most recent call last):
  File "/v/ask.py", line 30, in <module>
    r = client.post("/v1/chat/completions", json=body)
  File "/v/env/lib/python3.11/site-packages/httpx/_transports/default.py", line 118, in map_httpcore_exceptions
    raise mapped_exc(message) from exc
httpx.ProxyError: 407 Proxy Authentication Required
"""),
    failed("vllm_engine_dead", ("DISTRIBUTED", "PROXY_DOWN", "UNKNOWN", "CODE_BUG"), """\
INFO:     127.0.0.1:50122 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error
ERROR 07-19 03:11:07 [async_llm.py:480] AsyncLLM output_handler failed.
ERROR 07-19 03:11:07 [async_llm.py:480] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.
INFO:     127.0.0.1:50124 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error
INFO:     Shutting down
INFO:     Finished server process [3381]
"""),
    failed("five_hundred_storm", "PROXY_DOWN", """\
2026-04-30 01:00:10 ERROR q=311 status=500 body="Internal Server Error"
2026-04-30 01:00:11 ERROR q=312 status=500 body="Internal Server Error"
2026-04-30 01:00:11 ERROR q=313 status=500 body="Internal Server Error"
2026-04-30 01:00:12 ERROR q=314 status=500 body="Internal Server Error"
2026-04-30 01:00:12 ERROR q=315 status=500 body="Internal Server Error"
2026-04-30 01:00:13 CRITICAL the last 50 requests to https://gw.lab/v1 all failed; aborting the evaluation
"""),
    failed("urllib3_refused_local_server", "PROXY_DOWN", """\
waiting for http://127.0.0.1:11434
asking llama3.1:8b
Traceback (most recent call last):
  File "oll.py", line 12, in <module>
    r = requests.post("http://127.0.0.1:11434/api/generate", json=b)
  File "/o/env/lib/python3.11/site-packages/requests/adapters.py", line 700, in send
    raise ConnectionError(e, request=request)
requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=11434): Max retries exceeded with url: /api/generate (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7fa2>: Failed to establish a new connection: [Errno 111] Connection refused'))
"""),
    # ------------------------------------------------------------------ divergence
    failed("loss_nan_stopping", "DIVERGED", """\
epoch 3 it 120 loss 0.8841
epoch 3 it 130 loss 4.1192
epoch 3 it 140 loss 913.2201
epoch 3 it 150 loss nan
Loss is nan, stopping training
"""),
    failed("assert_finite_loss", "DIVERGED", """\
step 900 loss 2.1
step 910 loss 7.7
step 920 loss nan
Traceback (most recent call last):
  File "/q/train.py", line 77, in step
    assert torch.isfinite(loss).all(), f"loss is {loss.item()} at step {n}"
AssertionError: loss is nan at step 920
"""),
    failed("lightning_not_finite", "DIVERGED", """\
Epoch 7: 100%|██████████| 313/313 [00:40<00:00,  7.76it/s, v_num=4, train_loss=nan.0]
Monitored metric val_loss = nan is not finite. Previous best value was 0.412. Signaling Trainer to stop.
Traceback (most recent call last):
  File "/l/fit.py", line 58, in <module>
    raise SystemExit("training ended early without a usable model")
SystemExit: training ended early without a usable model
"""),
    failed("deepspeed_minimum_scale", "DIVERGED", """\
[2026-01-30 03:40:10,118] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4, reducing to 2
[2026-01-30 03:40:12,440] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 2, reducing to 1
Traceback (most recent call last):
  File "/ds/train.py", line 260, in <module>
    engine.step()
  File "/ds/env/lib/python3.10/site-packages/deepspeed/runtime/fp16/loss_scaler.py", line 175, in update_scale
    raise Exception(
Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.
"""),
    failed("anomaly_mode", "DIVERGED", """\
it 40 loss 0.52
/x/env/lib/python3.10/site-packages/torch/autograd/graph.py:825: UserWarning: Error detected in SqrtBackward0. Traceback of forward call that caused the error:
  File "/x/loss.py", line 12, in dist
    return (a - b).pow(2).sum(-1).sqrt()
Traceback (most recent call last):
  File "/x/train.py", line 70, in <module>
    loss.backward()
RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
"""),
    failed("grad_norm_non_finite", "DIVERGED", """\
upd 8000 loss 3.31 gnorm 1.9
upd 8010 loss 3.66 gnorm 44.0
Traceback (most recent call last):
  File "/w/opt.py", line 50, in update
    torch.nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
RuntimeError: The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`
"""),
    failed("fairseq_minimum_scale", "DIVERGED", """\
2026-02-02 02:10:11 | INFO | train_inner | epoch 004: 1180 / 2210 loss=9.9, ppl=955, ups=2.1
2026-02-02 02:10:15 | INFO | fairseq.trainer | NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 0.0002
2026-02-02 02:10:16 | INFO | fairseq.trainer | NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 0.0001
Traceback (most recent call last):
  File "/fs/fairseq/optim/dynamic_loss_scaler.py", line 57, in check_overflow
    raise FloatingPointError(
FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding. Try lowering the learning rate, using gradient clipping or increasing the batch size.
"""),
    failed("own_blow_up_check", "DIVERGED", """\
{"step": 400, "loss": 3.20}
{"step": 410, "loss": 88.1}
{"step": 420, "loss": 120481.7}
{"step": 430, "loss": 9.1e+12}
{"level": "fatal", "msg": "the loss exploded (9.1e+12), stopping", "step": 430}
""", 4),
    failed("sampling_invalid_probabilities", ("DIVERGED", "CODE_BUG"), """\
generating rollouts 12/64
Traceback (most recent call last):
  File "/r/ppo.py", line 88, in <module>
    seq = policy.generate(q, do_sample=True)
  File "/r/env/lib/python3.11/site-packages/transformers/generation/utils.py", line 3264, in _sample
    next_tokens = torch.multinomial(probs, num_samples=1).squeeze(1)
RuntimeError: probability tensor contains either `inf`, `nan` or element < 0
"""),
    failed("jax_debug_nans", "DIVERGED", """\
step 61 elbo -120.4
step 62 elbo -118.9
Invalid nan value encountered in the output of a jax.jit function. Calling the de-optimized version.
Traceback (most recent call last):
  File "/vae/run.py", line 44, in <module>
    params, opt = update(params, opt, batch)
FloatingPointError: invalid value (nan) encountered in jit(log)
"""),
    failed("distribution_parameter_nan", "DIVERGED", """\
update 310 return 812.1 kl 0.011
update 311 return 540.0 kl 5.902
Traceback (most recent call last):
  File "/rl/policy.py", line 39, in dist
    return Normal(mu, std)
  File "/rl/env/lib/python3.10/site-packages/torch/distributions/distribution.py", line 71, in __init__
    raise ValueError(
ValueError: Expected parameter loc (Tensor of shape (64, 6)) of distribution Normal(loc: torch.Size([64, 6]), scale: torch.Size([64, 6])) to satisfy the constraint Real(), but found invalid values:
tensor([[nan, nan, nan, nan, nan, nan]], device='cuda:0')
"""),
    failed("detectron_infinite", "DIVERGED", """\
[03/11 02:01:44 d2.utils.events]: iter: 379  total_loss: 7.7  loss_cls: 3.3  lr: 0.02
ERROR [03/11 02:01:50 d2.engine.train_loop]: Exception during training:
Traceback (most recent call last):
  File "/d2/engine/train_loop.py", line 438, in _write_metrics
    raise FloatingPointError(
FloatingPointError: Loss became infinite or NaN at iteration=381!
loss_dict = {'loss_cls': nan, 'loss_box_reg': inf}
[03/11 02:01:50 d2.engine.hooks]: Overall training speed: 379 iterations in 0:02:31
"""),
    # ------------------------------------------------------------------ the machine and its set-up
    failed("disk_full", "ENVIRONMENT", """\
Saving model checkpoint to out/checkpoint-4000
Traceback (most recent call last):
  File "/t/train.py", line 70, in <module>
    trainer.train()
  File "/t/env/lib/python3.11/site-packages/transformers/trainer.py", line 3421, in save_model
    self._save(output_dir)
safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })
"""),
    failed("disk_quota", "ENVIRONMENT", """\
writing features 88/120
writing features 89/120
Traceback (most recent call last):
  File "feat.py", line 44, in <module>
    np.save(dst, arr)
OSError: [Errno 122] Disk quota exceeded: '/home/u/scratch/feats/89.npy'
"""),
    failed("torch_writer_failed", "ENVIRONMENT", """\
epoch 9 done, saving
Traceback (most recent call last):
  File "/m/loop.py", line 91, in save
    torch.save(state, path)
  File "/m/env/lib/python3.10/site-packages/torch/serialization.py", line 944, in save
    _save(obj, opened_zipfile, pickle_module, pickle_protocol)
RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 4188416 vs 4188310
terminate called after throwing an instance of 'c10::Error'
  what():  PytorchStreamWriter failed writing file data/61: file write failed
"""),
    failed("permission_denied", "ENVIRONMENT", """\
mkdir results
opening /data/shared/results/log.csv
Traceback (most recent call last):
  File "r.py", line 11, in <module>
    out = open(path, "w")
PermissionError: [Errno 13] Permission denied: '/data/shared/results/log.csv'
"""),
    failed("dataset_missing", "ENVIRONMENT", """\
config: coco2017
root: /mnt/datasets/coco
Traceback (most recent call last):
  File "/d/coco.py", line 55, in __init__
    self.coco = COCO(ann)
  File "/d/env/lib/python3.10/site-packages/pycocotools/coco.py", line 81, in __init__
    with open(annotation_file, 'r') as f:
FileNotFoundError: [Errno 2] No such file or directory: '/mnt/datasets/coco/annotations/instances_train2017.json'
"""),
    failed("package_missing", "ENVIRONMENT", """\
loading teknium/hermes in 4 bit
Traceback (most recent call last):
  File "/s/sft.py", line 6, in <module>
    import bitsandbytes as bnb
ModuleNotFoundError: No module named 'bitsandbytes'
srun: error: node7: task 0: Exited with exit code 1
"""),
    failed("driver_too_old", "ENVIRONMENT", """\
torch 2.6.0+cu126
starting
Traceback (most recent call last):
  File "/s/go.py", line 8, in <module>
    x = torch.zeros(1, device="cuda")
  File "/s/env/lib/python3.12/site-packages/torch/cuda/__init__.py", line 319, in _lazy_init
    torch._C._cuda_init()
RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx
"""),
    failed("no_kernel_image", "ENVIRONMENT", """\
UserWarning: NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.
Traceback (most recent call last):
  File "/s/go.py", line 30, in <module>
    y = model(x)
RuntimeError: CUDA error: no kernel image is available for execution on the device
"""),
    failed("no_gpus_available", "ENVIRONMENT", """\
CUDA_VISIBLE_DEVICES=
loading model
Traceback (most recent call last):
  File "/s/env/lib/python3.12/site-packages/torch/cuda/__init__.py", line 319, in _lazy_init
    torch._C._cuda_init()
RuntimeError: No CUDA GPUs are available
"""),
    failed("openai_401", "ENVIRONMENT", """\
running simpleqa with gpt-4o
item 0
Traceback (most recent call last):
  File "/sq/run.py", line 29, in <module>
    ask(q)
openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: sk-pr***9f. You can find your API key at https://platform.openai.com/account/api-keys.', 'type': 'invalid_request_error', 'param': None, 'code': 'invalid_api_key'}}
"""),
    failed("anthropic_401", "ENVIRONMENT", """\
model claude-sonnet
item 0
retry off
Traceback (most recent call last):
  File "c.py", line 18, in <module>
    m = client.messages.create(**kw)
anthropic.AuthenticationError: Error code: 401 - {'type': 'error', 'error': {'type': 'authentication_error', 'message': 'invalid x-api-key'}}
"""),
    failed("gated_repo", "ENVIRONMENT", """\
loading meta-llama/Llama-3.1-8B-Instruct
Traceback (most recent call last):
  File "/e/env/lib/python3.11/site-packages/huggingface_hub/utils/_http.py", line 409, in hf_raise_for_status
    response.raise_for_status()
requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct/resolve/main/config.json

The above exception was the direct cause of the following exception:

huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-6a)
Cannot access gated repo for url https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct/resolve/main/config.json.
Access to model meta-llama/Llama-3.1-8B-Instruct is restricted. You must have access to it and be authenticated to access it. Please log in.
"""),
    failed("rendezvous_port_in_use", "ENVIRONMENT", """\
W0301 10:00:00.010 100 torch/distributed/run.py:792] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default
[E301 10:00:03.120 socket.cpp:1019] [c10d] The server socket has failed to listen on any local network address.
Traceback (most recent call last):
  File "/e/env/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use
"""),
    failed("server_port_in_use", "ENVIRONMENT", """\
INFO:     Started server process [5511]
INFO:     Waiting for application startup.
INFO:     Application startup complete.
ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use
INFO:     Waiting for application shutdown.
INFO:     Application shutdown complete.
"""),
    failed("too_many_open_files", "ENVIRONMENT", """\
Epoch 1 val 33%
Traceback (most recent call last):
  File "/h/val.py", line 60, in <module>
    for b in loader:
  File "/usr/lib/python3.10/multiprocessing/reduction.py", line 198, in DupFd
    return resource_sharer.DupFd(fd)
OSError: [Errno 24] Too many open files
"""),
    failed("context_length_400", "ENVIRONMENT", """\
item 30 prompt built
item 31 prompt built
Traceback (most recent call last):
  File "/lb/longbench.py", line 52, in <module>
    pred = ask(ctx)
openai.BadRequestError: Error code: 400 - {'error': {'message': "This model's maximum context length is 32768 tokens. However, you requested 41022 tokens (40510 in the messages, 512 in the completion). Please reduce the length of the messages or completion.", 'type': 'invalid_request_error', 'param': 'messages', 'code': 'context_length_exceeded'}}
"""),
    failed("prompt_too_long_anthropic", "ENVIRONMENT", """\
agent turn 71
agent turn 72
reading file huge.log
Traceback (most recent call last):
  File "/ag/main.py", line 120, in <module>
    loop()
anthropic.BadRequestError: Error code: 400 - {'type': 'error', 'error': {'type': 'invalid_request_error', 'message': 'prompt is too long: 214803 tokens > 200000 maximum'}}
"""),
    failed("model_not_found_404", "ENVIRONMENT", """\
endpoint http://10.0.0.4:8000/v1
warming up
Traceback (most recent call last):
  File "b.py", line 33, in <module>
    probe()
openai.NotFoundError: Error code: 404 - {'object': 'error', 'message': 'The model `qwen3-32b` does not exist.', 'type': 'NotFoundError', 'param': None, 'code': 404}
"""),
    failed("glibcxx", "ENVIRONMENT", """\
module load cuda/12.4
python run.py
Traceback (most recent call last):
  File "/c/run.py", line 3, in <module>
    import sentencepiece
ImportError: /lib64/libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by /c/env/lib/python3.10/site-packages/sentencepiece/_sentencepiece.cpython-310-x86_64-linux-gnu.so)
"""),
    failed("shared_library_missing", "ENVIRONMENT", """\
+ source env/bin/activate
+ python infer.py
Traceback (most recent call last):
  File "/c/infer.py", line 1, in <module>
    import onnxruntime
ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory
"""),
    failed("command_not_found", "ENVIRONMENT", """\
#### job 4410 on c12 ####
working directory /home/z/exp
seed 2
run_eval.sh: line 9: python3.11: command not found
#### end ####
""", 127),
    failed("api_key_unset", "ENVIRONMENT", """\
judge: gpt-4o-mini
Traceback (most recent call last):
  File "/j/main.py", line 10, in <module>
    client = OpenAI()
  File "/j/env/lib/python3.11/site-packages/openai/_client.py", line 126, in __init__
    raise OpenAIError(
openai.OpenAIError: The api_key client option must be set either by passing api_key to the client or by setting the OPENAI_API_KEY environment variable
"""),
    failed("nvml_mismatch", "ENVIRONMENT", """\
+ nvidia-smi
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 550.127
+ echo no usable GPU
no usable GPU
+ exit 1
"""),
    failed("read_only_fs", "ENVIRONMENT", """\
epoch 4
epoch 5
saving
Traceback (most recent call last):
  File "u.py", line 88, in <module>
    os.makedirs(ckpt_dir)
OSError: [Errno 30] Read-only file system: '/mnt/ckpt/run7'
"""),
    failed("wandb_no_key", "ENVIRONMENT", """\
seed 0
initialising tracking
Traceback (most recent call last):
  File "/w/train.py", line 30, in <module>
    wandb.init(project="probe")
  File "/w/env/lib/python3.11/site-packages/wandb/sdk/wandb_init.py", line 1300, in init
    wandb._sentry.reraise(e)
wandb.errors.errors.UsageError: api_key not configured (no-tty). call wandb.login(key=[your_api_key])
"""),
    failed("conda_env_missing", "ENVIRONMENT", """\
Loading anaconda3/2024.02
+ conda activate mmdet3

EnvironmentNameNotFound: Could not find conda environment: mmdet3
You can list all discoverable environments with `conda info --envs`.

"""),
    failed("srun_invalid_gres", "ENVIRONMENT", """\
SLURM_JOB_ID=881
nodes: c[1-2]
modules loaded
srun: error: Unable to create step for job 881: Invalid generic resource (gres) specification
job script finished with errors
"""),
    failed("nltk_lookup", "ENVIRONMENT", """\
scoring 500 summaries
Traceback (most recent call last):
  File "rouge.py", line 15, in <module>
    sents = nltk.sent_tokenize(t)
LookupError:
**********************************************************************
  Resource punkt_tab not found.
  Please use the NLTK Downloader to obtain the resource:

  >>> import nltk
  >>> nltk.download('punkt_tab')
**********************************************************************
"""),
    failed("model_access_403", ("ENVIRONMENT", "PROXY_DOWN"), """\
eval with o3
first request
failed
Traceback (most recent call last):
  File "x.py", line 40, in <module>
    ask("ping")
openai.PermissionDeniedError: Error code: 403 - {'error': {'message': 'Project `proj_9a` does not have access to model `o3`', 'type': 'invalid_request_error', 'param': None, 'code': 'model_not_found'}}
"""),
    failed("corrupt_checkpoint", ("ENVIRONMENT", "CODE_BUG"), """\
resuming from /ck/step_2000.pt
Traceback (most recent call last):
  File "/m/train.py", line 60, in resume
    ck = torch.load(p, map_location="cpu")
  File "/m/env/lib/python3.11/site-packages/torch/serialization.py", line 1425, in load
    with _open_zipfile_reader(opened_file) as opened_zipfile:
RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory
"""),
    # Relabelled (CODE_BUG added): a refusal of one item that the program does not catch is its own fault too.
    failed("content_policy", ("ENVIRONMENT", "CODE_BUG"), """\
red-team set, 120 prompts
prompt 14
prompt 15
Traceback (most recent call last):
  File "rt.py", line 31, in <module>
    out = ask(p)
openai.BadRequestError: Error code: 400 - {'error': {'message': "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.", 'type': None, 'param': 'prompt', 'code': 'content_filter', 'status': 400}}
"""),
    failed("script_not_executable", "ENVIRONMENT", """\
launching R009
cwd /home/p/exp
seed=9
/bin/sh: 1: ./train.sh: Permission denied
launcher: the command ended with 126
""", 126),
    failed("numpy_abi", ("ENVIRONMENT", "CODE_BUG"), """\
importing
Traceback (most recent call last):
  File "/c/s.py", line 2, in <module>
    from pycocotools import mask
  File "pycocotools/_mask.pyx", line 1, in init pycocotools._mask
ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject
"""),
    failed("no_more_threads", "ENVIRONMENT", """\
OpenBLAS blas_thread_init: pthread_create failed for thread 61 of 64: Resource temporarily unavailable
OpenBLAS blas_thread_init: ensure that your address space and process count limits are big enough (ulimit -a)
OpenBLAS blas_thread_init: RLIMIT_NPROC 256 current, 256 max
Traceback (most recent call last):
  File "/e/p.py", line 9, in <module>
    ex.submit(f, i)
RuntimeError: can't start new thread
"""),
    failed("cuda_home_missing", "ENVIRONMENT", """\
[2026-02-14 09:00:00,001] [INFO] [real_accelerator.py:222:get_accelerator] Setting ds_accelerator to cuda (auto detect)
Traceback (most recent call last):
  File "/ds/t.py", line 12, in <module>
    opt = DeepSpeedCPUAdam(m.parameters())
  File "/ds/env/lib/python3.10/site-packages/deepspeed/ops/op_builder/builder.py", line 51, in installed_cuda_version
    raise MissingCUDAException("CUDA_HOME does not exist, unable to compile CUDA op(s)")
deepspeed.ops.op_builder.builder.MissingCUDAException: CUDA_HOME does not exist, unable to compile CUDA op(s)
"""),
    # Relabelled (HARDWARE added): the storage went away under the program, as in disk_io_error.
    failed("stale_handle", ("ENVIRONMENT", "HARDWARE"), """\
shard 10
shard 11
shard 12
Traceback (most recent call last):
  File "rd.py", line 20, in <module>
    with open(p, "rb") as f:
OSError: [Errno 116] Stale file handle: '/nfs/shards/12.tar'
"""),
    failed("tokenizers_version", "ENVIRONMENT", """\
python eval.py
Traceback (most recent call last):
  File "/t/eval.py", line 3, in <module>
    import transformers
  File "/t/env/lib/python3.11/site-packages/transformers/utils/versions.py", line 44, in _compare_versions
    raise ImportError(
ImportError: tokenizers>=0.21,<0.22 is required for a normal functioning of this module, but found tokenizers==0.19.1.
"""),
    failed("bf16_not_supported", ("ENVIRONMENT", "CODE_BUG"), """\
INFO 03-03 10:00:00 config.py:542] This model supports multiple tasks: {'generate', 'score'}. Defaulting to 'generate'.
Traceback (most recent call last):
  File "/v/s.py", line 9, in <module>
    llm = LLM("google/gemma-2-9b-it")
  File "/v/env/lib/python3.11/site-packages/vllm/worker/worker.py", line 500, in _check_if_gpu_supports_dtype
    raise ValueError(
ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5. You can use float16 instead by explicitly setting the `dtype` flag in CLI, for example: --dtype=half.
"""),
    failed("snakemake_missing_input", ("ENVIRONMENT", "CODE_BUG"), """\
Assuming unrestricted shared filesystem usage.
host: c4
Building DAG of jobs...
MissingInputException in rule train in file "/s/Snakefile", line 12:
Missing input files for rule train:
    output: models/a.pt
    affected files:
        data/clean.parquet
"""),
    failed("quota_then_disk_full", "ENVIRONMENT", """\
WARNING 429 from the API, waiting 20 s
INFO item 401 answered
WARNING 429 from the API, waiting 20 s
INFO item 402 answered
Traceback (most recent call last):
  File "/b/write.py", line 17, in append
    f.flush()
OSError: [Errno 28] No space left on device
"""),
    failed("rank0_data_missing_others_nccl", "ENVIRONMENT", """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/p/data.py", line 30, in open_index
[rank0]:     idx = np.load(path)
[rank0]: FileNotFoundError: [Errno 2] No such file or directory: '/p/data/train.idx.npy'
[rank1]: Traceback (most recent call last):
[rank1]:   File "/p/train.py", line 70, in <module>
[rank1]:     dist.barrier()
[rank1]: torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer
"""),
    # ------------------------------------------------------------------ network beside the API
    failed("hub_name_resolution", "NETWORK", """\
loading tokenizer bert-base-uncased
Traceback (most recent call last):
  File "/e/env/lib/python3.11/site-packages/urllib3/connection.py", line 205, in _new_conn
    raise NameResolutionError(self.host, self, e) from e
urllib3.exceptions.NameResolutionError: <urllib3.connection.HTTPSConnection object at 0x7f11>: Failed to resolve 'huggingface.co' ([Errno -2] Name or service not known)

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/e/r.py", line 8, in <module>
    tok = AutoTokenizer.from_pretrained("bert-base-uncased")
OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.
Check your internet connection or see how to run the library in offline mode at 'https://huggingface.co/docs/transformers/installation#offline-mode'.
"""),
    failed("gaierror_download", "NETWORK", """\
downloading http://images.cocodataset.org/zips/val2017.zip
Traceback (most recent call last):
  File "/usr/lib/python3.10/socket.py", line 955, in getaddrinfo
    for res in _socket.getaddrinfo(host, port, family, type, proto, flags):
socket.gaierror: [Errno -3] Temporary failure in name resolution

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "fetch.py", line 6, in <module>
    urlretrieve(url, dst)
urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>
"""),
    failed("tls_hub", "NETWORK", """\
pulling dataset card
Traceback (most recent call last):
  File "/e/d.py", line 4, in <module>
    ds = load_dataset("squad")
  File "/e/env/lib/python3.11/site-packages/requests/adapters.py", line 698, in send
    raise SSLError(e, request=request)
requests.exceptions.SSLError: (MaxRetryError("HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /api/datasets/squad (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in certificate chain (_ssl.c:1006)')))"), '(Request ID: 1c)')
"""),
    failed("urlopen_timed_out", "NETWORK", """\
Downloading: "https://download.pytorch.org/models/resnet50-0676ba61.pth" to /home/ml/.cache/torch/hub/checkpoints/resnet50-0676ba61.pth
Traceback (most recent call last):
  File "r50.py", line 5, in <module>
    m = torchvision.models.resnet50(weights="DEFAULT")
  File "/usr/lib/python3.10/urllib/request.py", line 1351, in do_open
    raise URLError(err)
urllib.error.URLError: <urlopen error [Errno 110] Connection timed out>
"""),
    failed("local_entry_not_found", "NETWORK", """\
loading judge prometheus
Traceback (most recent call last):
  File "/j/m.py", line 20, in <module>
    p = hf_hub_download(repo, "config.json")
  File "/j/env/lib/python3.11/site-packages/huggingface_hub/file_download.py", line 1598, in _raise_on_head_call_error
    raise LocalEntryNotFoundError(
huggingface_hub.errors.LocalEntryNotFoundError: An error happened while trying to locate the file on the Hub and we cannot find the requested files in the local cache. Please check your connection and try again or make sure your Internet connection is on.
"""),
    failed("incomplete_download", "NETWORK", """\
Downloading data:  61%|██████    | 2.71G/4.44G [08:01<05:07, 5.63MB/s]
Traceback (most recent call last):
  File "/e/env/lib/python3.11/site-packages/urllib3/response.py", line 748, in _error_catcher
    yield
urllib3.exceptions.IncompleteRead: IncompleteRead(2711224320 bytes read, 1730012210 more expected)

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/e/prep.py", line 9, in <module>
    load_dataset("acme/speech", split="train")
requests.exceptions.ChunkedEncodingError: ('Connection broken: IncompleteRead(2711224320 bytes read, 1730012210 more expected)', IncompleteRead(2711224320 bytes read, 1730012210 more expected))
"""),
    failed("cdn_read_timeout", "NETWORK", """\
model-00003-of-00030.safetensors:  40%|████      | 1.98G/4.98G [03:00<04:32, 11.0MB/s]
Traceback (most recent call last):
  File "/e/pull.py", line 4, in <module>
    snapshot_download("acme/llm-70b")
  File "/e/env/lib/python3.11/site-packages/requests/models.py", line 826, in generate
    raise ConnectionError(e)
requests.exceptions.ConnectionError: HTTPSConnectionPool(host='cdn-lfs-us-1.hf.co', port=443): Read timed out.
"""),
    failed("s3_endpoint", "NETWORK", """\
syncing s3://lab-data/tokens to /scratch/tokens
object 10
object 11
Traceback (most recent call last):
  File "sync.py", line 26, in <module>
    s3.download_file(b, k, p)
botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: "https://lab-data.s3.eu-west-1.amazonaws.com/tokens/00012.bin"
"""),
    failed("hub_504", "NETWORK", """\
checking revision
Traceback (most recent call last):
  File "/e/env/lib/python3.11/site-packages/huggingface_hub/utils/_http.py", line 409, in hf_raise_for_status
    response.raise_for_status()
requests.exceptions.HTTPError: 504 Server Error: Gateway Time-out for url: https://huggingface.co/api/datasets/acme/long/tree/main

The above exception was the direct cause of the following exception:

huggingface_hub.errors.HfHubHTTPError: 504 Server Error: Gateway Time-out for url: https://huggingface.co/api/datasets/acme/long/tree/main
"""),
    failed("git_clone", "NETWORK", """\
+ git clone https://github.com/acme/harness
Cloning into 'harness'...
fatal: unable to access 'https://github.com/acme/harness/': Could not resolve host: github.com
+ echo cannot go on
cannot go on
""", 128),
    failed("wandb_init_timeout", ("NETWORK", "ENVIRONMENT"), """\
wandb: Currently logged in as: someone. Use `wandb login --relogin` to force relogin
wandb: ERROR Run initialization has timed out after 90.0 sec.
Traceback (most recent call last):
  File "/w/t.py", line 21, in <module>
    run = wandb.init()
wandb.errors.errors.CommError: Run initialization has timed out after 90.0 sec. Please try increasing the timeout with the `init_timeout` setting: `wandb.init(settings=wandb.Settings(init_timeout=120))`.
"""),
    failed("pip_in_job", ("NETWORK", "ENVIRONMENT"), """\
+ pip install -r requirements.txt
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ConnectTimeoutError(<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>, 'Connection to pypi.org timed out. (connect timeout=15)')': /simple/einops/
ERROR: Could not find a version that satisfies the requirement einops (from versions: none)
ERROR: No matching distribution found for einops
+ exit 1
"""),
    # ------------------------------------------------------------------ distributed
    failed("nccl_watchdog", "DISTRIBUTED", """\
[rank7]:[E411 02:11:09.001 ProcessGroupNCCL.cpp:632] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=90112, OpType=_ALLGATHER_BASE, NumelIn=16777216, NumelOut=134217728, Timeout(ms)=600000) ran for 600060 milliseconds before timing out.
[rank7]:[E411 02:11:09.002 ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID 0 Rank 7] failure detected by watchdog at work sequence id: 90112
[rank7]:[E411 02:11:09.090 ProcessGroupNCCL.cpp:684] [Rank 7] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.
[rank7]:[E411 02:11:09.091 ProcessGroupNCCL.cpp:698] [Rank 7] To avoid data inconsistency, we are taking the entire process down.
terminate called after throwing an instance of 'c10::DistBackendError'
  what():  [PG ID 0 PG GUID 0(default_pg) Rank 7] Process group watchdog thread terminated with exception
""", None, 6),
    failed("nccl_remote_error", "DISTRIBUTED", """\
step 4110 loss 2.02
[rank3]: Traceback (most recent call last):
[rank3]:   File "/pt/train.py", line 201, in <module>
[rank3]:     dist.all_reduce(t)
[rank3]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, remote process exited or there was a network error, NCCL version 2.21.5
[rank3]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
[rank3]: Last error:
[rank3]: socketProgress: Connection closed by remote peer node-4<44012>
"""),
    failed("gloo_peer_closed", "DISTRIBUTED", """\
round 31 of 100
Traceback (most recent call last):
  File "/fl/avg.py", line 40, in <module>
    dist.all_reduce(buf, group=cpu_group)
  File "/fl/env/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py", line 2806, in all_reduce
    work.wait()
RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.1.4.22]:31877
"""),
    failed("store_waits_for_clients", "DISTRIBUTED", """\
MASTER_ADDR=c01 MASTER_PORT=29400 WORLD_SIZE=4
Traceback (most recent call last):
  File "/pt/train.py", line 14, in <module>
    dist.init_process_group("nccl")
  File "/pt/env/lib/python3.11/site-packages/torch/distributed/rendezvous.py", line 198, in _create_c10d_store
    return TCPStore(
torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined.
"""),
    failed("rendezvous_closed", "DISTRIBUTED", """\
I0201 08:00:00.000 71 torch/distributed/elastic/agent/server/api.py:860] [default] starting workers for entrypoint: python
W0201 08:31:11.500 71 torch/distributed/elastic/rendezvous/dynamic_rendezvous.py:1292] The node 'c03_71_0' has failed to send a keep-alive heartbeat to the rendezvous '8812' due to an error of type RendezvousConnectionError.
Traceback (most recent call last):
  File "/pt/env/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.
"""),
    failed("monitored_barrier", "DISTRIBUTED", """\
epoch 2 start
waiting at barrier
[E223 11:11:11.000 ProcessGroupGloo.cpp:144] Rank 5 failed to pass monitoredBarrier in 1800000 ms
Traceback (most recent call last):
  File "/pt/main.py", line 98, in <module>
    dist.monitored_barrier()
RuntimeError: Rank 5 failed to pass monitoredBarrier in 1800000 ms
"""),
    failed("mpirun_rank_lost", ("DISTRIBUTED", "UNKNOWN", "CODE_BUG"), """\
iteration 70
iteration 80
--------------------------------------------------------------------------
ORTE has lost communication with a remote daemon.

  HNP daemon   : [[40115,0],0] on node c1
  Remote daemon: [[40115,0],3] on node c4

This is usually due to either a failure of the TCP network
connection to the node, or possibly an internal failure of
the daemon itself. We cannot recover from this failure, and
therefore will terminate the job.
--------------------------------------------------------------------------
""", 205),
    failed("ray_actor_node_died", ("DISTRIBUTED", "HARDWARE"), """\
(RolloutWorker pid=771, ip=10.3.0.8) episode 510
(raylet) The node with node id: 99ab and address: 10.3.0.8 and node name: 10.3.0.8 has been marked dead because the detector has missed too many heartbeats from it.
Traceback (most recent call last):
  File "impala.py", line 77, in <module>
    ray.get(futs)
ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.
	class_name: RolloutWorker
The actor died because its node has died. Node Id: 99ab
	the actor's node was terminated unexpectedly: health check failed due to missing too many heartbeats
"""),
    failed("jax_coordination", "DISTRIBUTED", """\
I0102 process 2 of 8 ready
E0102 05:00:00.1 coordination_service_agent.cc:540] Polled an error from coordination service (this can be an error from this or another task).
F0102 05:00:00.2 client.h:77] Terminating process because the JAX distributed service detected fatal errors. This most likely indicates that another task died; see the other task logs for more details.
absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):
/job:jax_worker/replica:0/task:6
The tasks have crashed. Check the task logs for an earlier error, or scheduler events (e.g. preemption, eviction) to debug further.
""", None, 6),
    failed("nccl_system_error", "DISTRIBUTED", """\
c02:512:512 [0] NCCL INFO Bootstrap : Using eth0:10.9.0.2<0>
c02:512:590 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.9.0.7<45001> failed : Software caused connection abort
Traceback (most recent call last):
  File "/pt/t.py", line 30, in <module>
    model = DDP(model)
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.26.2
ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
"""),
    failed("horovod_reset", "DISTRIBUTED", """\
[1,0]<stdout>:step 900 loss 0.7
[1,2]<stderr>:[2026-01-02 01:01:01.0: E horovod/common/operations.cc:697] [2]: Horovod background loop uncaught exception: [/tmp/pip/gloo/transport/tcp/pair.cc:589] Read error [10.0.0.5]:3312: Connection reset by peer
[1,0]<stderr>:Traceback (most recent call last):
[1,0]<stderr>:  File "/hv/train.py", line 120, in <module>
[1,0]<stderr>:    hvd.allreduce(g)
[1,0]<stderr>:horovod.common.exceptions.HorovodInternalError: Horovod has been shut down. This was caused by an exception on one of the ranks or an attempt to allreduce, allgather or broadcast a tensor after one of the ranks finished execution.
"""),
    failed("dask_scheduler_lost", "DISTRIBUTED", """\
2026-03-03 03:00:00 - distributed.worker - INFO - Registered to: tcp://10.4.0.1:8786
2026-03-03 04:10:00 - distributed.core - INFO - Connection to tcp://10.4.0.1:8786 has been closed.
2026-03-03 04:10:30 - distributed.worker - WARNING - Scheduler was unaware of this worker; shutting down.
Traceback (most recent call last):
  File "/dk/feat.py", line 61, in <module>
    res = fut.result()
distributed.comm.core.CommClosedError: in <TCP (closed) Client->Scheduler local=tcp://10.4.0.9:51011 remote=tcp://10.4.0.1:8786>: Stream is closed
"""),
    # ------------------------------------------------------------------ hardware
    failed("ecc_uncorrectable", "HARDWARE", """\
it 20100 loss 1.91
it 20110 loss 1.90
Traceback (most recent call last):
  File "/pt/p.py", line 200, in <module>
    loss.backward()
RuntimeError: CUDA error: uncorrectable ECC error encountered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
"""),
    failed("off_the_bus", "HARDWARE", """\
step 511 ok
step 512 ok
[1201923.1] NVRM: GPU at PCI:0000:3b:00: GPU-1122aabb
[1201923.1] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
RuntimeError: CUDA error: unknown error
""", None, 6),
    failed("gpu_is_lost", "HARDWARE", """\
monitor: polling 8 devices
Unable to determine the device handle for GPU0000:C1:00.0: GPU is lost.  Reboot the system to recover this GPU
Traceback (most recent call last):
  File "/pt/watch.py", line 12, in <module>
    h = pynvml.nvmlDeviceGetHandleByIndex(5)
pynvml.NVMLError_GpuIsLost: GPU is lost
"""),
    failed("launch_failure_xid48", "HARDWARE", """\
epoch 14 lr 1e-4
Traceback (most recent call last):
  File "/pt/f.py", line 66, in <module>
    optimizer.step()
RuntimeError: CUDA error: unspecified launch failure
dmesg: NVRM: Xid (PCI:0000:86:00): 48, pid=8801, name=python, DBE (double bit error) ECC Error
dmesg: NVRM: Xid (PCI:0000:86:00): 63, pid=8801, name=python, Row Remapper: New row marked for remapping
"""),
    failed("illegal_access_with_xid", ("HARDWARE", "CODE_BUG"), """\
chunk 80
chunk 81
RuntimeError: CUDA error: an illegal memory access was encountered
--- last lines of dmesg ---
NVRM: Xid (PCI:0000:5e:00): 31, pid=4001, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS faulted
NVRM: Xid (PCI:0000:5e:00): 95, pid=4001, name=python, Uncontained ECC error
"""),
    failed("nvlink_error", "HARDWARE", """\
[rank6]: Traceback (most recent call last):
[rank6]:   File "/pt/tp.py", line 40, in fwd
[rank6]:     y = all_reduce(x)
[rank6]: RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution
kernel: NVRM: Xid (PCI:0000:9d:00): 74, pid=771, name=python, NVLink: fatal error detected on link 3(0x10000, 0x0)
"""),
    failed("machine_check", "HARDWARE", """\
block 7
block 8
kernel: mce: [Hardware Error]: CPU 11: Machine Check: 0 Bank 7: bd80000000100134
kernel: mce: [Hardware Error]: Uncorrected memory error at 0x7d81fb000
kernel: Memory failure: 0x7d81fb: Sending SIGBUS to python:8123 due to hardware memory corruption
Bus error (core dumped)
""", None, 7),
    failed("disk_io_error", ("HARDWARE", "ENVIRONMENT"), """\
reading record 90211
reading record 90212
Traceback (most recent call last):
  File "rec.py", line 33, in <module>
    buf = f.read(size)
OSError: [Errno 5] Input/output error
blk_update_request: I/O error, dev nvme0n1, sector 188211200 op 0x0:(READ)
"""),
    failed("fabric_not_initialised", ("HARDWARE", "ENVIRONMENT"), """\
8 x H100
starting
Traceback (most recent call last):
  File "/pt/q.py", line 5, in <module>
    torch.cuda.init()
RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
"""),
    # ------------------------------------------------------------------ stopped from outside
    failed("slurm_time_limit", "STOPPED", """\
step 88010 loss 1.7
step 88020 loss 1.7
step 88030 loss 1.7
slurmstepd: error: *** JOB 551233 ON gpu07 CANCELLED AT 2026-05-05T04:00:12 DUE TO TIME LIMIT ***
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
""", None, 15),
    failed("slurm_preempted", "STOPPED", """\
epoch 11 42%
epoch 11 43%
epoch 11 44%
slurmstepd: error: *** JOB 551777 ON gpu02 CANCELLED AT 2026-05-06T10:12:00 DUE TO PREEMPTION ***
srun: error: gpu02: task 0: Terminated
""", 143),
    failed("slurm_scancel", "STOPPED", """\
epoch 1 2%
epoch 1 3%
slurmstepd: error: *** JOB 551901 ON gpu02 CANCELLED AT 2026-05-06T11:12:00 ***
slurmstepd: error: *** STEP 551901.0 ON gpu02 CANCELLED AT 2026-05-06T11:12:00 ***
srun: Force Terminated StepId=551901.0
""", 143),
    failed("keyboard_interrupt", "STOPPED", """\
 44%|████▍     | 440/1000 [10:00<12:44,  1.36s/it]
^CTraceback (most recent call last):
  File "/pt/l.py", line 30, in <module>
    loss.backward()
  File "/pt/env/lib/python3.11/site-packages/torch/_tensor.py", line 626, in backward
    torch.autograd.backward(
KeyboardInterrupt
""", 130),
    failed("sigterm_handler", "STOPPED", """\
step 50
step 60
received signal 15 (SIGTERM)
saving an emergency checkpoint to out/preempt.pt
bye
""", 143),
    failed("slurm_node_failure", ("HARDWARE", "STOPPED"), """\
step 190
step 200
step 210
slurmstepd: error: *** JOB 77123 ON c15 CANCELLED AT 2026-01-11T23:59:01 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***
srun: error: Node failure on c15
""", None, 9),
    failed("elastic_got_signal_15", "STOPPED", """\
iteration 5000/90000 | lm loss: 3.1E+00
W0808 08:08:08.080 10 torch/distributed/elastic/agent/server/api.py:723] Received Signals.SIGTERM death signal, shutting down workers
W0808 08:08:08.081 10 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 20 closing signal SIGTERM
Traceback (most recent call last):
  File "/pt/env/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.api.SignalException: Process 10 got signal: 15
"""),
    failed("spot_notice", "STOPPED", """\
step 8000 loss 2.2
step 8010 loss 2.2
agent: spot interruption notice received, this instance will be reclaimed in 120 s
agent: sending SIGTERM to the training process
Terminated
""", 143),
    failed("timeout_tool", "STOPPED", """\
solving instance 40
solving instance 41
solving instance 42
timeout: sending signal TERM to command ‘python’
Terminated
""", 124),
    failed("hangup", "STOPPED", """\
it 1
it 2
it 3
client_loop: send disconnect: Broken pipe
Hangup
""", None, 1),
    failed("lsf_run_limit", "STOPPED", """\
it 900
it 910
TERM_RUNLIMIT: job killed after reaching LSF run time limit.
Exited with exit code 140.
Resource usage summary:
    CPU time :                                   86411.00 sec.
    Max Memory :                                 31022 MB
""", 140),
    failed("pbs_walltime", "STOPPED", """\
generation 77 fitness 0.81
generation 78 fitness 0.82
=>> PBS: job killed: walltime 86423 exceeded limit 86400
generation 79 fitness 0.82
Terminated
""", 271),
    failed("lightning_sigterm", "STOPPED", """\
Epoch 2:  30%|███       | 300/1000 [05:00<11:40,  1.00it/s, v_num=8]
[rank: 0] Received SIGTERM: 15
Traceback (most recent call last):
  File "/l/env/lib/python3.10/site-packages/lightning/pytorch/loops/training_epoch_loop.py", line 152, in run
    self.advance(data_fetcher)
lightning.pytorch.utilities.exceptions.SIGTERMException
""", 143),
    failed("snakemake_user_stop", "STOPPED", """\
[Mon Mar  2 10:00:00 2026]
localrule grid:
    output: grid/7.json
    jobid: 7
Terminating processes on user request, this might take some time.
Complete log: .snakemake/log/2026-03-02T095911.snakemake.log
""", 130),
    failed("cpu_time_limit", ("STOPPED", "ENVIRONMENT"), """\
candidate 3001
candidate 3002
candidate 3003
candidate 3004
CPU time limit exceeded (core dumped)
""", None, 24),
    failed("nan_warning_then_interrupt", "STOPPED", """\
WARNING 3 rows with NaN in column age were dropped
epoch 1 loss 0.61
epoch 2 loss 0.55
epoch 3 loss 0.52
Traceback (most recent call last):
  File "/tab/fit.py", line 20, in <module>
    time.sleep(1)
KeyboardInterrupt
""", None, 2),
    # ------------------------------------------------------------------ no cause in the log
    failed("silent_exit_1", "UNKNOWN", """\
loading
epoch 1 loss 0.912
epoch 2 loss 0.871
epoch 3 loss 0.840
epoch 4 loss 0.822
"""),
    failed("only_exit_status", "UNKNOWN", """\
stage 1 done
stage 2 done
stage 3 started
make: *** [Makefile:12: stage3] Error 3
child ended with exit status 3
""", 2),
    failed("sigkill_without_a_word", ("OOM", "STOPPED", "UNKNOWN"), """\
frame 88
frame 89
frame 90
frame 91
frame 92
""", None, 9),
    failed("warnings_only", "UNKNOWN", """\
/e/lib.py:10: FutureWarning: `resume_download` is deprecated
/e/lib.py:40: UserWarning: the current file format is old
evaluation of 40 items
39 items kept
done with the first half
""", 5),
    # ------------------------------------------------------------------ nothing wrong, though the words look so
    healthy("error_rate_zero", """\
eval 100/1000 | accuracy 0.71 | error rate: 0.0
eval 200/1000 | accuracy 0.70 | error rate: 0.0
eval 300/1000 | accuracy 0.72 | error rate: 0.0
eval 400/1000 | accuracy 0.72 | error rate: 0.0
eval 500/1000 | accuracy 0.71 | error rate: 0.0
"""),
    healthy("zero_failed_summary", """\
items: 1319
answered: 1319, 0 failed, 0 errors, 0 timeouts
exceptions: 0
parse failures: 0 (0.0 %)
fatal: 0
wrote result.json
""", 0),
    healthy("retry_succeeded_429", """\
INFO:httpx:HTTP Request: POST https://api.openai.com/v1/chat/completions "HTTP/1.1 429 Too Many Requests"
INFO:openai._base_client:Retrying request to /chat/completions in 0.47 seconds
INFO:httpx:HTTP Request: POST https://api.openai.com/v1/chat/completions "HTTP/1.1 200 OK"
retry succeeded after 1 attempt
 31%|███       | 310/1000 [04:10<09:17,  1.24it/s]
INFO:httpx:HTTP Request: POST https://api.openai.com/v1/chat/completions "HTTP/1.1 200 OK"
 31%|███       | 311/1000 [04:11<09:16,  1.24it/s]
INFO:httpx:HTTP Request: POST https://api.openai.com/v1/chat/completions "HTTP/1.1 200 OK"
 31%|███       | 312/1000 [04:12<09:15,  1.24it/s]
"""),
    healthy("http_debug_lines", """\
DEBUG:urllib3.connectionpool:Starting new HTTPS connection (1): huggingface.co:443
DEBUG:urllib3.connectionpool:https://huggingface.co:443 "HEAD /acme/m/resolve/main/adapter_config.json HTTP/1.1" 404 0
DEBUG:urllib3.connectionpool:https://huggingface.co:443 "HEAD /acme/m/resolve/main/config.json HTTP/1.1" 200 0
DEBUG:urllib3.connectionpool:https://huggingface.co:443 "HEAD /acme/m/resolve/main/chat_template.jinja HTTP/1.1" 404 0
DEBUG:urllib3.connectionpool:https://huggingface.co:443 "HEAD /acme/m/resolve/main/tokenizer_config.json HTTP/1.1" 200 0
DEBUG:filelock:Lock 140 acquired on /cache/x.lock
Loading checkpoint shards: 100%|██████████| 4/4 [00:04<00:00,  1.02s/it]
"""),
    healthy("recovered_oom", """\
step 210 loss 2.10
WARNING: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. caught, emptying the cache
batch size lowered from 32 to 16, gradient accumulation raised to 2
step 211 loss 2.09
step 212 loss 2.11
step 213 loss 2.08
step 214 loss 2.07
step 215 loss 2.07
"""),
    healthy("caught_traceback_logged", """\
[120/800] ok
WARNING could not read image 121, using a blank one
Traceback (most recent call last):
  File "/v/data.py", line 40, in load
    im = Image.open(p).convert("RGB")
PIL.UnidentifiedImageError: cannot identify image file '/v/img/121.jpg'
[121/800] ok
[122/800] ok
[123/800] ok
[124/800] ok
"""),
    healthy("nan_values_zero", """\
checking table
NaN values: 0
Inf values: 0
missing: 0
rows 40221 columns 18
epoch 1 loss 0.61
epoch 2 loss 0.48
"""),
    healthy("killed_zero_workers", """\
pool: 16 workers up
pool: killed 0 workers, restarted 0, dead 0
epoch 5: 0 batches dropped
pool: killed 0 workers, restarted 0, dead 0
epoch 6: 0 batches dropped
"""),
    healthy("class_names", """\
registered ErrorHandler
registered RetryOnTimeoutError
registered NanLossCallback
registered OutOfMemoryGuard(limit=0.95)
registered KeyboardInterruptCheckpoint
registered ConnectionErrorBackoff(max=5)
epoch 1/10 loss 0.93
epoch 2/10 loss 0.84
"""),
    healthy("pytest_fail_names", """\
============================= test session starts ==============================
collected 7 items
tests/test_net.py::test_fails_on_empty_batch PASSED                      [ 14%]
tests/test_net.py::test_error_is_raised PASSED                           [ 28%]
tests/test_net.py::test_cuda_out_of_memory_is_caught PASSED              [ 42%]
tests/test_net.py::test_nan_loss_aborts PASSED                           [ 57%]
tests/test_net.py::test_segfault_report PASSED                           [ 71%]
tests/test_net.py::test_failed_worker_restarts PASSED                    [ 85%]
tests/test_net.py::test_killed_child PASSED                              [100%]
============================== 7 passed in 2.41s ===============================
""", 0),
    healthy("refused_then_back", """\
warming up: connection refused by 127.0.0.1:8000, waiting 2 s
warming up: connection refused by 127.0.0.1:8000, waiting 4 s
warming up: server is ready after 6 s
item 1/500 done
item 2/500 done
item 3/500 done
item 4/500 done
"""),
    healthy("weights_not_initialised", """\
Some weights of BertForSequenceClassification were not initialized from the model checkpoint at bert-base-uncased and are newly initialized: ['classifier.bias', 'classifier.weight']
You should probably TRAIN this model on a down-stream task to be able to use it for predictions and inference.
{'loss': 0.6912, 'grad_norm': 2.1, 'learning_rate': 1.9e-05, 'epoch': 0.1}
{'loss': 0.6411, 'grad_norm': 2.4, 'learning_rate': 1.8e-05, 'epoch': 0.2}
{'loss': 0.5902, 'grad_norm': 3.1, 'learning_rate': 1.7e-05, 'epoch': 0.3}
"""),
    healthy("tf_start_noise", """\
2026-01-02 10:00:00.111: E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered
2026-01-02 10:00:00.112: E external/local_xla/xla/stream_executor/cuda/cuda_blas.cc:1515] Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS when one has already been registered
2026-01-02 10:00:01.010: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
2026-01-02 10:00:01.900: I external/local_xla/xla/stream_executor/cuda/cuda_executor.cc:901] successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node, so returning NUMA node zero.
Epoch 1/5
 120/1875 [>.............................] - ETA: 8s - loss: 0.8410 - accuracy: 0.7730
"""),
    healthy("nccl_info", """\
n1:20:20 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
n1:20:20 [0] NCCL INFO NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file: No such file or directory No plugin found (libnccl-net.so), using internal implementation
n1:20:77 [0] NCCL INFO NET/IB : No device found.
n1:20:77 [0] NCCL INFO Failed to open libibverbs.so[.1]
n1:20:77 [0] NCCL INFO Using network Socket
n1:20:77 [0] NCCL INFO comm 0x55 rank 0 nranks 4 cudaDev 0 - Init COMPLETE
step 1 loss 10.9
step 2 loss 10.7
"""),
    healthy("deepspeed_first_overflows", """\
[2026-02-02 10:00:01,000] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768
[2026-02-02 10:00:03,000] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 32768, reducing to 16384
[2026-02-02 10:00:05,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=2, lr=[1e-05], mom=[(0.9, 0.999)]
{'loss': 2.31, 'epoch': 0.01}
{'loss': 2.28, 'epoch': 0.02}
{'loss': 2.20, 'epoch': 0.03}
"""),
    healthy("dataset_about_errors", """\
[q 11] "How do I fix RuntimeError: CUDA out of memory?" -> correct
[q 12] "Why does my pod show OOMKilled?" -> correct
[q 13] "What does HTTP 503 Service Unavailable mean?" -> wrong
[q 14] "No space left on device, what now?" -> correct
[q 15] "Segmentation fault (core dumped) in my C program" -> correct
[q 16] "Connection refused on port 22" -> correct
"""),
    healthy("tokenizers_fork", """\
huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism to avoid deadlocks...
To disable this warning, you can either:
	- Avoid using `tokenizers` before the fork if possible
	- Explicitly set the environment variable TOKENIZERS_PARALLELISM=(true | false)
Token indices sequence length is longer than the specified maximum sequence length for this model (812 > 512). Running this sequence through the model will result in indexing errors
Map: 100%|██████████| 5000/5000 [00:04<00:00, 1191.10 examples/s]
step 1 loss 0.7
"""),
    healthy("json_counts_zero", """\
{"step": 100, "loss": 1.91, "exceptions": 0, "timeouts": 0, "oom": 0, "nan_grads": 0}
{"step": 200, "loss": 1.77, "exceptions": 0, "timeouts": 0, "oom": 0, "nan_grads": 0}
{"step": 300, "loss": 1.70, "exceptions": 0, "timeouts": 0, "oom": 0, "nan_grads": 0}
{"step": 400, "loss": 1.66, "exceptions": 0, "timeouts": 0, "oom": 0, "nan_grads": 0}
{"step": 500, "loss": 1.62, "exceptions": 0, "timeouts": 0, "oom": 0, "nan_grads": 0}
"""),
    healthy("signal_handlers_installed", """\
installed handlers for SIGTERM, SIGINT and SIGUSR1
on SIGTERM: save a checkpoint, then exit with 143
time limit 24:00:00, requeue on preemption: yes
abort after 3 consecutive NaN losses
epoch 1 batch 10 loss 0.90
epoch 1 batch 20 loss 0.88
"""),
    healthy("disk_report", """\
scratch: 81 % used, no shortage of space left on /scratch
quota: 412 GB of 1000 GB
open files: 210 of 1024 (limit)
epoch 3 loss 0.41
saved checkpoint (2.1 GB)
epoch 4 loss 0.40
"""),
    healthy("cgroup_counters", """\
memory.events: low 0 high 0 max 0 oom 0 oom_kill 0
memory.current: 41.2 GiB of 64 GiB
epoch 1 done
memory.events: low 0 high 0 max 0 oom 0 oom_kill 0
memory.current: 41.9 GiB of 64 GiB
epoch 2 done
"""),
    healthy("vllm_preemption_and_200", """\
WARNING 03-03 10:00:00 scheduler.py:1754] Sequence group 812 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end performance. Increase gpu_memory_utilization or tensor_parallel_size to provide more KV cache memory. total_num_cumulative_preemption=1
INFO:     127.0.0.1:55002 - "POST /v1/chat/completions HTTP/1.1" 200 OK
INFO 03-03 10:00:05 metrics.py:455] Avg prompt throughput: 812.0 tokens/s, Avg generation throughput: 1500.1 tokens/s, Running: 64 reqs, Swapped: 0 reqs, Pending: 3 reqs, GPU KV cache usage: 97.9%, CPU KV cache usage: 0.0%.
INFO:     127.0.0.1:55004 - "POST /v1/chat/completions HTTP/1.1" 200 OK
INFO:     127.0.0.1:55006 - "POST /v1/chat/completions HTTP/1.1" 200 OK
"""),
    healthy("early_stopping", """\
Epoch 21 val_loss 0.310 (best 0.302)
Epoch 22 val_loss 0.311 (best 0.302)
Monitored metric val_loss did not improve in the last 10 records. Best score: 0.302. Signaling Trainer to stop.
early stopping: training aborted on purpose
test accuracy 0.91
results written
""", 0),
    healthy("grad_scaler_inf", """\
step 10 loss 3.1 scale 65536
step 11 grads contain inf, update skipped, scale 32768
step 12 loss 3.0 scale 32768
step 13 loss 3.0 scale 32768
step 14 loss 2.9 scale 32768
step 15 loss 2.9 scale 32768
"""),
    healthy("wandb_network_retry", """\
step 1000 loss 0.8
wandb: Network error (ConnectionError), entering retry loop.
step 1010 loss 0.8
step 1020 loss 0.79
wandb: Network error resolved after 0:00:31.2, resuming normal operation.
step 1030 loss 0.78
step 1040 loss 0.78
"""),
    healthy("ray_noise", """\
2026-01-01 10:00:00,100 INFO worker.py:1841 -- Started a local Ray instance. View the dashboard at 127.0.0.1:8265
[2026-01-01 10:00:02,200 E 44 44] core_worker.cc:201: Failed to register worker metrics agent; metrics will not be exported: RpcError: rpc_code: 14
(raylet) [2026-01-01 10:01:00,000 E 50 71] (raylet) file_system_monitor.cc:116: /tmp/ray is over 95% full, available space: 20.1 GB; capacity: 500.0 GB. Object creation will fail if spilling is required.
(rollout pid=91) episode 10 reward 4.1
(rollout pid=91) episode 11 reward 4.4
"""),
    healthy("lightning_end", """\
Epoch 9: 100%|██████████| 938/938 [00:11<00:00, 84.10it/s, v_num=0, loss=0.041]
`Trainer.fit` stopped: `max_epochs=10` reached.
Testing DataLoader 0: 100%|██████████| 157/157 [00:01<00:00, 120.1it/s]
test_acc 0.989
test_err 0.011
""", 0),
    healthy("leaked_semaphores", """\
epoch 5 done
best f1 0.77
/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 6 leaked semaphore objects to clean up at shutdown
  warnings.warn('resource_tracker: There appear to be %d '
[W101 ProcessGroupNCCL.cpp:1496] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.
""", 0),
    healthy("exception_ignored_in_del", """\
evaluated 198 of 198
accuracy 0.414
saved out/result.json
Exception ignored in: <function LLMEngine.__del__ at 0x7f3a>
Traceback (most recent call last):
  File "/v/llm_engine.py", line 401, in __del__
    self.executor.shutdown()
AttributeError: 'NoneType' object has no attribute 'shutdown'
""", 0),
    healthy("anonymous_hub", """\
whoami: 401 Client Error: Unauthorized for url: https://huggingface.co/api/whoami-v2
not logged in, going on without a token
UserWarning: The secret `HF_TOKEN` does not exist in your environment; public models still work
Downloading shards: 100%|██████████| 2/2 [00:30<00:00, 15.1s/it]
generating 1/50
generating 2/50
generating 3/50
"""),
    healthy("nvidia_smi_ecc", """\
| GPU  Name                 | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA A100-SXM4-80GB | 00000000:07:00.0 Off |                    0 |
|   1  NVIDIA A100-SXM4-80GB | 00000000:0F:00.0 Off |                    0 |
ECC errors corrected: 0, uncorrected: 0
Xid events since boot: none
step 1 tokens/s 18100
step 2 tokens/s 18210
"""),
    healthy("toxic_classes", """\
                 precision    recall  f1-score   support
       insult         0.81      0.77      0.79       410
       threat         0.70      0.61      0.65        90
   fatal_crash        0.88      0.90      0.89       120
       killed         0.72      0.70      0.71        66
      aborted         0.69      0.74      0.71        58
     accuracy                             0.79       744
""", 0),
    healthy("code_benchmark", """\
HumanEval/10 passed
HumanEval/11 failed: Traceback (most recent call last):
  File "<string>", line 14, in check
AssertionError
HumanEval/12 passed
HumanEval/13 failed: timed out
HumanEval/14 failed: NameError: name 'List' is not defined
HumanEval/15 passed
pass@1: 0.611
""", 0),
    healthy("worker_respawned", """\
worker 3 died (exit code 1), starting it again as pid 8122
worker 3 ready
done 410/2000
done 420/2000
done 430/2000
done 440/2000
"""),
    healthy("port_taken_next_one", """\
Port 6006 is already in use, trying 6007
TensorBoard at http://localhost:6007
epoch 1 loss 1.2
epoch 2 loss 1.1
epoch 3 loss 1.0
epoch 4 loss 0.9
"""),
    healthy("configuration_dump", """\
timeout: 600
max_retries: 5
on_error: continue
raise_on_nan: true
kill_after_s: 30
fail_fast: false
rate_limit: 500
retry_on: [429, 500, 502, 503, 504, ConnectionError, TimeoutError]
start of training
it 1 loss 4.0
"""),
    healthy("insecure_request", """\
/e/urllib3/connectionpool.py:1103: InsecureRequestWarning: Unverified HTTPS request is being made to host 'llm.lab'. Adding certificate verification is strongly advised.
  warnings.warn(
WARNING:urllib3.connectionpool:Connection pool is full, discarding connection: llm.lab. Connection pool size: 10
answered 40/400
answered 41/400
answered 42/400
"""),
    healthy("refusals_counted", """\
done 100/500 (refused by the content policy: 3, truncated: 0)
done 200/500 (refused by the content policy: 5, truncated: 1)
prompt of 9120 tokens exceeds the context length of 8192, truncated on the left
done 300/500 (refused by the content policy: 9, truncated: 2)
done 400/500 (refused by the content policy: 11, truncated: 2)
done 500/500 (refused by the content policy: 12, truncated: 2)
score 0.63
""", 0),
    healthy("snakemake_rule_names", """\
rule count_errors:
    input: logs/a.txt
    output: out/error_counts.csv
    jobid: 4
[Tue Mar  3 09:00:00 2026]
Finished jobid: 4 (Rule: count_errors)
5 of 9 steps (56%) done
"""),
    healthy("generated_story", """\
prompt: write a crime story
sample 1: "Killed," said the inspector, "and the engine was aborted at once."
sample 2: The terminal showed: Aborted (core dumped). Nobody dared to breathe.
sample 3: Traceback, he thought, was a fine name for a horse.
sample 4: out of memory, out of mind.
perplexity 14.2
""", 0),
    healthy("ratelimit_headers", """\
x-ratelimit-limit-requests: 5000
x-ratelimit-remaining-requests: 4311
x-ratelimit-reset-requests: 12ms
quota used 12 %
answered 690
answered 691
answered 692
"""),
    healthy("torch_compile_breaks", """\
W0101 10:00:00.000 31 torch/_dynamo/convert_frame.py:906] [4/8] torch._dynamo hit config.recompile_limit (8)
W0101 10:00:00.000 31 torch/_dynamo/convert_frame.py:906] [4/8]    function: 'forward' (/m/net.py:60)
W0101 10:00:00.000 31 torch/_dynamo/convert_frame.py:906] [4/8]    last reason: 4/7: tensor 'x' size mismatch at index 1. expected 512, actual 513
W0101 10:00:01.000 31 torch/_inductor/utils.py:1250] [0/0] Not enough SMs to use max_autotune_gemm mode
step 10 loss 5.1
step 20 loss 4.9
step 30 loss 4.8
"""),
    healthy("loss_spike_recovers", """\
step 1000 loss 2.21
step 1010 loss 2.20
step 1020 loss 9.80
step 1030 loss 5.11
step 1040 loss 2.60
step 1050 loss 2.24
step 1060 loss 2.20
step 1070 loss 2.19
"""),
    healthy("faulthandler_periodic", """\
step 70
Timeout (0:10:00)!
Thread 0x00007f2a (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 327 in wait
  File "/m/prefetch.py", line 20 in loop
step 71
step 72
step 73
step 74
"""),
    healthy("jax_cpu_fallback", """\
WARNING:jax._src.xla_bridge:An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.
I0101 rocm: Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'
I0101 tpu: Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory
step 0 loss 2.30
step 100 loss 0.91
step 200 loss 0.55
"""),
    healthy("optional_import", """\
flash_attn is not installed (No module named 'flash_attn'), the plain attention is used
apex: ModuleNotFoundError caught, plain AdamW is used
bitsandbytes was compiled without GPU support. 8-bit optimizers are unavailable.
epoch 1 10% loss 2.0
epoch 1 20% loss 1.9
epoch 1 30% loss 1.8
"""),
    healthy("one_502_of_many", """\
[310/1000] 200
[311/1000] 502 Bad Gateway, again in 1 s
[311/1000] 200
[312/1000] 200
[313/1000] 504 Gateway Timeout, again in 1 s
[313/1000] 200
[314/1000] 200
[315/1000] 200
[316/1000] 200
"""),
    healthy("failed_item_then_summary", """\
ERROR item 17: the answer could not be parsed, counted as wrong
ERROR item 44: the answer could not be parsed, counted as wrong
finished 200 items, 2 unparsable (1.0 %)
accuracy 0.585
ERROR-free run: yes
done
""", 0),
    healthy("corrupt_jpeg", """\
Corrupt JPEG data: 14 extraneous bytes before marker 0xd9
/p/TiffImagePlugin.py:900: UserWarning: Corrupt EXIF data.  Expecting to read 4 bytes but only got 0.
  warnings.warn(str(msg))
epoch 1 1000/40000
epoch 1 2000/40000
epoch 1 3000/40000
"""),
    healthy("rl_episode_deaths", """\
episode 100 reward 12.0 deaths 3 killed_by zombie
episode 101 reward 15.5 deaths 1 killed_by lava
episode 102 reward -3.0 deaths 7 killed_by skeleton
agent terminated=True truncated=False
episode 103 reward 18.0 deaths 0 killed_by nobody
episode 104 reward 17.5 deaths 1 terminated by time limit
"""),
    healthy("hyperparameter_trials_pruned", """\
[I 2026-02-02 10:00:00,100] Trial 11 pruned.
[W 2026-02-02 10:01:00,100] Trial 12 failed with parameters: {'lr': 0.9} because of the following error: The value nan is not acceptable.
[W 2026-02-02 10:01:00,101] Trial 12 failed with value nan.
[I 2026-02-02 10:02:00,100] Trial 13 finished with value: 0.82 and parameters: {'lr': 0.01}. Best is trial 13 with value: 0.82.
[I 2026-02-02 10:03:00,100] Trial 14 finished with value: 0.80 and parameters: {'lr': 0.02}. Best is trial 13 with value: 0.82.
[I 2026-02-02 10:04:00,100] Trial 15 finished with value: 0.81 and parameters: {'lr': 0.02}. Best is trial 13 with value: 0.82.
"""),
    healthy("dns_blip", """\
shard 7 downloaded
shard 8: Temporary failure in name resolution, again in 5 s
shard 8 downloaded
shard 9 downloaded
shard 10 downloaded
shard 11 downloaded
"""),
    healthy("nan_in_per_class_metric", """\
epoch 4 train loss 0.31
val iou per class: road 0.91, car 0.80, train nan, bus 0.62
UserWarning: Mean of empty slice, the class train is absent from the split
val miou (nan ignored) 0.71
epoch 5 train loss 0.30
epoch 6 train loss 0.29
"""),
    healthy("sigpipe_of_a_helper_and_success", """\
head: error writing 'standard output': Broken pipe
zcat: stdout: Broken pipe
took the first 100000 lines
fit done
auc 0.88
""", 0),
    healthy("pip_warning_then_success", """\
ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.
tensorflow 2.15.0 requires ml-dtypes~=0.2.0, but you have ml-dtypes 0.4.0 which is incompatible.
Successfully installed ml-dtypes-0.4.0
running probe
probe accuracy 0.66
""", 0),
    healthy("agent_tool_errors", """\
[turn 4] tool bash -> exit 1: ModuleNotFoundError: No module named 'requests'
[turn 5] tool bash -> exit 0
[turn 6] tool bash -> exit 137: Killed
[turn 7] tool bash -> exit 0
[turn 8] tests: 3 failed, 12 passed
[turn 9] tests: 0 failed, 15 passed
instance django-11099 resolved
instance django-11133 started
"""),
    healthy("elastic_restart_goes_on", """\
W0101 10:00:00 torch/distributed/elastic/agent/server/api.py:700] Worker group FAILED. 3/3 attempts left; will restart worker group
I0101 10:00:05 torch/distributed/elastic/agent/server/api.py:860] Restarting worker group
resumed from step 4000
step 4010 loss 1.9
step 4020 loss 1.9
step 4030 loss 1.88
"""),
    healthy("asyncio_debug", """\
DEBUG:asyncio:Using selector: EpollSelector
WARNING:asyncio:Executing <Task finished name='judge-17' coro=<judge() done> result=1> took 0.140 seconds
judge 17 ok
judge 18 ok (Unclosed connection warnings: 0)
judge 19 ok
judge 20 ok
"""),
]
