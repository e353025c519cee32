"""Fleets of up to ten million hosts, simulated, and what questions about them take.

`make scale` writes each fleet as Parquet and asks the program's own questions of it
(docs/scaling.md).
"""
