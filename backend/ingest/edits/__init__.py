"""Stored runs and hosts change or go, and what is derived from them follows."""
