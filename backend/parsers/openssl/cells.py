"""Bars on a line: of a Markdown table, of a frame, or between tables that stand side by side."""


def cells_of(text: str) -> list[str]:
    """What stands between the bars of a line, without the outer ones."""
    inner = text.strip().removeprefix("|").removesuffix("|")
    return [" ".join(cell.split()) for cell in inner.split("|")]
