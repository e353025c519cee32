"""Provide shared base classes, health checks, metrics, documentation and backups."""
