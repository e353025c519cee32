"""What an address asks for: parameters checked and named, for API, pages and files alike."""
