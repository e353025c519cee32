"""Lists and tables of ciphers with a rate each."""
