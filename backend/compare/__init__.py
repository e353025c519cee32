"""Compare hosts: query, votes, pages, API and exports."""
