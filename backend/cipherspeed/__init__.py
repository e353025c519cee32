"""Run documents, statistics, normalisation and verdicts. Imports no Django."""
