"""The compare page and what shows the same: shares."""
