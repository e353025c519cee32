"""A made-up fleet with a fixed seed: plan, documents, rows, and the check that they agree."""
