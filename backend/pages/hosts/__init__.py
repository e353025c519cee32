"""Hosts, runs and differences between two of them."""
