"""What comes in: run documents and the environments they describe. Pure Python, no Django."""
