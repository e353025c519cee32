from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from texts.context import Group
from texts.facts import contradicts, merged
from texts.transfers import MEBIBYTE
from texts.types import Figure, Section


@dataclass
class Machine:
    groups: list[Group]
    environment: Mapping[str, Any]
    known: set[tuple[object, ...]]

    @property
    def figures(self) -> list[Figure]:
        return [figure for group in self.groups for figure in group.figures]

    def add(self, group: Group, series: set[tuple[object, ...]]) -> bool:
        if not self.known.isdisjoint(series) or contradicts(self.environment, group.environment):
            return False
        self.groups.append(group)
        self.environment = merged(self.environment, group.environment)
        self.known |= series
        return True


def sections_of(groups: Iterable[Group]) -> tuple[Section, ...]:
    machines: list[Machine] = []
    by_name: dict[tuple[str, int], list[Machine]] = {}
    for group in groups:
        if not group.figures:
            continue
        same = by_name.setdefault((group.host or group.name, group.row), [])
        series = {tuple(figure.series.values()) for figure in group.figures}
        if not (same and same[-1].add(group, series)):
            machines.append(Machine([group], group.environment, series))
            same.append(machines[-1])
    _mark_repeats(machines if len(machines) > 1 else ())
    labels = Counter(_label(machine.groups[0]) for machine in machines)
    return tuple(_section(machine, labels if len(machines) > 1 else None) for machine in machines)


def _mark_repeats(machines: Sequence[Machine]) -> None:
    first: dict[tuple[object, ...], tuple[int, int]] = {}
    every = ((figure, at) for at, machine in enumerate(machines) for figure in machine.figures)
    for figure, at in sorted(every, key=lambda item: item[0].line):
        owner = -1 if figure.format == "dd" else at  # a line of dd is a copy anywhere
        for printed in (_printed(figure), *_rounded(figure)):
            first.setdefault(printed, (figure.line, owner))
    for at, machine in enumerate(machines):
        origins = ((figure, *first[_printed(figure)]) for figure in machine.figures)
        repeated = {figure for figure, line, owner in origins if line < figure.line and owner != at}
        are_most = _are_mostly(machine.figures, repeated)
        for group in machine.groups:
            is_repeat = are_most or group.line.depth or _are_mostly(group.figures, repeated)
            group.figures = [
                figure._replace(uncertain=figure.uncertain or "already printed above")
                if figure in repeated and (is_repeat or figure.format == "dd")
                else figure
                for figure in group.figures
            ]


def _are_mostly(figures: Sequence[Figure], repeated: set[Figure]) -> bool:
    return 2 * len(repeated.intersection(figures)) >= max(4, len(figures))


def _printed(figure: Figure) -> tuple[object, ...]:
    if figure.format == "dd":
        return figure.bytes, figure.seconds
    return figure.cipher, figure.block_size, f"{figure.rate / 1e6:.8g}"


def _rounded(figure: Figure) -> Iterator[tuple[object, ...]]:
    for megabyte, digits in ((1e6, ".3g"), (MEBIBYTE, ".3g"), (1e6, ".0f")):
        yield figure.cipher, figure.block_size, format(figure.rate / megabyte, digits)


def _section(machine: Machine, labels: Counter[str] | None) -> Section:
    first = machine.groups[0]
    figures = sorted(machine.figures, key=lambda figure: (figure.line, figure.position))
    label = _label(first) if labels else None
    if labels and (not label or labels[label] > 1):
        label = ", ".join(filter(None, (label, f"from line {figures[0].line}")))
    host = f"{first.host} ({_label(first)})" if first.host and first.row else first.host
    return Section(
        line=figures[0].line,
        figures=tuple(figures),
        environment=machine.environment,
        host=host,
        label=label,
    )


def _label(group: Group) -> str:
    return f"row {group.row + 1} of each cipher" if group.row else group.heading or group.name
