"""Signing in: by password, through a provider, by a proxy in front."""
