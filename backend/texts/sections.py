"""Make sections of groups: one machine in one environment each, kept apart in doubt."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from texts.context import Group
from texts.facts import contradicts, merged
from texts.types import Section


@dataclass
class Machine:
    groups: list[Group]
    environment: Mapping[str, Any]
    known: set[tuple[object, ...]]

    def takes(self, group: Group, series: set[tuple[object, ...]]) -> bool:
        """Add a group unless it is of another environment, or repeats a series."""
        if not self.known.isdisjoint(series) or contradicts(self.environment, group.environment):
            return False
        self.groups.append(group)
        self.environment = merged(self.environment, group.environment)
        self.known |= series
        return True


def sections_of(groups: Iterable[Group]) -> tuple[Section, ...]:
    """Merge groups of one machine, unless a series comes again: then a new section begins."""
    groups = list(_doubted(groups))
    machines: list[Machine] = []
    by_name: dict[tuple[str, int], list[Machine]] = {}
    for group in groups:
        if not group.figures:
            continue
        same = by_name.setdefault((group.host or group.name, group.part), [])
        series = {tuple(figure.series.values()) for figure in group.figures}
        if not (same and same[-1].takes(group, series)):
            machines.append(Machine([group], group.environment, series))
            same.append(machines[-1])
    labels = Counter(_label(machine.groups[0]) for machine in machines)
    return tuple(_section(machine, labels if len(machines) > 1 else None) for machine in machines)


def _doubted(groups: Iterable[Group]) -> Iterator[Group]:
    """Doubt figures of a group that repeats those above it: a table printed twice, a ranking."""
    above: set[tuple[object, ...]] = set()
    for group in groups:
        said = [(one.cipher, one.block_size, one.rate) for one in group.figures]
        repeated = sum(one in above for one in said)
        if repeated >= 2 and 2 * repeated >= len(said):
            for at, figure in enumerate(group.figures):
                if said[at] in above and not figure.uncertain:
                    group.figures[at] = replace(figure, uncertain="printed above already")
        above.update(said)
        yield group


def _section(machine: Machine, labels: Counter[str] | None) -> Section:
    first = machine.groups[0]
    figures = [figure for group in machine.groups for figure in group.figures]
    label = _label(first) if labels else None
    if labels and (not label or labels[label] > 1):
        label = f"{label}, from line {first.line}" if label else f"from line {first.line}"
    host = f"{first.host} ({_label(first)})" if first.host and first.part else first.host
    return Section(
        line=min(figure.line for figure in figures),
        figures=tuple(sorted(figures, key=lambda figure: (figure.line, figure.place))),
        environment=machine.environment,
        host=host,
        label=label,
    )


def _label(group: Group) -> str:
    return f"row {group.part + 1} of each cipher" if group.part else group.heading or group.name
