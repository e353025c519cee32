"""Set-up of make targets, and the processes of `make run`."""
