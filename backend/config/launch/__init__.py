"""What `make run` starts, and what every make target needs first."""
