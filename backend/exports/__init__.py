"""What leaves the building: one list of columns for every format. Pure Python, no Django."""
