"""Recommend ssh ciphers: computation, API and page."""
