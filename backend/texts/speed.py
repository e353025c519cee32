from collections import Counter
from collections.abc import Sequence
from typing import Any

from texts.ciphers import is_other_algorithm, openssl_cipher, operation_of
from texts.context import Context, Group
from texts.events import Counted, Row, Sizes
from texts.facts import Fact
from texts.lines import Line

USUAL_SIZES = {5: (16, 64, 256, 1024, 8192), 6: (16, 64, 256, 1024, 8192, 16384)}
AGREEMENT = 0.03
"""Permitted difference between a row and its `Doing` lines, whose seconds have two decimals."""
CPU_TIME = 0.1


class SpeedRuns:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.sizes: tuple[int, ...] = ()
        self.rows: Counter[str] = Counter()
        self.counted: dict[str, list[tuple[Line, Counted]]] = {}
        self.counting: Group | None = None
        self.child_label = ""
        self.others: list[int] = []

    def on_sizes(self, sizes: Sizes) -> None:
        self.sizes = sizes.sizes
        self.rows.clear()

    def on_counted(self, counted: Counted) -> None:
        label = _canonical(counted.label)
        if not self.counted:
            self.counting = self.context.new_group()
        self.counted.setdefault(label, []).append((self.context.line, counted))

    def on_fact(self, _fact: Fact) -> None:
        group, context = self.counting, self.context
        if group and self.counted and (group.host, group.name) == (context.host, context.name):
            group.environment = context.environment  # versions are printed below the counts

    def on_row(self, row: Row) -> None:
        context = self.context
        if row.child is not None:
            context.processes = max(context.processes, row.child + 1)
            self.child_label = row.label
            self.counted.clear()
            return
        cipher = self._cipher_of(row.label)
        if cipher is None:
            self._leave_out(row)
        elif not (sizes := self._sizes_of(row)):
            heads = f"{len(self.sizes)} sizes" if self.sizes else "an unknown block size"
            context.remark("damaged", f"{len(row.rates)} rates for {heads}.")
        else:
            with context.named(row.machine):
                self._add_row(row, cipher, sizes)

    def _add_row(self, row: Row, cipher: str, sizes: Sequence[int]) -> None:
        self.rows[cipher] += 1
        pending = self.counted.pop(_canonical(row.label), [])
        group = self.context.group(self.rows[cipher] - 1 if self.sizes else 0)
        source = "block size from above" if len(sizes) == 1 else "block sizes by number of columns"
        assumed = () if self.sizes else (source,)
        for size, rate in zip(sizes, row.rates, strict=True):
            if rate is None or rate <= 0:
                code = "zero_rate" if rate == 0 else "not_a_rate"
                self.context.remark(code, f"{cipher}, {size} bytes: no rate.")
                continue
            fields: dict[str, Any] = {"cipher": cipher, "operation": operation_of(row.label)}
            fields |= {"bytes_per_second": rate, "block_size": size, "assumed": assumed}
            self.context.emit(group, "openssl", self._caveat(row, size, rate, pending), **fields)

    def _cipher_of(self, label: str) -> str | None:
        context = self.context
        named = context.command.cipher if context.command else None
        if label.lower() == "evp":
            return named or openssl_cipher(self.child_label)
        if not (name := openssl_cipher(label)) and self.sizes and not is_other_algorithm(label):
            return named or openssl_cipher(context.stated_cipher or "")  # the row names a build
        return name

    def _leave_out(self, row: Row) -> None:
        if is_other_algorithm(row.label):
            self.rows[row.label] += 1
            self.counted.pop(_canonical(row.label), None)
            self.others.append(self.context.line.number)
        else:
            self.context.unrecognised[self.context.line.number] = self.context.line.text
            if len(row.rates) > 1:
                self.context.remark("unknown_cipher", f"{row.label[:40]} is not a known cipher.")

    def _sizes_of(self, row: Row) -> tuple[int, ...]:
        size = self.context.stated_size
        if len(self.sizes) == len(row.rates):
            return self.sizes
        if len(row.rates) == 1 and size:
            return (size,)
        return () if self.sizes else USUAL_SIZES.get(len(row.rates), ())

    def _caveat(
        self, row: Row, size: int, rate: float, pending: Sequence[tuple[Line, Counted]]
    ) -> str:
        if row.mark:
            return f"unclear in its row: {row.mark}"
        if row.label.lower() != "evp" and not openssl_cipher(row.label):
            return "cipher from the command"
        if self.sizes.count(size) > 1:
            return "two columns for one size"
        if any(other is not None and other < 0 for other in row.rates):
            return "row contains a negative rate"
        counted = next((count for _, count in pending if count.size == size), None)
        return _count_caveat(counted, rate) if counted and self.context.threads == 1 else ""

    def end(self) -> None:
        counted, self.counted = self.counted, {}
        self.rows.clear()
        group, context = self.counting, self.context
        if not counted or group is None or context.threads > 1:
            return
        for label, pending in counted.items():
            if (cipher := openssl_cipher(label)) is None:
                self.others += [line.number for line, _ in pending]
            for line, count in pending if cipher else ():
                fields: dict[str, Any] = {"cipher": cipher, "block_size": count.size}
                fields |= {"bytes": count.blocks * count.size, "seconds": count.seconds}
                if count.seconds > 0 and count.blocks > 0:
                    context.emit(group, "openssl", _count_caveat(count), line=line.number, **fields)
        if group.figures:
            context.add_group(group)

    def count_others(self) -> None:
        if self.others:
            count, rows = len(self.others), "row" if len(self.others) == 1 else "rows"
            detail = f"{count} {rows} for digests or other algorithms ignored."
            self.context.remark("not_a_cipher", detail, self.others[0])


def _canonical(label: str) -> str:
    return openssl_cipher(label) or label.lower()


def _count_caveat(counted: Counted, rate: float | None = None) -> str:
    if counted.seconds < CPU_TIME * counted.requested:
        return f"only {counted.seconds:g} s of CPU time"
    expected = counted.blocks * counted.size / counted.seconds
    if rate and abs(rate / expected - 1) > AGREEMENT + 0.01 / counted.seconds:
        return "differs from its “Doing” line"
    return ""
