"""Compute statistics from run documents. This package does not depend on Django."""
