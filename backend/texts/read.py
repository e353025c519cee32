from collections import Counter

from texts.ciphers import ABOUT_SSH
from texts.fold import Fold
from texts.lines import lines_of
from texts.recognisers import recognise
from texts.sections import sections_of
from texts.tables import events_of_tables
from texts.types import Hints, Reading, Unrecognised

MAX_SHOWN = 500


def read_text(text: str, hints: Hints | None = None) -> Reading:
    """Parse a text into results by host, and lines without results. Never raise."""
    hints = hints or Hints()
    fold = Fold(hints, is_about_ssh=bool(ABOUT_SSH.search(text)))
    lines = lines_of(text)
    tables = events_of_tables(lines)
    events = (tables[at] if at in tables else recognise(line) for at, line in enumerate(lines))
    fold.read(zip(lines, events, strict=True))
    context = fold.context
    sections = sorted(sections_of(context.groups), key=lambda section: section.line)
    remarks = sorted(context.remarks, key=lambda remark: (remark.line, remark.code))
    left = sorted(context.unrecognised.items())
    unrecognised = tuple(Unrecognised(number, line[:MAX_SHOWN]) for number, line in left)
    formats = Counter(figure.format for section in sections for figure in section.figures)
    usual = (hints.format or formats.most_common(1)[0][0]) if formats else None
    return Reading(usual, tuple(sections), unrecognised, tuple(remarks))
