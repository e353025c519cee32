"""Prepare make targets, and start the processes of `make run`."""
