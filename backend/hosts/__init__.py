"""Hosts: identity, lists, edits, history, side by side."""
