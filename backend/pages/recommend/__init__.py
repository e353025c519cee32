"""The recommendation page."""
