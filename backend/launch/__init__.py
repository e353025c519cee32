"""Starts, tests, measures and cleans the project: what stands behind `make`'s targets.

Own code rather than a process manager (honcho, circus, supervisor): none of them waits for
readiness, ends what a killed predecessor left, or says in one sentence which part failed and why.
"""
