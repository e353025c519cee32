"""Hosts: who they are, what is said of them."""
