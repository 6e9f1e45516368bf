"""The closed sections of the configuration, one frozen model each; no default values live here.

Defaults stand in `configs/_defaults/global.yaml` alone. A model says which
keys exist, their types and bounds, and what they mean; `params`, `row` and
`config_file`'s content are open. Imports pydantic: load this module late.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
AtLeastOne = Annotated[int, Field(ge=1)]
Template = str | list[str | int | float]
Scalar = str | int | float | bool | None
Name = Annotated[str, Field(min_length=1)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Step(Section):
    name: Name | None = None
    """Name of the step, unique within the run."""
    command: Template
    """Command template of the step."""


class Output(Section):
    root: str | None = None
    """Folder of the program's own output; named `{{ root }}` in templates."""
    prefix: str | None = None
    """What `output.root` must begin with (set by benchmark layers)."""
    result: str | None = None
    """Result file of the program, a path template; named `{{ result }}`."""
    checkpoint: str | None = None
    """Checkpoint place, a path template; null: `runs/<run_id>/checkpoint`."""
    checkpoint_check: str | None = None
    """Shell command that exits 0 for a good checkpoint; it is given the path as its last argument."""


class DryRun(Section):
    command: Template | None = None
    """Command of the dry-run where it is not the run's own with a small `limit`."""
    limit: AtLeastOne | None = None
    """Number of items of a dry-run."""
    skip: str | None = None
    """Reason why this run has no dry-run."""
    timeout_s: Positive | None = None
    """Time limit of a dry-run in seconds."""
    needs_output: bool | None = None
    """The dry-run needs the output of the runs in `needs`, so it waits for them."""


class Execution(Section):
    workers: AtLeastOne | None = None
    """Items worked on at a time; `qa_workers` is another name for it."""
    qa_workers: AtLeastOne | None = None
    """Another name for `workers`, shown beside `precompute_workers`."""
    precompute_workers: AtLeastOne | None = None
    """Workers of the first phase, each with `segment_parallel_workers`."""
    segment_parallel_workers: AtLeastOne | None = None
    """Segments that one precompute worker handles at a time."""
    dual_backend: bool | None = None
    """Use two endpoints at once; takes the model layer's `when_dual` block, and the guard where `endpoints` are listed."""
    guard: bool | None = None
    """Send the run's model calls through a guard of its own; null: only with `dual_backend` and `endpoints`."""
    max_concurrent_vlm: AtLeastOne | None = None
    """Model calls in flight at a time; the guard takes 30 with `dual_backend` where only the default is set."""
    vlm_max_retries: Count | None = None
    """Retries of one model call."""
    vlm_retry_base_delay_s: NotNegative | None = None
    """First wait of a retry in seconds."""
    vlm_retry_max_delay_s: NotNegative | None = None
    """Longest wait of a retry in seconds."""
    parallel: AtLeastOne | None = None
    """Runs at a time; null: as many as Snakemake has cores."""
    gpus: Count | None = None
    """Number of GPUs that the run needs."""
    devices: list[int | str] | None = None
    """Devices that are ours; null: an inherited CUDA_VISIBLE_DEVICES, else all."""
    gpu_mem_mib: Count | None = None
    """Free memory that each GPU must have, in MiB."""
    cpus: AtLeastOne | None = None
    """CPU cores that the run needs: so many runs at a time as fit; held to by a cgroup where one may be made."""
    mem_mib: AtLeastOne | None = None
    """Main memory that the run needs, in MiB."""
    wall_time: int | float | str | None = None
    """Time limit: seconds, a duration such as `1h30m`, or a formula of the config."""
    per_item_s: Positive | None = None
    """Seconds per item, for formulas and projections."""
    grace_s: NotNegative | None = None
    """Seconds between SIGTERM and SIGKILL."""
    python: str | None = None
    """Interpreter of the program (`python` as the first word, and in PATH)."""
    activate: str | None = None
    """Environment of the program: `conda:NAME`, a venv folder, an activate script, or shell text."""
    shell: str | None = None
    """Shell of commands that are text."""
    cwd: str | None = None
    """Working directory, relative to the project."""
    code_dir: str | None = None
    """Where the code lies on a remote host."""
    ssh: str | None = None
    """Remote host of the program, as ssh knows it."""
    env: dict[str, Scalar] | None = None
    """Environment variables; `${NAME}` takes a value from the launcher's environment."""
    identity_env: list[str] | None = None
    """Names of variables in `env` that can change the outcome."""
    log_max_mib: Positive | None = None
    """A log larger than this is moved to `log.1.txt` and begun anew."""
    gpu_provider: Literal["local", "remote", "slurm", "vast", "modal"] | None = None
    """Who provides the GPUs, for the cost record."""
    usd_per_gpu_hour: NotNegative | None = None
    """Price of a GPU-hour in US dollars."""


