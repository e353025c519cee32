"""Reference profiles on pages."""
