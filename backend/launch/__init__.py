"""Starts, tests and cleans the project: what stands behind `make run` and `make test`.

Own code rather than a process manager (honcho, circus, supervisor): none of them waits for
readiness, ends what a killed predecessor left, or says in one sentence which part failed and why.
"""
