"""Baselines, speed indices and the reference profiles that rates are normalised by."""
