"""`openssl speed`, of every version, with whatever stands around it."""
