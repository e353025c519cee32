# Everything begins in backend/config/launch/bootstrap.py; make only finds a Python.
# Settings: PYTHON=, PORT=, MEASURE=, CIPHERMARK_DATA_DIR= ... see docs/operations.md.

LAUNCH = @python=$$(sh backend/config/launch/find_python.sh) && exec "$$python" backend/config/launch/bootstrap.py

UV = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make requirements'

.DEFAULT_GOAL := help
.PHONY: help run check test portable bench side-by-side lint types requirements clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1@/p' Makefile | while IFS=@ read -r target text; do printf '%-18s %s\n' "$$target" "$$text"; done

run: ## Start the site on PORT (8000), measure this machine once (MEASURE=0: not, 1: again)
	$(LAUNCH) run

check: ## Within a minute: lint, types, tests of pure packages and of what changed
	$(LAUNCH) check

test: ## Everything on one Python: lint, types, Python, agent, browser and frontend tests
	$(LAUNCH) test

portable: ## What depends on the Python: pure packages, agent, one start with an upload (PYTHON=)
	$(LAUNCH) portable

bench: ## Ratios of speed beside floors of this machine, in .data/bench.json (BENCH_SIZE=0.5m|4.8m|20m)
	$(LAUNCH) bench

side-by-side: ## The agent's ssh figures against a pipeline typed by hand (ARGS="--pairs 24 NAME ...")
	.venv/bin/python tests/agent/side_by_side.py $(ARGS)

lint: ## ruff: rules and format
	$(LAUNCH) lint

types: ## mypy and tsc
	$(LAUNCH) types

requirements: ## requirements*.txt, with hashes, from the requirements*.in
	$(LAUNCH) environment
	$(UV) requirements.in -o requirements.txt
	$(UV) requirements-dev.in -c requirements.txt -o requirements-dev.txt

clean: ## Remove what can be built again: .venv, node_modules, dist, caches (DATA=1: the data too)
	$(LAUNCH) clean
