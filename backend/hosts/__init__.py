"""Manage hosts: identity, lists, edits, history and comparison."""
