# in:  preflight, barrier, the gate of the stage before, needs   out: stamps and published copies
# The job only starts or attaches to a detached supervisor and waits: ending it ends no run.
for run in HERD.runs():

    rule:
        name:
            f"run_{run.slug}"
        input:
            HERD.hook,
            HERD.run_inputs(run),
        output:
            HERD.stamp("run", run),
        log:
            HERD.log("run", run.slug),
        localrule: HERD.waits_here(run)
        threads: HERD.threads(run)
        resources:
            **HERD.wants(run),
            gpu=run.gpus,
            run_cpus=HERD.cores(run),
            runs=1,
        params:
            python=HERD.python,
            script=HERD.script("launch"),
            run_id=run.run_id,
            gen=run.gen,
            only="--only-wait" if HERD.waits_here(run) else "",
        message:
            "run {params.run_id} (generation {params.gen})"
        shell:
            "exec {params.python:q} {params.script:q} {params.run_id:q} --generation {params.gen} {params.only}"
            " --stamp {output:q} > {log:q} 2>&1"


for run in HERD.validations():

    rule:
        name:
            f"validate_{run.slug}"
        input:
            HERD.hook,
            HERD.validate_inputs(run),
        output:
            HERD.validate_outputs(run),
            stamp=HERD.stamp("validated", run),
        log:
            HERD.log("validate", run.slug),
        localrule: True
        params:
            python=HERD.python,
            script=HERD.script("validate"),
            run_id=run.run_id,
            gen=run.gen,
        message:
            "records of {params.run_id}"
        shell:
            "exec {params.python:q} {params.script:q} {params.run_id:q} --publish --stamp {output.stamp:q} > {log:q} 2>&1"
