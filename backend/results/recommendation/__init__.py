"""Which cipher ssh should use."""
