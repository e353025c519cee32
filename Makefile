# make only finds a Python and runs backend/config/launch/bootstrap.py.
# Settings: PYTHON=, PORT=, MEASURE=, CIPHERMARK_DATA_DIR= ... see docs/operations.md.

LAUNCH = @python=$$(sh backend/config/launch/find_python.sh) && exec "$$python" backend/config/launch/bootstrap.py

UV = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make requirements'

.DEFAULT_GOAL := help
.PHONY: help run check test portable bench side-by-side lint types requirements clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1@/p' Makefile | while IFS=@ read -r target text; do printf '%-18s %s\n' "$$target" "$$text"; done

run: ## Start the site on PORT (8000) and measure this machine once (MEASURE=0: never, 1: again)
	$(LAUNCH) run

check: ## Run lint, types and the tests of changed folders (a minute)
	$(LAUNCH) check

test: ## Run everything: lint, types, Python, agent, browser and frontend tests
	$(LAUNCH) test

portable: ## Run the tests that depend on the Python version (PYTHON=)
	$(LAUNCH) portable

bench: ## Run benchmarks and write .data/bench.json (BENCH_SIZE=0.5m|4.8m|20m)
	$(LAUNCH) bench

side-by-side: ## Compare the agent's ssh results with a hand-typed pipeline (ARGS="--pairs 24 NAME ...")
	.venv/bin/python tests/agent/side_by_side.py $(ARGS)

lint: ## Run ruff
	$(LAUNCH) lint

types: ## Run mypy and tsc
	$(LAUNCH) types

requirements: ## Update requirements*.txt with hashes from requirements*.in
	$(LAUNCH) environment
	$(UV) requirements.in -o requirements.txt
	$(UV) requirements-dev.in -c requirements.txt -o requirements-dev.txt

clean: ## Remove build results: .venv, node_modules, dist, caches (DATA=1: the data too)
	$(LAUNCH) clean
