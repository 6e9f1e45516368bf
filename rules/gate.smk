# in:  the gate before, the stage's runs that hold it   out: gates/<stage>.passed
# The verdict gates/<stage>.json is written whether it passes or not, and is no output: nothing deletes it.
for stage in HERD.plan.stages:

    rule:
        name:
            f"gate_{stage.slug}"
        input:
            HERD.hook,
            HERD.gate_inputs(stage),
        output:
            HERD.gate_passed(stage.name),
        log:
            HERD.log("gate", stage.slug),
        localrule: True
        params:
            python=HERD.python,
            script=HERD.script("gate"),
            stage=stage.name,
        message:
            "gate {params.stage}"
        shell:
            "exec {params.python:q} {params.script:q} {params.stage:q} --passed {output:q} > {log:q} 2>&1"
