"""Whole reports of sbc-bench, which hold tables of `openssl speed`."""
