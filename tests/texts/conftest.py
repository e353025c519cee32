"""Collect tests of the shared corpora only where these exist."""
