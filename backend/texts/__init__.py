"""Read pasted text: lines to figures of cipher speed, figures to run documents. Pure Python.

`read.read_text` is the way in. `recognisers` lists every shape of line with an example; `fold`
joins what they yield; `sections` groups the figures by machine and environment.
"""
