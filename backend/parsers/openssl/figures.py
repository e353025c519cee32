"""From a run of `openssl speed` to its figures, each with its cipher and its block size."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from documents.types import Acceleration, Operation
from parsers.openssl import build_facts
from parsers.openssl.cipher_names import canonical_cipher, is_decryption, kind_of
from parsers.openssl.doing import Count
from parsers.openssl.runs import PrintedRow, Run
from parsers.openssl.tables import (
    CLASSIC_BLOCKS,
    Cell,
    Header,
    Row,
    assumed_header,
    columns_of,
    is_overlong,
)
from parsers.types import Figure, Remark

_SSLEAY_FIRST_BLOCK = 8
_AEAD_BLOCKS = (2, 31, 136, 1024, 8192, 16384)

LIKE_ITS_NEIGHBOURS = 1.25
"""A rate within this factor of those of the block sizes beside it fits them; what an engine makes
of CPU time is many times higher."""

LEAST_CPU_SECONDS = 0.1
"""Printed with two decimals: of less, a rate is not known to a tenth."""

MOST_BYTES = 2**63 - 1
"""More cannot be stored, and was never processed."""

_FAULTS = {
    "zero_rate": "0.00: this algorithm was not measured, or is not built in.",
    "not_a_rate": "A negative or infinite value is no rate.",
    "damaged": "A figure of this row is cut or broken, or not in a column of its own.",
    "no_k": "Figures without a k may be something else than bytes per second here.",
}
_CODES = {"no_k": "not_a_rate"}
"""Codes of remarks for faults that have no code of their own."""


class Placed(NamedTuple):
    """A figure, and how many rows of its run have had its cipher before."""

    figure: Figure
    repetition: int = 0
    note: str | None = None
    """What the row says after its figures: "(Cortex-A76)"."""


@dataclass(frozen=True)
class RunFigures:
    """All that a run yields."""

    placed: tuple[Placed, ...]
    remarks: tuple[Remark, ...]


def flag_impossible(row: Sequence[Figure]) -> list[Figure]:
    """A row with the figures flagged that cannot be: a larger block takes no less time.

    What an engine did is not in the CPU time that a run without -elapsed counts, so its rates can
    be anything. One slow smaller block may be a hiccup; two that took more than twice the time of
    a larger one are none.
    """
    times = [(figure.block_size or 0, _block_seconds(figure)) for figure in row]
    flagged = []
    for figure, (size, seconds) in zip(row, times, strict=True):
        slower = sum(other > 2 * seconds for smaller, other in times if smaller < size)
        if slower >= 2 and not figure.implausible:
            figure = figure._replace(
                implausible=f"{size} bytes would have taken less time than smaller blocks did.",
            )
        flagged.append(figure)
    return flagged


def _block_seconds(figure: Figure) -> float:
    """Seconds for one block."""
    return (figure.block_size or 0) / _rate(figure)


def _rate(figure: Figure) -> float:
    """Bytes per second."""
    return figure.bytes_per_second or (figure.bytes or 0) / (figure.seconds or 1)


def _fits(figure: Figure, sound: Iterable[Figure]) -> bool:
    """Whether a rate is like those of the next smaller and larger blocks, where they are known."""
    size = figure.block_size or 0
    known = {one.block_size or 0: _rate(one) for one in sound}
    smaller, larger = [one for one in known if one < size], [one for one in known if one > size]
    beside = [known[one] for one in (*sorted(smaller)[-1:], *sorted(larger)[:1])]
    if not beside:
        return False
    low, high = min(beside) / LIKE_ITS_NEIGHBOURS, max(beside) * LIKE_ITS_NEIGHBOURS
    return low <= _rate(figure) <= high


def figures_of(run: Run) -> RunFigures:
    """The figures of a run: those of its table, or of its counts where it has no table."""
    return _Evaluation(run).result()


class _Evaluation:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.remarks: list[Remark] = []
        mask = effective_mask(run)
        masked = (
            run.said_masked
            or run.remarked_masked
            or (mask is not None and build_facts.turns_aes_off(mask))
        )
        self.acceleration: Acceleration = "masked" if masked else "default"
        self.processes = threads_of(run)
        self.threads = self.processes or 1
        counts = run.counts + ([] if run.is_multi else run.paired.counts)
        self.counts = {(self._cipher(one.label), one.block): one for one in counts}
        self.all_counts = counts
        self.counted_blocks: dict[str | None, list[int]] = {}
        for cipher, block in self.counts:
            self.counted_blocks.setdefault(cipher, []).append(block)
        self.blocks_assumed = False

    def result(self) -> RunFigures:
        placed = [*self._from_rows(), *self._from_counts()]
        if self.run.is_multi and (self.run.child_line or self.run.paired.interleaved):
            line = self.run.child_line or self.run.line
            self._remark(
                line, "children", "Rows of single processes of -multi are not added to their sum."
            )
        flagged = [one.figure for one in placed if one.figure.implausible]
        if flagged:
            count = "1 figure" if len(flagged) == 1 else f"{len(flagged)} figures"
            self._remark(flagged[0].line, "implausible", f"{count}: {flagged[0].implausible}")
        return RunFigures(tuple(placed), tuple(self.remarks))

    def _remark(self, line: int, code: str, detail: str) -> None:
        self.remarks.append(Remark(line, code, detail))

    def _cipher(self, label: str) -> str | None:
        return canonical_cipher(label) or (self._evp_name() if kind_of(label) == "evp" else None)

    def _evp_name(self) -> str | None:
        """The cipher behind a bare "evp": what the run was called with, or its counts name."""
        run = self.run
        labels = {one.label for one in run.counts}
        labels |= {child.row.label for child in run.children.values()}
        names = {canonical_cipher(label) for label in labels}
        names.discard(None)
        if not names and run.command is not None and run.own_command:
            names = {canonical_cipher(name) for name in run.command.evp}
        return names.pop() if len(names) == 1 else None

    def _from_rows(self) -> Iterator[Placed]:
        seen: Counter[tuple[str, str]] = Counter()
        for printed in self.run.rows:
            cipher = self._cipher(printed.row.label)
            if cipher is None:
                self._no_cipher(printed)
                continue
            operation = self._operation(printed.row)
            repetition = seen[cipher, operation]
            seen[cipher, operation] += 1
            cells = self._with_doubts(list(self._cells(printed, cipher, operation)))
            for figure in flag_impossible(cells):
                yield Placed(figure, repetition, _note(printed))

    def _with_doubts(self, row: Sequence[Figure]) -> list[Figure]:
        """A row; what little CPU time was counted for counts where its rate fits those beside."""
        sound = [figure for figure in row if not figure.implausible]
        doubted = [one for one in row if self._is_measured(one) and _fits(one, sound)]
        if doubted:
            sizes = ", ".join(str(one.block_size) for one in doubted)
            self._remark(
                doubted[0].line,
                "little_cpu_time",
                f"{doubted[0].label}: little CPU time was counted at {sizes} bytes, as on a busy"
                " machine; the rate fits those beside it, and counts.",
            )
        return [one._replace(implausible=None) if one in doubted else one for one in row]

    def _is_measured(self, figure: Figure) -> bool:
        """Whether only the little CPU time of its count speaks against a figure."""
        count = self.counts.get((figure.cipher, figure.block_size or 0))
        if count is None or self.run.is_multi or not count.agrees_with(_rate(figure)):
            return False
        return count.borrowed and count.seconds >= LEAST_CPU_SECONDS

    def _no_cipher(self, printed: PrintedRow) -> None:
        detail = f"The row {printed.row.label[:60]!r} does not say which cipher it measured."
        self._remark(printed.line, "no_cipher", detail)

    def _cells(self, printed: PrintedRow, cipher: str, operation: Operation) -> Iterator[Figure]:
        row = printed.row
        header = self._header(printed, cipher)
        blocks = self._blocks(printed, header)
        cells = self._sound_cells(printed, cipher, blocks)
        for cell, block in zip(cells, blocks, strict=True):
            if cell.rate is not None and block is not None:
                yield self._figure(printed, cell, cipher, block, operation)
        faults = {cell.fault for cell in cells if cell.fault}
        pairs = zip(cells, blocks, strict=True)
        placeless = any(cell.rate is not None and block is None for cell, block in pairs)
        if placeless or (header is not None and len(cells) < len(header.blocks)):
            faults.add("damaged")
        for fault in sorted(faults):
            detail = f"{row.label}: {_FAULTS[fault]}"
            self._remark(printed.line, _CODES.get(fault, fault), detail)

    def _blocks(self, printed: PrintedRow, header: Header | None) -> tuple[int | None, ...]:
        """The block size of each of a row's cells, as far as it can be told."""
        row = printed.row
        if header is None or is_overlong(row):
            return (None,) * len(row.cells)
        return columns_of(row, header)

    def _sound_cells(
        self, printed: PrintedRow, cipher: str, blocks: Sequence[int | None]
    ) -> tuple[Cell, ...]:
        """The cells of a row without those that may be something else than rates.

        The tool prints 10,000 bytes per second and less without a k, and so does whoever types
        ratios, or megabytes, into such a table: those count where the text has their counts.
        """
        if printed.machine:
            return printed.row.cells
        return tuple(
            cell
            if cell.rate is None or cell.text.endswith("k") or self._is_counted(cell, cipher, block)
            else cell._replace(rate=None, fault="no_k")
            for cell, block in zip(printed.row.cells, blocks, strict=True)
        )

    def _is_counted(self, cell: Cell, cipher: str, block: int | None) -> bool:
        count = self.counts.get((cipher, block or 0))
        return count is not None and count.agrees_with(cell.rate or 0)

    def _header(self, printed: PrintedRow, cipher: str) -> Header | None:
        """The sizes of a row's columns; without a header, those of counts or of the tool."""
        row, header = printed.row, printed.header or self.run.sizes or self._told_block()
        if header is None:
            blocks = tuple(self.counted_blocks.get(cipher, ()))
            header = Header(blocks) if len(blocks) == len(row.cells) else self._assumed(row)
        elif header.assumed and len(header.blocks) < len(row.cells) <= len(CLASSIC_BLOCKS):
            longer = CLASSIC_BLOCKS[len(header.blocks) : len(row.cells)]
            if header.blocks[1:] == CLASSIC_BLOCKS[1 : len(header.blocks)]:
                header = header._replace(blocks=header.blocks + longer)
        if header is not None and header.assumed and not self.blocks_assumed:
            sizes = ", ".join(str(block) for block in header.blocks)
            detail = f"No whole header says the block sizes: taken to be {sizes} bytes."
            self._remark(printed.line, "blocks_assumed", detail)
            self.blocks_assumed = True
        return header

    def _told_block(self) -> Header | None:
        command = self.run.command
        return Header((command.block,)) if command is not None and command.block else None

    def _assumed(self, row: Row) -> Header | None:
        version = self.run.facts.get("version_text", "").lower()
        if self.run.aead:
            return (
                Header(_AEAD_BLOCKS, assumed=True) if len(row.cells) == len(_AEAD_BLOCKS) else None
            )
        first = _SSLEAY_FIRST_BLOCK if version.startswith("ssleay") else CLASSIC_BLOCKS[0]
        return assumed_header(len(row.cells), first)

    def _figure(
        self, printed: PrintedRow, cell: Cell, cipher: str, block: int, operation: Operation
    ) -> Figure:
        return Figure(
            line=printed.line,
            tool="openssl",
            cipher=cipher,
            label=printed.row.label,
            bytes_per_second=cell.rate,
            block_size=block,
            operation=operation,
            threads=self.threads,
            acceleration=self.acceleration,
            implausible=self._doubt(cell, self.counts.get((cipher, block))),
        )

    def _doubt(self, cell: Cell, count: Count | None) -> str | None:
        """Why a printed rate cannot be true, if so."""
        run = self.run
        if self.processes is None:
            return "It is the sum of several processes, and the text does not say of how many."
        if count is None or run.is_multi:
            kernel = run.command is not None and run.command.kernel_engine
            if kernel and not run.elapsed:
                return (
                    "The kernel did the work, and without -elapsed only the program's own CPU "
                    "time was counted."
                )
            return None
        if count.borrowed:
            return _borrowed(count)
        if cell.rate is not None and not count.agrees_with(cell.rate):
            return "The table and the count of blocks for it do not agree."
        return None

    def _from_counts(self) -> Iterator[Placed]:
        """Figures of what was counted and stands in no table."""
        tabled = {self._cipher(printed.row.label) for printed in self.run.rows}
        seen: Counter[tuple[str, int]] = Counter()
        for one in self.all_counts:
            cipher = self._cipher(one.label)
            if cipher is None or cipher in tabled:
                continue
            if one.bytes > MOST_BYTES:
                self._remark(one.line, "damaged", f"{one.label}: no run counts so many bytes.")
                continue
            if not one.blocks or not one.seconds:
                detail = f"{one.label}: {one.blocks} blocks in {one.seconds:.2f} s are no rate."
                self._remark(one.line, "not_a_rate" if one.blocks else "zero_rate", detail)
                continue
            yield Placed(self._counted(one, cipher), seen[cipher, one.block])
            seen[cipher, one.block] += 1

    def _counted(self, one: Count, cipher: str) -> Figure:
        return Figure(
            line=one.line,
            tool="openssl",
            cipher=cipher,
            label=one.label,
            bytes=one.bytes,
            seconds=one.seconds,
            block_size=one.block,
            operation=self._operation(Row(one.label, ())),
            threads=self.threads,
            acceleration=self.acceleration,
            implausible=_borrowed(one) if one.borrowed else None,
        )

    def _operation(self, row: Row) -> Operation:
        said = is_decryption(row.label)
        if said is not None:
            return "decrypt" if said else "encrypt"
        command = self.run.command
        if "decrypt" in row.rest.lower() or (command is not None and command.decrypt):
            return "decrypt"
        return "decrypt" if self.run.told == "decrypt" else "encrypt"


