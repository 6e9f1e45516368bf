#!/bin/sh
# Writes the logs again: ./make.sh VENV, where VENV has torch. The reports differ in times and process ids.
cd "$(dirname "$0")" || exit 1
venv=$1
for first in key memory; do
    "$venv/bin/torchrun" --nproc_per_node 4 ranks.py "$first" 2>&1 |
        sed -e "s#$venv#/opt/venv#g" -e "s#$PWD#/home/kim/my lab#g" >"torchrun-$first.log"
done
