"""The charts of the compare page: which there are, what each draws, and its table."""
