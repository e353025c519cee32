"""What figures mean: run documents, statistics, normalisation, verdicts. Imports no Django."""
