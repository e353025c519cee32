"""Serve `/upload/`: preview what a text or a run document holds, select, correct, save."""
