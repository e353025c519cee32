"""A document or text becomes rows."""
