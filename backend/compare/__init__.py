"""Comparisons of hosts: query, votes, pages, API and exports."""
