from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from uuid import UUID

from django.contrib.auth.models import User
from django.http import QueryDict

from runs.importing import FACTS, ImportRequest, store_import, understand
from runs.views.receiving import pack
from runs.views.upload_forms import SectionForm
from runs.views.upload_rows import LINE_LENGTH, Row, grouped, line_ranges, place_of, shorten
from texts.documents import MAX_RUNS, Corrections, Selection, is_selected, section_keys
from texts.types import Figure, Remark

MOST_ROWS = 5_000
"""Maximum number of rows for a text.

In each section, one checkbox selects all further results that are not uncertain.
"""
NEAREST = 10


class TextPreview:
    problem = ""

    def __init__(self, name: str, number: int, request: ImportRequest, data: QueryDict) -> None:
        self.name, self.number, self.request, self.data = name, number, request, data
        self.packed, self.take = pack(request.body), f"{number}-take"
        self.understood = understand(request)
        self.lines = self.understood.text.split("\n")
        self.places: dict[int, int] = {}
        self.sections = self._sections()
        self._add_rows()

    def _sections(self) -> dict[str, SectionForm]:
        sections = self.understood.reading.sections[:MAX_RUNS]
        said, forms, earlier = self.request.corrections, dict[str, SectionForm](), dict[str, str]()
        for key, section in zip(section_keys(sections), sections, strict=True):
            prefix = f"{self.number}-{key}"
            is_sent = any(f"{prefix}-{name}" in self.data for name in FACTS)
            stored = asdict(said.get(key) or said.get("") or Corrections())
            form = SectionForm(
                section,
                dict(earlier),
                {**stored, "same_as": self.request.joined.get(key)},
                data=self.data if is_sent else None,
                prefix=prefix,
            )
            forms[key] = form
            earlier[key] = f"Section {len(forms)} ({form.label})"
        return forms

    def _add_rows(self) -> None:
        room = MOST_ROWS
        for form in self.sections.values():
            groups = grouped(form.section.figures)
            form.rows = [self._row(figures, form.assumed) for figures in groups[:room]]
            left = [figure for figures in groups[room:] for figure in figures]
            rest = [figure for figure in left if not figure.uncertain]
            form.rest = Row(rest, ticked=bool(rest) and is_selected(rest[0], self.ticked))
            room = max(0, room - len(groups))

    def _row(self, figures: Sequence[Figure], assumed: Sequence[str]) -> Row:
        first = figures[0]
        line = self.lines[first.line - 1]
        if len(line) > LINE_LENGTH:
            place = place_of(first.cipher, line, self.places.get(first.line, 0))
            self.places[first.line] = place + 1
        own = [words for words in first.assumed if words not in assumed]
        return Row(
            figures,
            shorten(line, self.places.get(first.line, 0)),
            is_selected(first, self.ticked),
            own,
        )

    @property
    def fields(self) -> int:
        return sum(len(form.rows) + len(form.fields) for form in self.sections.values())

    @cached_property
    def ticked(self) -> Selection:
        if "save" not in self.data:
            return self.request.selection
        boxes = self.data.getlist(self.take)
        return frozenset(key for box in boxes for key in box.split(","))

    @cached_property
    def chosen(self) -> frozenset[str]:
        shown = (figure for form in self.sections.values() for figure in form.section.figures)
        return frozenset(figure.key for figure in shown if is_selected(figure, self.ticked))

    def is_valid(self) -> bool:
        """Validate all forms. A section with selected results requires a host name."""
        forms = self.sections
        if [key for key, form in forms.items() if not form.is_valid()]:
            return False
        for key, form in forms.items():
            root = forms[self._root(key)]
            is_used = any(figure.key in self.chosen for figure in form.section.figures)
            if is_used and not root.errors and not root.cleaned_data["host"]:
                root.add_error("host", "Enter a host name.")
                root.fields["host"].widget.attrs["autofocus"] = True
        return not any(form.errors for form in forms.values())

    def _root(self, key: str) -> str:
        """Return the key of the section with the host name, by following "Same host as"."""
        earlier = self.sections[key].cleaned_data.get("same_as")
        return self._root(earlier) if earlier else key

    def answered(self) -> ImportRequest:
        """Return the import request with the choices in the form. Call `is_valid` first."""
        figures = list(self.understood.reading.figures())
        certain = frozenset(figure.key for figure in figures if not figure.uncertain)
        selection: Selection = "all" if len(self.chosen) == len(figures) else self.chosen
        selection = "certain" if self.chosen == certain else selection
        said = {key: form.corrections() for key, form in self.sections.items()}
        joins = {key: form.cleaned_data.get("same_as") for key, form in self.sections.items()}
        joined = {key: earlier for key, earlier in joins.items() if earlier}
        kept = {key: words for key, words in said.items() if key not in joined}
        own = {key: words for key, words in kept.items() if words != Corrections()}
        return replace(self.request, selection=selection, corrections=own, joined=joined)

    def save(self, person: User) -> UUID:
        return store_import(self.answered(), person=person).import_id

    @property
    def nearest(self) -> Iterator[tuple[Remark, str]]:
        """Yield the lines that resemble a result most, each with a remark on the line."""
        for remark in self.understood.reading.remarks[:NEAREST]:
            yield remark, shorten(self.lines[remark.line - 1])

    @property
    def unrecognised(self) -> str:
        return line_ranges([line.line for line in self.understood.reading.unrecognised])

    @property
    def without_result(self) -> int:
        reading = self.understood.reading
        remarks = {remark.line for remark in reading.remarks}
        return len(remarks | {line.line for line in reading.unrecognised})
