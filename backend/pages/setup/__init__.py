"""What measures a newcomer's machines: one, or many."""
