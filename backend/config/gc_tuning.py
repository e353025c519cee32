"""How often Python looks for garbage that refers to itself, in processes that serve."""

import gc

NEW_OBJECTS = 50_000
"""New objects between two looks at them, instead of 700.

An answer about ten thousand machines makes hundreds of thousands of objects, none of them
garbage before it is sent: half its time went into looking.
"""


def tune_gc() -> None:
    """Leave alone what the program itself consists of, and look at what requests make seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, 20, 50)