class LearningRate(Section):
    schedule: Literal["constant", "linear", "cosine"] | None = None
    """What the learning rate does after its warm-up; null: it is not compared."""
    peak: Positive | None = None
    """Rate after the warm-up; null: `params.lr` or `params.learning_rate`."""
    warmup: NotNegative | None = None
    """Steps of warm-up, or below 1 their share of `total`; null: `params.warmup_steps` or `params.warmup_ratio`."""
    total: AtLeastOne | None = None
    """Step at which it ends; null: `params.max_steps`, `params.total_steps` or `params.steps`."""
    end: NotNegative | None = None
    """Rate at the end; null: 0."""
    tolerance: Share | None = None
    """Difference that is accepted, as a share of `peak`."""
    points: AtLeastOne | None = None
    """So many reports in a row must be off."""


class BaselineCurve(Section):
    above: NotNegative | None = None
    """A loss above the baseline's at the same step by more than this share of it counts as off; null: not compared."""
    points: AtLeastOne | None = None
    """So many reports in a row must be off."""


class Monitor(Section):
    interval_s: Positive | None = None
    """Seconds between two looks at a run."""
    stale_s: Positive | None = None
    """A log and progress still for so long mean STALE."""
    stuck_s: NotNegative | None = None
    """Errors (rate limits, refused connections, out of memory) count once there is no progress for so long."""
    gpu_idle_s: Positive | None = None
    """A GPU idle for so long is warned of."""
    gpu_idle_util: Annotated[float, Field(ge=0, le=100)] | None = None
    """A GPU is idle at or below this utilisation in per cent."""
    null_rate_warn: Share | None = None
    """Share of null answers that is reported while running."""
    null_rate_stop: Share | None = None
    """Share of null answers that stops the run."""
    cache_reuse: bool | None = None
    """The run should find the baseline's cache warm."""
    cache_cold_after_s: Positive | None = None
    """Seconds until a cold cache is judged."""
    cache_hit_min: Share | None = None
    """Hit ratio below which the cache is cold."""
    progress: str | None = None
    """Regular expression with groups `done` and `total` for progress lines in the log."""
    sample_s: Positive | None = None
    """Seconds between two GPU samples."""
    signatures: str | list[str] | None = None
    """The project's own failure signatures, YAML files, named from its folder on (docs/monitoring.md)."""
    screen: str | None = None
    """Name of a screen session whose output is the log."""
    endpoint: str | None = None
    """URL that is asked when calls are refused: does the endpoint answer at all? Null: `endpoint.url`."""
    lr: LearningRate | None = None
    """The learning-rate schedule that the run should follow; another one is told as a sign."""
    baseline: BaselineCurve | None = None
    """Bounds within which the loss follows the curve of the run named under `baseline:`; leaving them is a sign."""


