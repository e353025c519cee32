"""Text from outside, made harmless for spreadsheet programs."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def inert(text: str) -> str:
    """The text, with an apostrophe before what a spreadsheet would take for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text
