"""Detect, list and notify of changes in the fleet."""
