"""Whole reports of sbc-bench: their OpenSSL table with the board it was measured on."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime

from parsers.lines import Line
from parsers.openssl.build_facts import read_version
from parsers.openssl.cipher_names import canonical_cipher, kind_of
from parsers.openssl.lines import Printed, printed_lines
from parsers.openssl.tables import Header, Row, assumed_header, columns_of, read_header, read_row
from parsers.sbc_bench.facts import BoardFacts
from parsers.types import Figure, Format, Part, Remark, Section

_TITLE = re.compile(r"[#>* ]{0,6}sbc-bench v\d[\w.]*(?= |$)")
_DATE = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")
_RULE = re.compile(r"#{60,}")
_TOOLS = re.compile(r"tinymembench v|7-Zip \(|Distributor ID:|System health while running ")
DEVICE_LIMIT = 100
"""Characters of a device's name that are kept."""
ECHO_REACH = 64
"""Rows among which a row of the review finds the one that it repeats."""
TOOLS_NEEDED = 3
"""Marks of a report that a text without its title must have."""

_THOUSANDS = re.compile(r"\d\.\d\dk")
_TWICE = re.compile(r"Executing benchmark twice on cluster \d+(?: \((?P<core>.+)\))?")
_EACH = re.compile(r"Executing benchmark on each cluster|Executing \w+ on a (?:little|big) core")
_TRIES_OF_ONE_CLUSTER = 2


@dataclass
class _Report:
    """What one report says; `rows` in the order of its table."""

    line: int
    device: str | None = None
    started_at: str | None = None
    facts: BoardFacts = field(default_factory=BoardFacts)
    version: str | None = None
    header: Header | None = None
    rows: list[tuple[int, Row]] = field(default_factory=list)
    echoes: list[int] = field(default_factory=list)
    clusters: bool = False
    """Whether each cluster of cores was measured, one row after the other."""
    twice: bool = False
    """Whether the report says that one cluster was measured twice."""
    core: str | None = None


def read_sbc_bench(lines: Sequence[Line]) -> Part | None:
    """The figures of all sbc-bench reports in a text; None if it is none."""
    if not is_report(lines):
        return None
    reports: list[_Report] = []
    understood: set[int] = set()
    for printed in printed_lines(lines):
        title = _TITLE.match(printed.text)
        if title is not None or not reports:
            if title is None and not _TOOLS.match(printed.text):
                continue
            reports.append(_begun(printed, title))
        # A report is understood as a whole: what other tools measured is known to be that.
        understood.update(printed.numbers)
        _take_in(reports[-1], printed)
    remarks: list[Remark] = []
    sections = tuple(
        section for report in reports for section in _Evaluation(report, remarks).sections()
    )
    format: Format | None = "sbc-bench" if sections else None
    return Part(sections, frozenset(understood), tuple(remarks), format)


def is_report(lines: Sequence[Line]) -> bool:
    """Whether there is a report of sbc-bench in a text."""
    titled = any(
        line.text.lstrip("#>* ").startswith("sbc-bench v") and _TITLE.match(line.text)
        for line in lines
    )
    ruled = any(_RULE.fullmatch(line.text.strip()) for line in lines)
    found = {mark[0] for line in lines if (mark := _TOOLS.match(line.text))}
    return (titled and (ruled or bool(found))) or len(found) >= TOOLS_NEEDED


def _begun(printed: Printed, title: re.Match[str] | None) -> _Report:
    report = _Report(printed.line)
    if title is not None:
        rest = printed.text[title.end() :]
        date = _DATE.search(rest)
        device = rest[: date.start()] if date else rest
        report.device = " ".join(device.split()).strip("-( ")[:DEVICE_LIMIT] or None
        report.started_at = _utc(date[0] if date else None)
    return report


def _utc(date: str | None) -> str | None:
    if date is None:
        return None
    try:
        return parsedate_to_datetime(date).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return None


def _take_in(report: _Report, printed: Printed) -> None:
    text = printed.text
    twice = _TWICE.match(text)
    if twice is not None and not report.rows:
        report.clusters, report.twice, report.core = False, True, twice["core"]
    elif _EACH.match(text) and not report.rows:
        report.clusters = True
    elif header := read_header(text):
        report.header = header
    elif (row := _row(text)) and kind_of(row.label) == "cipher":
        _take_row(report, printed.line, row)
    elif version := (read_version(text) if "SSL" in text else None):
        report.version = report.version or version
    else:
        report.facts.read(text)


