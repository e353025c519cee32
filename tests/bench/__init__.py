"""`make bench`: the program's speed beside floors of the same run (docs/performance.md)."""
