"""Shared base classes and helpers; health, metrics, documentation, backups."""
