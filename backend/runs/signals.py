from django.dispatch import Signal

run_rejected = Signal()
"""Signal with the argument `run`. Sent in the transaction that rejects the run."""

runs_changed = Signal()
"""Signal without arguments. Sent in a transaction that changes the visible runs of a host."""
