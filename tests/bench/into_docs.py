"""Generated parts of the documentation, between two marks in a page."""

from pathlib import Path

from launch import places

DOCS = places.PROJECT / "docs"


def replace_part(page: Path, name: str, text: str) -> None:
    """Put the text between `<!-- NAME -->` and `<!-- /NAME -->`, which the page has once."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.read_text("utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise AssertionError(f"{page} lacks {begin} or {end}")
    page.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}", "utf-8")


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A table; every column but the first is of numbers."""
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))
