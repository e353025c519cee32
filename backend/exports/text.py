"""Text from outside, made harmless for spreadsheet programs."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

CELL_CHARACTERS = 32_767
"""The most that a cell of a spreadsheet holds, in UTF-16 units."""

ILLEGAL_IN_XML = "".join((*map(chr, (*range(1, 9), 11, 12, *range(14, 32))), "\ufffe", "\uffff"))
"""Characters (without NUL, which no text of ours can have) that XML 1.0 cannot express."""

REPLACEMENT = "\ufffd"
"""Stands where a character was that cannot be."""

_ILLEGAL = str.maketrans(dict.fromkeys(ILLEGAL_IN_XML + "\0", REPLACEMENT))


def inert(text: str) -> str:
    """The text, with an apostrophe before what a spreadsheet would take for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text


def for_cell(text: str) -> str:
    """The text as a cell of a workbook can hold it; what is too long ends in an ellipsis."""
    legal = text.translate(_ILLEGAL)
    if len(legal.encode("utf-16-le")) // 2 <= CELL_CHARACTERS:
        return legal
    cut = legal.encode("utf-16-le")[: 2 * (CELL_CHARACTERS - 1)]
    return cut.decode("utf-16-le", "ignore") + "…"
