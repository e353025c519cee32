# Each target finds a Python and runs backend/config/launch/bootstrap.py with it.
# docs/operations.md lists the settings, such as PYTHON, PORT, MEASURE and CIPHERMARK_DATA_DIR.

LAUNCH = @python=$$(sh backend/config/launch/find_python.sh) && exec "$$python" backend/config/launch/bootstrap.py

UV = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make requirements'

.DEFAULT_GOAL := help
.PHONY: help run check test portable bench side-by-side lint types requirements clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1@/p' Makefile | while IFS=@ read -r target text; do printf '%-18s %s\n' "$$target" "$$text"; done

run: ## Start the site on PORT (default 8000) and measure this machine (MEASURE=0: skip, 1: repeat)
	$(LAUNCH) run

check: ## Check style and types, and run the tests of changed folders (about a minute)
	$(LAUNCH) check

test: ## Run all checks and tests: style, types, Python, agent, frontend and browser
	$(LAUNCH) test

portable: ## Run the tests that depend on the Python version (PYTHON=/path/to/python)
	$(LAUNCH) portable

bench: ## Run benchmarks and write .data/bench.json (BENCH_SIZE=0.5m|4.8m|20m)
	$(LAUNCH) bench

side-by-side: ## Compare the agent's ssh results with a manual pipeline (ARGS="--pairs 24 NAME ...")
	.venv/bin/python tests/agent/side_by_side.py $(ARGS)

lint: ## Check style with ruff
	$(LAUNCH) lint

types: ## Check types with mypy and tsc
	$(LAUNCH) types

requirements: ## Update requirements*.txt from requirements*.in, with hashes
	$(LAUNCH) environment
	$(UV) requirements.in -o requirements.txt
	$(UV) requirements-dev.in -c requirements.txt -o requirements-dev.txt

clean: ## Remove build artifacts: .venv, node_modules, dist and caches (DATA=1 also deletes all data)
	$(LAUNCH) clean
