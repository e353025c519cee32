from django.dispatch import Signal

run_rejected = Signal()
"""Sent with `run`, in the transaction that rejects the run."""

runs_changed = Signal()
"""Sent in a transaction that changes the visible runs of a host."""
