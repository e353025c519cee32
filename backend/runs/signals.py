from django.dispatch import Signal

run_rejected = Signal()
"""Signal sent with `run` in the transaction that rejects it."""

runs_changed = Signal()
"""Signal sent in a transaction that changes the visible runs of a host."""
