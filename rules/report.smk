# in:  whatever there is   out: report/ (also refreshed whenever the controller leaves)
rule report:
    input:
        HERD.hook,
    localrule: True
    params:
        python=HERD.python,
        script=HERD.script("report"),
    message:
        "report"
    shell:
        "exec {params.python:q} {params.script:q}"