class Heal(Section):
    enabled: bool | None = None
    """Resume runs by themselves at all."""
    max_same_signature: AtLeastOne | None = None
    """The same failure so many times in a row stops."""
    max_restarts: Count | None = None
    """Automatic restarts in all."""
    oom_wait_s: NotNegative | None = None
    """Wait before a resume after running out of memory."""
    oom_set: dict[str, Any] | None = None
    """Operational settings for that resume, dotted keys."""
    quota_wait_s: NotNegative | None = None
    """Wait before a resume after API_QUOTA."""
    quota_workers_factor: Annotated[float, Field(gt=0, le=1)] | None = None
    """The workers are multiplied by this after API_QUOTA."""
    quota_workers_min: AtLeastOne | None = None
    """Never fewer workers than this."""
    proxy_wait_s: NotNegative | None = None
    """Wait before a resume after PROXY_DOWN."""
    proxy_fallback_env: dict[str, Scalar] | None = None
    """Environment of the fallback endpoint; empty: no fallback."""
    proxy_fallback_workers: AtLeastOne | None = None
    """Workers on the fallback endpoint."""
    circuit_min: AtLeastOne | None = None
    """So many runs ended by the same failure, and `circuit_share` of all that ended: no further launch."""
    circuit_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the ended runs that must have failed alike for that."""
    max_interruptions: Count | None = None
    """Restarts after reboots, shutdowns and preemptions, which are nobody's failure."""
    killed_wait_s: NotNegative | None = None
    """Wait before a resume after a SIGKILL from outside."""
    accept_other_endpoint: bool | None = None
    """Accept an endpoint that may answer differently; it stays a finding."""


class Leak(Section):
    task_types: list[str] | None = None
    """Task types whose items must be cut off at `reference`."""
    field: str | None = None
    """Item field that holds the cut-off."""
    reference: str | None = None
    """Item field that it must equal."""
    tolerance: NotNegative | None = None
    """Allowed distance."""


class Validate(Section):
    null_warn: Share | None = None
    """Null rate above which validation warns."""
    null_fail: Share | None = None
    """Null rate above which validation fails."""
    bias_warn: Share | None = None
    """Share of one answer above which validation warns."""
    rate_limited_warn: Share | None = None
    """Share of rate-limited calls above which validation warns."""
    leak: Leak | list[str] | None = None
    """Data-leak check by task type."""
    placeholders: list[str] | None = None
    """Answers that stand for a failed call."""
    rules: dict[str, Any] | list[dict[str, Any]] | None = None
    """Further rules, or built-in ones switched off."""


class Collect(Section):
    format: str | None = None
    """Form of the result files; `auto` finds out."""
    path: str | None = None
    """Result file or folder, a path or glob; null: `output.result`."""
    metrics: dict[str, Any] | list[str] | None = None
    """Metric name to where it stands (JMESPath for plain JSON)."""
    higher_is_better: dict[str, bool] | None = None
    """Direction of each metric."""
    primary: str | None = None
    """Metric that the tracker cell shows first."""
    items: Any = None
    """Where per-item results stand."""
    fields: dict[str, str] | None = None
    """Our item field to the file's own name for it."""
    history: Any = None
    """Where the training curve stands."""
    take: Literal["first", "last", "min", "max"] | None = None
    """Which of several matches of a regular expression over the log counts."""
    options: dict[str, Any] | None = None
    """Further settings of the chosen format."""


class Preflight(Section):
    paths: list[str] | None = None
    """Data paths that must exist."""
    endpoints: list[str] | None = None
    """Base URLs whose `/v1/models` must answer."""
    endpoint_timeout_s: Positive | None = None
    """Time limit of that request in seconds."""
    disk_mib: Count | None = None
    """Free disk space needed, in MiB."""
    cache_keys: list[str] | None = None
    """Keys that must equal the baseline's."""
    accept_drift: list[str] | None = None
    """Keys of `cache_keys` that differ on purpose."""
    plan_against_head: Literal["stop", "warn", "off"] | None = None
    """What to do when the plan names files, functions or parameters that the code does not have."""


class Claim(Section):
    path: str
    """File in the diff since the baseline commit."""
    symbol: str | None = None
    """Function or class that must be changed there."""
    call: str | None = None
    """Call that must stand inside that symbol (or file)."""


class Smoke(Section):
    limit: AtLeastOne | None = None
    """Items of the smoke run."""
    shows: list[str] | None = None
    """Regular expressions that its log must contain."""


class Conformance(Section):
    baseline_commit: str | None = None
    """Commit that the diff is taken from."""
    claims: list[Claim] | None = None
    """What the code must contain for the plan to be realised."""
    smoke: Smoke | None = None
    """A one-item run whose log must show something; it is made also where the dry-run is skipped."""


class Diagnose(Section):
    hook: str | list[str] | None = None
    """Command of your own after a failure; it is given the run's folder as its last argument."""
    hook_timeout_s: Positive | None = None
    """Its time limit in seconds."""


