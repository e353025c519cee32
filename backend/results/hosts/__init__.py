"""Hosts and runs: lists, latest results, history, standings."""
