# Everything starts in one small Python program (backend/launch); make only finds a Python.
# Settings: PYTHON=, PORT=, MEASURE=, CIPHERMARK_DATA_DIR= ... see docs/operations.md.

LAUNCH = @python=$$(sh backend/launch/find_python.sh) && exec "$$python" backend/launch/bootstrap.py

.DEFAULT_GOAL := help
.PHONY: help run check test compat bench lighthouse scale lint types chaos load soak fuzz audit requirements clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1@/p' Makefile | while IFS=@ read -r target text; do printf '%-18s %s\n' "$$target" "$$text"; done

run: ## Start the site on PORT (8000), measure this machine once (MEASURE=0: not, 1: again)
	$(LAUNCH) run

check: ## Within a minute: lint, types, tests of pure packages and of what changed
	$(LAUNCH) check

test: ## Everything on one Python: lint, types, Python, agent, browser and frontend tests
	$(LAUNCH) test

compat: ## What depends on the Python, on the oldest and the newest here (PYTHON=: on that one)
	$(LAUNCH) compat

bench: ## Speed against floors of this machine; BENCH_SIZE=0.5m|4.8m|20m, BENCH_ONLY=4,5
	$(LAUNCH) bench

lighthouse: ## Lighthouse's scores with the data of the bench (BENCH_SIZE=, LIGHTHOUSE_ONLY=compare,host)
	$(LAUNCH) lighthouse

scale: ## Questions to simulated fleets (HOSTS=10000,100000,1000000,10000000, MEMORY_GB=8, KEEP=1)
	$(LAUNCH) scale

lint: ## ruff: rules and format
	$(LAUNCH) lint

types: ## mypy and tsc
	$(LAUNCH) types

chaos: ## Uploads while every part is killed, paused, restarted (SEED=, UPLOADS=2000, CLIENTS=8)
	$(LAUNCH) chaos

load: ## 50 uploads a second beside browsing (RATE=50, DURATION=300 s)
	$(LAUNCH) load

soak: ## Uploads, removals and questions while memory is watched (DURATION=3600 s, RATE=5)
	$(LAUNCH) soak

fuzz: ## The API by its description, mutated documents, random texts (CASES=, DOCUMENTS=, FUZZ_SECONDS=600)
	$(LAUNCH) fuzz

audit: ## Secrets in the repository, known holes of the packages
	$(LAUNCH) audit

requirements: ## requirements*.txt, with hashes, from the requirements*.in
	$(LAUNCH) requirements

clean: ## Remove what can be built again: .venv, node_modules, dist, caches (DATA=1: the data too)
	$(LAUNCH) clean
