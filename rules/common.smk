# The plan of this invocation, and the slots it offers. Every rule takes its inputs and outputs from HERD.
from runherd.workflow.parse import open_herd

HERD = open_herd(workflow, config)


# Targets typed by name whose step is not due say so.
for name, reason in HERD.nothing_to_do():

    rule:
        name:
            name
        input:
            HERD.hook,
        localrule: True
        params:
            reason=reason,
        message:
            "{params.reason}"
        shell:
            "printf '%s\\n' {params.reason:q}"


# A grid row as a whole: all its sub-runs.
for name, stamps in HERD.groups():

    rule:
        name:
            name
        input:
            HERD.hook,
            stamps,
        localrule: True
        message:
            "all sub-runs"
        shell:
            "true"
