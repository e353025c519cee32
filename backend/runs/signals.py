from django.dispatch import Signal

run_rejected = Signal()
"""Sent in the transaction that rejects a run, with `run`."""
