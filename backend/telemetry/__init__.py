"""What processes tell of themselves while they work: log lines, counters, signs of life."""
