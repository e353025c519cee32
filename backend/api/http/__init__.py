"""What all addresses of the API share: rights, errors, pages of lists, conditions."""
