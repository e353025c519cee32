"""Compute statistics, normalisation and verdicts from run documents, without Django."""
