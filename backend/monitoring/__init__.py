"""What an operator asks of the whole site: is it well, and where not."""
