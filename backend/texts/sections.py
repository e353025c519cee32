from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from texts.context import Group
from texts.facts import contradicts, merged
from texts.types import Section


@dataclass
class Machine:
    groups: list[Group]
    environment: Mapping[str, Any]
    known: set[tuple[object, ...]]

    def add(self, group: Group, series: set[tuple[object, ...]]) -> bool:
        if not self.known.isdisjoint(series) or contradicts(self.environment, group.environment):
            return False
        self.groups.append(group)
        self.environment = merged(self.environment, group.environment)
        self.known |= series
        return True


def sections_of(groups: Iterable[Group]) -> tuple[Section, ...]:
    groups = list(_mark_repeats(groups))
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
    labels = Counter(_label(machine.groups[0]) for machine in machines)
    return tuple(_section(machine, labels if len(machines) > 1 else None) for machine in machines)


def _mark_repeats(groups: Iterable[Group]) -> Iterator[Group]:
    above: set[tuple[object, ...]] = set()
    for group in groups:
        printed = [(figure.cipher, figure.block_size, figure.rate) for figure in group.figures]
        repeated = sum(values in above for values in printed)
        if repeated >= 2 and 2 * repeated >= len(printed):
            for at, figure in enumerate(group.figures):
                if printed[at] in above and not figure.uncertain:
                    group.figures[at] = figure._replace(uncertain="already printed above")
        above.update(printed)
        yield group


def _section(machine: Machine, labels: Counter[str] | None) -> Section:
    first = machine.groups[0]
    figures = [figure for group in machine.groups for figure in group.figures]
    label = _label(first) if labels else None
    if labels and (not label or labels[label] > 1):
        label = f"{label}, from line {first.line}" if label else f"from line {first.line}"
    host = f"{first.host} ({_label(first)})" if first.host and first.row else first.host
    return Section(
        line=min(figure.line for figure in figures),
        figures=tuple(sorted(figures, key=lambda figure: (figure.line, figure.position))),
        environment=machine.environment,
        host=host,
        label=label,
    )


def _label(group: Group) -> str:
    return f"row {group.row + 1} of each cipher" if group.row else group.heading or group.name
