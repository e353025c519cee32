"""Manage roles, API tokens, sign-in and the audit log."""
