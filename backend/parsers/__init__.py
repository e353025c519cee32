"""Text that tools printed, turned into typed figures: pure functions, no Django.

`read_text` is the way in; one module a format. Nothing here raises for any text: what is not
understood is listed, with its line.
"""
