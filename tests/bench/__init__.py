"""`make bench`: the program's speed beside floors measured in the same run (docs/performance.md)."""
