"""All reads: from tables to plain values."""
