"""Parse pasted text into figures of cipher speed, and figures into run documents. Pure Python.

`read.read_text` is the entry point. `recognisers` lists every format of a line with an example;
`fold` combines their events; `sections` groups the figures by machine and environment.
"""
