import re
from pathlib import Path

PROJECT = Path(__file__).parent.parent
WORDS = (
    *("anew", "told", "tells", "lends?", "lending", "mend(?:s|ed)?", "nobody", "whoever"),
    *("passed over", "in passing", "of which", "stands", "by itself", "scatters?"),
    *("e-mails?", "web hooks?", "somebody", "anybody", "as ever"),
)
BANNED = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)
FOLDERS = ("agent", "backend", "docs", "frontend/src")
SUFFIXES = {".py", ".html", ".md", ".ts", ".css"}


def test_no_text_uses_a_banned_word() -> None:
    files = [path for folder in FOLDERS for path in (PROJECT / folder).rglob("*")]
    found = [
        f"{path.relative_to(PROJECT)}:{number}: {line.strip()}"
        for path in (*files, PROJECT / "README.md", PROJECT / "CONTRIBUTING.md")
        if path.suffix in SUFFIXES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if BANNED.search(line)
    ]
    assert not found, "\n".join(found)
