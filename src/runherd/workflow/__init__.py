"""The seam to Snakemake: what the Snakefile calls, and the private attributes that this needs."""
