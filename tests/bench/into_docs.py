"""Generated parts of the documentation, between two marks in a page."""

import json
import sys
from pathlib import Path

from launch import paths
from tests.bench.figures import shown

DOCS = paths.PROJECT / "docs"


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


def newest(results: Path) -> str:
    """The table of a file that `make bench` wrote."""
    rows = []
    for one in json.loads(results.read_text("utf-8")):
        figures = [shown(one[name]) for name in ("value", "floor", "ratio")]
        ok = {True: "yes", False: "**no**", None: ""}[one["ok"]]
        rows.append([one["name"].replace("|", "\\|"), *figures, one["unit"], one["bar"], ok])
    return markdown_table(["figure", "value", "floor", "ratio", "unit", "bar", "within"], rows)


def main() -> None:
    """`python -m tests.bench.into_docs .data/bench.json`: the newest table of performance.md."""
    replace_part(DOCS / "performance.md", "newest", newest(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