class Wandb(Section):
    enabled: bool | None = None
    """The run reports to Weights & Biases; the login is checked before launch."""
    project: str | None = None
    """W&B project."""
    entity: str | None = None
    """W&B entity."""


class Pipeline(Section):
    variant: str | None = None
    """Name of the mode in the evaluator."""
    sampling: Literal["uniform", "clip_keyframes", "clip", "segment"] | None = None
    """How frames are chosen."""
    fps: Positive | None = None
    """Frames per second that are looked at."""
    seconds_back: NotNegative | None = None
    """Seconds before the moment of the question."""
    frames: AtLeastOne | None = None
    """Frames given to the model; null: as many as there are."""
    max_context_frames: AtLeastOne | None = None
    """Frames given to the model at most."""
    tools: list[str] | None = None
    """Tools that the model may call."""
    max_rounds: AtLeastOne | None = None
    """Rounds of tool calls."""
    max_tool_calls: AtLeastOne | None = None
    """Tool calls in all."""
    resize_mode: str | None = None
    """How frames are resized."""
    clip_delta_high: float | None = None
    """Upper threshold of a scene change."""
    clip_delta_low: float | None = None
    """Lower threshold of a scene change."""
    summary_prompt_variant: str | None = None
    """Prompt of the segment summaries."""


class Dataset(Section):
    name: str | None = None
    """Name of the data set."""
    path: str | None = None
    """File or folder of the data set."""
    subset: str | None = None
    """Subset of it."""
    split: str | None = None
    """Split of it."""
    revision: str | None = None
    """Revision of it."""


class Endpoint(Section):
    url: str | None = None
    """Base URL of the model endpoint."""
    model: str | None = None
    """Model name that the endpoint is asked for."""


class GuardedEndpoint(Section):
    name: Name
    """Name in counters and findings."""
    url: Name
    """Base URL up to and with `/v1`; `${NAME}` takes a value from the environment, `{model}` is the model's name."""
    weight: Positive | None = None
    """Share of the calls; null: 65 and 35 for two endpoints, else equal."""
    max_concurrent: AtLeastOne | None = None
    """Calls in flight at this endpoint; null: its share of `execution.max_concurrent_vlm`."""
    key_env: str | None = None
    """Environment variable that holds its key; null: the program's own key is passed on."""
    key_header: str | None = None
    """Header of the key; null: `Authorization`, as Bearer."""
    token_command: Template | None = None
    """Command that prints a token (text, or JSON with `accessToken`); run once, and again after a 401."""
    models: dict[str, str] | None = None
    """Model name of the program to the endpoint's own name for it; a finding in the validation."""
    serves: list[str] | None = None
    """Patterns of models that it serves, by its own names; null: `/v1/models` is asked."""
    check_models: bool | None = None
    """Ask `/v1/models`, and drop the endpoint for models that are not listed; null: yes."""
    second_phase: list[str] | None = None
    """Patterns of models whose second phase (`/phase-b/v1`, `X-Runherd-Phase: b`, `/responses`) stays on this endpoint."""


class Guard(Section):
    cooldown_s: Positive | None = None
    """Seconds that a failing endpoint is left alone before one call tries it again."""
    failures: AtLeastOne | None = None
    """Failed calls in a row (403, 5xx, time-outs) that count as failing; a refused connection does at once."""
    timeout_s: Positive | None = None
    """Seconds without a byte after which an endpoint's answer counts as failed."""
    serial: list[str] | None = None
    """Patterns of models that are called one at a time."""
    second_phase: list[str] | None = None
    """Patterns of models whose second phase stays on one endpoint: the last listed that serves it, where none names it."""


class Evaluator(Section):
    command: Template
    """Command of runs of this benchmark that name none."""
    mock: bool | None = None
    """It calls no model; used by `run_experiment` only, never for a tracker row."""


class Notify(Section):
    command: Template | None = None
    """Command that is given each message."""
    on: list[str] | None = None
    """Events to notify of."""
    urls: list[str] | None = None
    """Notification targets (apprise)."""


class Report(Section):
    title: str | None = None
    """Title of the report."""
    group: str | None = None
    """Name under which runs are compared."""
    label: str | None = None
    """Name of this run in tables."""


