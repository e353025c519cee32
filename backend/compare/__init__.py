"""Comparisons of hosts: the question, the votes, pages, API and files."""
