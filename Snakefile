# runherd: one set of rules per row of the tracker, one gate per stage.
# What is due is decided from tracker, layers and ledgers: see docs/ARCHITECTURE.md.
from snakemake.utils import min_version

min_version("9.27")


include: "rules/common.smk"
include: "rules/preflight.smk"
include: "rules/dryrun.smk"
include: "rules/run.smk"
include: "rules/gate.smk"
include: "rules/report.smk"


rule all:
    default_target: True
    input:
        HERD.hook,
        HERD.all_inputs(),
