#!/bin/bash
# Writes logs again: ./make.sh VENV [NAME ...], all without a name. VENV has what VERSIONS names. They differ in times
# and process ids; what each ended with stands in test_cascades.py. slurm-*.log were made by hand on a cluster.
cd "$(dirname "$0")" || exit 1
venv=$1
shift
lib=$("$venv/bin/python" -c 'import pathlib, os; print(pathlib.Path(os.__file__).resolve().parents[1])')
export PATH="$venv/bin:$PATH" GLOO_SOCKET_IFNAME=lo DS_ACCELERATOR=cpu OMP_NUM_THREADS=1 HF_HUB_DISABLE_PROGRESS_BARS=1
export PYTHONWARNINGS=ignore RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0

run() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >"$name.raw" 2>&1 </dev/null
    echo "$name $?"
    sed -e "s#$(realpath "$venv")#/opt/venv#g" -e "s#$venv#/opt/venv#g" -e "s#$PWD#/home/kim/my lab#g" \
        -e "s#$lib#/usr/lib#g" -e "s#$HOME#/home/kim#g" "$name.raw" | cut -c1-1200 >"$name.log"
    rm "$name.raw"
}

make() {
    case $1 in
    torchrun-key | torchrun-memory) run "$1" torchrun --nproc_per_node 4 ranks.py "${1#*-}" ;;
    torchrun-port) run "$1" bash -c 'python -m http.server 29541 >/dev/null 2>&1 & sleep 2
        torchrun --nproc_per_node 4 --master_port 29541 ends.py slow; rc=$?; kill %1; exit $rc' ;;
    torchrun-stopped) run "$1" timeout 12 torchrun --nproc_per_node 4 ends.py slow ;;
    torchrun-*) run "$1" torchrun --nproc_per_node 4 ends.py "${1#*-}" ;;
    deepspeed-*) run "$1" deepspeed --num_accelerators 2 ends.py "${1#*-}" --zero ;;
    loader-* | ray-* | dask-* | lightning-* | optuna-*) run "$1" python workers.py "$1" ;;
    *) run "$1" python clients.py "$1" ;;
    esac
}

all="torchrun-key torchrun-memory torchrun-killed torchrun-crashed torchrun-silent torchrun-nccl torchrun-port
    torchrun-stopped deepspeed-raised deepspeed-killed loader-raised loader-killed ray-init ray-crashed dask-killed
    dask-alone lightning-nan optuna-some anthropic-right openai-policy requests-cut httpx-silent
    group-502 hub-503"
for name in ${@:-$all}; do make "$name"; done
"$venv/bin/pip" list --format freeze 2>/dev/null |
    grep -E '^(torch|deepspeed|ray|dask|distributed|lightning|optuna|openai|anthropic|requests|httpx|huggingface_hub)==' >VERSIONS
"$venv/bin/python" --version >>VERSIONS
