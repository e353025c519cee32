from django.dispatch import Signal

run_rejected = Signal()
"""Sent in the transaction that rejects a run, with `run`."""

runs_changed = Signal()
"""Sent in a transaction after which other runs of a host count, or count otherwise."""
