# in:  the plan   out: a temporary mark of this invocation
# Runs whenever a dry-run or a run is due, and never in a no-op.
rule preflight:
    input:
        HERD.hook,
    output:
        temp(HERD.preflight),
    log:
        HERD.log("preflight", "all"),
    localrule: True
    params:
        python=HERD.python,
        script=HERD.script("preflight"),
    message:
        "preflight: environment, paths and configuration"
    shell:
        "exec {params.python:q} {params.script:q} --mark {output:q} > {log:q} 2>&1"
