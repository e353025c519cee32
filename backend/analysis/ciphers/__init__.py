"""Ciphers: what is known of each, their order, and which of them ssh should use."""
