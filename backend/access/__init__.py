"""Who may do what, and what of it is noted: roles, tokens, limits, the audit log."""