def _note(printed: PrintedRow) -> str | None:
    """What tells the figures of a row from those of others of its table."""
    return printed.row.rest.strip("()#<|- ") or None


def effective_mask(run: Run) -> str | None:
    """The capability mask a run was made with, by its own word or by its command."""
    settings = run.facts.get("cpu_settings")
    stated = build_facts.mask_in_settings(settings) if settings else None
    # CPUINFO repeats a mask that is set: its silence is worth more than an earlier command.
    silent = settings is not None and settings.startswith("OPENSSL_") and not run.own_command
    return stated or (None if silent else run.mask)


def _borrowed(count: Count) -> str:
    return (
        f"Only {count.seconds:.2f} s of CPU time were counted in {count.nominal:g} s: "
        "an engine did the work, or other processes held the CPU."
    )


def threads_of(run: Run) -> int | None:
    """How many processes a run's figures are the sum of; None where the text does not say."""
    if not run.is_multi:
        return 1
    if run.command is not None and run.command.processes:
        return run.command.processes
    for seen in (run.forked, {child for child in run.children if child >= 0}):
        if len(seen) > 1 and seen == set(range(len(seen))) and _is_sum(run):
            return len(seen)
    if run.forked and run.forked == set(range(len(run.forked))) and not run.children:
        return len(run.forked)
    return None


def _is_sum(run: Run) -> bool:
    """Whether the processes' rates, in the last column, add up to one of the run's rows."""
    rates = [child.row.cells[-1].rate or 0 for child in run.children.values()]
    total = sum(rates)
    return any(
        abs((printed.row.cells[-1].rate or 0) - total) <= 0.001 * total for printed in run.rows
    )
