"""Starts, tests and cleans the project: what stands behind `make run`,
`make test` and `make bench`.

Own code rather than a process manager (honcho, circus, supervisor): none of them waits for
readiness, ends what a killed predecessor left, or says in one sentence which part failed and why.
"""
