"""Shell commands in a text of ssh transfers."""
