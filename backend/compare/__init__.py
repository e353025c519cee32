"""Compare hosts: query, results of hosts, pages, API and exports."""
