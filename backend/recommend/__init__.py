"""Which cipher ssh should use: the answer, its API and its page."""
