"""Runs: what arrives, how it is listed."""