def _row(text: str) -> Row | None:
    """A row of figures: other tools of the report print none in thousands with decimals."""
    return read_row(text) if "k" in text and _THOUSANDS.search(text) else None


def _take_row(report: _Report, line: int, row: Row) -> None:
    """A row of the table, or its echo in the review at the report's end."""
    values = tuple(cell.text for cell in row.cells)
    if any(
        values == tuple(cell.text for cell in seen.cells) for _, seen in report.rows[-ECHO_REACH:]
    ):
        report.echoes.append(line)
    else:
        report.rows.append((line, row))


class _Evaluation:
    """Makes sections of a report: one a cluster of cores, or one where there is but one."""

    def __init__(self, report: _Report, remarks: list[Remark]) -> None:
        self.report = report
        self.remarks = remarks
        alone = [row for _, row in report.rows if "parallel" not in row.rest]
        most = max(Counter(row.label for row in alone).values(), default=0)
        named = any(_note(row) for _, row in report.rows)
        tries = report.twice or most <= _TRIES_OF_ONE_CLUSTER
        self.apart = report.clusters or named or not tries
        self.parallel = sum("parallel" in row.rest for _, row in report.rows)

    def sections(self) -> Iterator[Section]:
        """All sections of the report."""
        parts: dict[tuple[int, bool], list[tuple[int, Row]]] = {}
        seen: Counter[str] = Counter()
        for line, row in self.report.rows:
            parallel = "parallel" in row.rest
            number = seen[row.label] if self.apart and not parallel else 0
            seen[row.label] += not parallel
            parts.setdefault((number, parallel), []).append((line, row))
        for (number, parallel), rows in parts.items():
            section = self._section(number, parallel, rows)
            if section is not None:
                yield section
        if self.report.echoes:
            detail = f"{len(self.report.echoes)} rows of the review repeat the table."
            self.remarks.append(Remark(self.report.echoes[0], "repeated", detail))

    def _section(self, number: int, parallel: bool, rows: list[tuple[int, Row]]) -> Section | None:
        figures = tuple(figure for line, row in rows for figure in self._figures(line, row))
        if not figures:
            return None
        report = self.report
        note = None if parallel else next((_note(row) for _, row in rows if _note(row)), None)
        core = note or report.core or (report.facts.core_of(number) if self.apart else None)
        label = f"CPU cluster {number + 1}" if self.apart and not parallel else None
        if parallel:
            label = f"all {self.parallel} processes at once"
        elif label and core:
            label = f"{label} ({core})"
        environment = report.facts.environment(core)
        if report.version:
            environment["openssl"] = {"version_text": report.version}
        return Section(
            line=rows[0][0],
            figures=figures,
            environment=environment,
            host=report.device,
            label=label,
            part=label if number or (self.apart and not parallel) else None,
            started_at=report.started_at,
        )

    def _figures(self, line: int, row: Row) -> Iterator[Figure]:
        cipher = canonical_cipher(row.label)
        header = self.report.header or assumed_header(len(row.cells))
        if cipher is None or header is None:
            return
        if len(row.cells) < len(header.blocks):
            self.remarks.append(Remark(line, "damaged", f"{row.label}: this row is cut."))
        parallel = "parallel" in row.rest
        for cell, block in zip(row.cells, columns_of(row, header), strict=False):
            if cell.rate is None or block is None:
                code = cell.fault or "damaged"
                detail = f"{row.label}: the figure {cell.text[:20]!r} is not used."
                self.remarks.append(Remark(line, code, detail))
                continue
            yield Figure(
                line=line,
                tool="openssl",
                cipher=cipher,
                label=row.label,
                bytes_per_second=cell.rate,
                block_size=block,
                threads=self.parallel if parallel else 1,
                implausible=self._one_of_many() if parallel else None,
            )

    def _one_of_many(self) -> str | None:
        """Why a row of a parallel test is not what its number of threads promises."""
        if self.parallel == 1:
            return None
        return f"It is the rate of one of {self.parallel} processes at once, not their sum."


def _note(row: Row) -> str | None:
    """The kind of core that a row names after its figures."""
    note = row.rest.strip("() ")
    return note[:100] if row.rest.startswith("(") and "parallel" not in note else None
