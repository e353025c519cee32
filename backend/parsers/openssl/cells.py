"""Bars on a line: of a Markdown table, of a frame, or between tables that stand side by side."""

BARS_LIMIT = 64
"""Bars of a line that divide anything: several times what any table has."""


def cells_of(text: str) -> list[str]:
    """What stands between the bars of a line, without the outer ones; nothing if too many do."""
    if text.count("|") > BARS_LIMIT:
        return []
    inner = text.strip().removeprefix("|").removesuffix("|")
    return [" ".join(cell.split()) for cell in inner.split("|")]
