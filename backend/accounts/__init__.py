"""People: who may do what, tokens, sign-in, the audit log."""
