"""Read a text from its characters to sections of figures."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from texts.ciphers import ABOUT_SSH
from texts.events import Event
from texts.fold import Fold
from texts.lines import Line, lines_of
from texts.recognisers import recognise
from texts.sections import sections_of
from texts.tables import events_of_tables
from texts.types import Format, Hints, Reading, Section, Unrecognised

SHOWN = 500


def read_text(text: str, hints: Hints | None = None) -> Reading:
    """Return every figure of a text by machine, and every line without one. Raises nothing."""
    fold = Fold(hints or Hints(), is_about_ssh=bool(ABOUT_SSH.search(text)))
    lines = lines_of(text)
    fold.read(_events(lines))
    context = fold.context
    sections = sorted(sections_of(context.groups), key=lambda section: section.line)
    if hints and hints.format:
        sections = list(_of_format(sections, hints.format))
    remarks = sorted(context.remarks, key=lambda remark: (remark.line, remark.code))
    left = sorted(context.unrecognised.items())
    unrecognised = tuple(Unrecognised(number, given[:SHOWN]) for number, given in left)
    return Reading(_format(sections, hints), tuple(sections), unrecognised, tuple(remarks))


def _events(lines: list[Line]) -> Iterator[tuple[Line, Iterator[Event]]]:
    tables = events_of_tables(lines)
    for index, line in enumerate(lines):
        found = tables.get(index)
        yield line, (iter(found) if found is not None else recognise(line))


def _of_format(sections: list[Section], wanted: Format) -> Iterator[Section]:
    name = "openssl-speed" if wanted == "sbc-bench" else wanted
    for section in sections:
        figures = tuple(figure for figure in section.figures if figure.format == name)
        if figures:
            yield replace(section, figures=figures)


def _format(sections: list[Section], hints: Hints | None) -> Format | None:
    counts = Counter(figure.format for section in sections for figure in section.figures)
    wanted = hints.format if hints else None
    return (wanted or counts.most_common(1)[0][0]) if counts else None
