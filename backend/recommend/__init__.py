"""Recommendation of ssh ciphers: computation, API and page."""
