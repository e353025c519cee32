"""Roles, API tokens, sign-in and the audit log."""
