"""Runs: uploaded, stored as received, turned into rows, listed."""