class RunSettings(Section):
    """Settings of one run: what a run's own YAML, a pattern, a mode, benchmark or model may set."""

    command: Template | None = None
    """Command template: text for a shell, or a list of arguments."""
    steps: list[Step] | None = None
    """Commands in order, instead of `command`."""
    config_file: str | None = None
    """The program's own config, opaque; its content is part of the identity."""
    description: str | None = None
    """What the run is for; for people only."""
    needs: list[str] | None = None
    """Runs that must have succeeded before this one starts."""
    seed: int | None = None
    """Random seed."""
    expected: AtLeastOne | None = None
    """Number of items expected in the result."""
    limit: AtLeastOne | None = None
    """Number of items that the program works on; `n` is another name for it."""
    benchmark: str | None = None
    """Benchmark; chooses a layer."""
    mode: str | None = None
    """Mode; chooses a block of `mode_defaults`."""
    model: str | None = None
    """Model; chooses a layer."""
    protocol: str | None = None
    """Protocol of the benchmark (offline, online)."""
    params: dict[str, Any] | None = None
    """The experiment's own settings; any keys."""
    baseline: str | None = None
    """Run that this one is compared with."""
    grid: dict[str, Any] | None = None
    """Keys and lists of values; each combination is a sub-run."""
    output: Output | None = None
    dryrun: DryRun | None = None
    execution: Execution | None = None
    monitor: Monitor | None = None
    heal: Heal | None = None
    validate_: Validate | None = Field(default=None, alias="validate")
    collect: Collect | None = None
    preflight: Preflight | None = None
    conformance: Conformance | None = None
    diagnose: Diagnose | None = None
    wandb: Wandb | None = None
    pipeline: Pipeline | None = None
    dataset: Dataset | None = None
    endpoint: Endpoint | None = None
    endpoints: list[GuardedEndpoint] | None = None
    """Endpoints of the guard."""
    guard: Guard | None = None
    evaluator: Evaluator | None = None
    notify: Notify | None = None
    report: Report | None = None
    clamp: dict[str, int | float] | None = None
    """Dotted key to the largest value; more is set to it, with a warning."""
    at_most: dict[str, int | float] | None = None
    """Dotted key to the largest value; more is an error."""
    ranges: dict[str, list[int | float]] | None = None
    """Dotted key to recommended [lowest, highest]; outside it a warning."""


class ModelLayer(RunSettings):
    """A file of `_defaults/models/`."""

    when_dual: RunSettings | None = None
    """Settings that hold when `execution.dual_backend` is true."""


class GlobalLayer(RunSettings):
    """`_defaults/global.yaml`."""

    mode_defaults: dict[str, RunSettings] | None = None
    """Mode to its settings; `"*"` holds for every mode."""


class Paths(Section):
    runs: str | None = None
    """Folder where runs live."""
    results: str | None = None
    """Folder of the published results."""
    gates: str | None = None
    """Folder of gate verdicts."""
    report: str | None = None
    """Folder of the report."""


class Budget(Section):
    gpu_hours: NotNegative | None = None
    """GPU-hours in all; a launch that would exceed them waits for a person."""
    usd: NotNegative | None = None
    """US dollars in all."""
    runs: Count | None = None
    """Number of runs in all."""


class ProjectFile(Section):
    """`configs/project.yaml`."""

    tracker: str | None = None
    """The experiment tracker."""
    plan: str | None = None
    """The experiment plan."""
    criteria: str | None = None
    """The criteria of the gates."""
    paths: Paths | None = None
    columns: dict[str, str] | None = None
    """Header text of a tracker column to its role."""
    patterns: dict[str, RunSettings] | None = None
    """Glob of run ids to settings; later ones win."""
    stages: list[str | int | float] | None = None
    """Order of the stages."""
    budget: Budget | None = None
    benchmark_prefix: bool | None = None
    """Enforce `output.prefix` of benchmark layers."""
    claude_md: str | None = None
    """A CLAUDE.md whose settings are the lowest layer."""
    python: str | None = None
    """Interpreter of the programs."""
    activate: str | None = None
    """Environment of the programs."""
    gpus: list[int | str] | None = None
    """Devices that are ours."""
