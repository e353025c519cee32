"""Measure the speed of SSH and OpenSSL ciphers on this machine."""

__version__ = "1.0.0"
