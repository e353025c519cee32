"""Groups of hosts compared, with their filters."""
