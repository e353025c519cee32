"""Measure the SSH and OpenSSL cipher speed of this machine."""

__version__ = "1.0.0"
