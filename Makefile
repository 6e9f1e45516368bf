# make demo   the bundled experiment, end to end, in .demo/ (the checkout stays clean)
# make test   every check and test that CI runs
# make chaos  kill parts of runherd N times at random moments (N=300), and report
# All need Python 3.11 or newer with venv, git and make; what else they need goes into .venv.

# The first Python here that is new enough. Another one: make PYTHON=/path/to/python3 ...
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(abspath $(VENV))/bin
DEMO := .demo
PYTEST_ARGS ?=

N ?= 300

.PHONY: help demo test lint chaos clean

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

# -- environment: installed anew only when pyproject.toml changes ---------------
$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name one: make PYTHON=..." >&2; exit 2; }
	@echo "making $(VENV) with $(PYTHON)"
	@"$(PYTHON)" -m venv $(VENV)

$(VENV)/.with-%: pyproject.toml | $(VENV)/bin/python
	@echo "installing runherd[$*] into $(VENV)"
	@"$(BIN)/python" -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	@touch $@

# -- the bundled experiment -------------------------------------------------------
# A repository of its own with one commit, as a user's would be: the gates' criteria count as committed.
demo: $(VENV)/.with-example | $(DEMO)/.git
	@cd $(DEMO) && PATH="$(BIN):$$PATH" snakemake
	@echo
	@echo "Look at:  $(DEMO)/tracker/EXPERIMENT_TRACKER.md   what every run came to"
	@echo "          $(DEMO)/report/index.html               the same as a page"
	@echo "          $(DEMO)/gates/                          why each stage passed"
	@echo "Or:       source $(VENV)/bin/activate; cd $(DEMO); runherd status"

$(DEMO)/.git: | $(VENV)/.with-example
	@rm -rf $(DEMO) && mkdir -p $(DEMO)/configs
	@cp -R tracker examples $(DEMO)/ && cp -R configs/project.yaml configs/runs $(DEMO)/configs/
	@cd $(DEMO) && git init --quiet && "$(BIN)/runherd" init --yes
	@cd $(DEMO) && git add --all && \
	git -c user.name=runherd -c user.email=runherd@localhost -c commit.gpgsign=false \
	commit --quiet --no-verify -m "The bundled example"

# -- checks and tests ---------------------------------------------------------------
test: lint
	@PATH="$(BIN):$$PATH" python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.with-test,example
	"$(BIN)/ruff" check
	"$(BIN)/mypy"
	"$(BIN)/snakefmt" --check Snakefile rules
	"$(BIN)/codespell"
	"$(BIN)/python" .ci/lint_workflow.py

# -- killing it ------------------------------------------------------------------------
# First with locks that lock nothing: the harness must see doubles, else its silence proves nothing.
chaos: $(VENV)/.with-test,example
	@cd tests && PYTHONPATH="$(CURDIR)/src" "$(BIN)/python" -m chaos --kills 20 --without-leases
	@cd tests && PYTHONPATH="$(CURDIR)/src" "$(BIN)/python" -m chaos --kills $(N)

clean:
	rm -rf $(VENV) $(DEMO)
