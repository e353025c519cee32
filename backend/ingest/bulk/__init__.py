"""Many documents at once: files of them, and the published figures."""
