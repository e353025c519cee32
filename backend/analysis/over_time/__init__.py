"""What changed: in a history, or between two runs."""
