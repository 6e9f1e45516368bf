# in:  preflight   out: a stamp per run; all of them meet at one barrier before the first run
# A dry-run that fails exits 0 and records it: its run is then BLOCKED, and nothing else stops.
for run in HERD.dryruns():

    rule:
        name:
            f"dryrun_{run.slug}"
        input:
            HERD.hook,
            HERD.dryrun_inputs(run),
        output:
            HERD.stamp("dryrun", run),
        log:
            HERD.log("dryrun", run.slug),
        localrule: HERD.tried_here(run)
        params:
            python=HERD.python,
            script=HERD.script("dry_run"),
            run_id=run.run_id,
            gen=run.gen,
        message:
            "dry-run of {params.run_id}"
        shell:
            "exec {params.python:q} {params.script:q} {params.run_id:q} --generation {params.gen}"
            " --stamp {output:q} > {log:q} 2>&1"


rule dryruns:
    input:
        HERD.barrier_inputs,
    output:
        temp(HERD.barrier),
    localrule: True
    shell:
        "touch {output:q}"
