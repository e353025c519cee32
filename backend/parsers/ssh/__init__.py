"""Text around ssh transfers: lists of ciphers, `dd` and `time`, loops of tries."""
