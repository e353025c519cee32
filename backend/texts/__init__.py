"""Parse pasted text into cipher results, and results into run documents, in pure Python.

`read.read_text` is the entry point. `recognisers` lists every format of a line with an example;
`fold` combines their events; `sections` groups the results by host and environment.
"""
