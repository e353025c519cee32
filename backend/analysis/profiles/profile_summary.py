"""What a reference profile keeps of its making: levels, how sure they are, what stays unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from analysis.profiles.baselines import FAMILIES
from analysis.profiles.profile_fit import ProfileFit, Table, fit_profile, index_uncertainty

LARGEST = 5
"""So many residuals are kept: those of the machines that fit the profile worst."""


@dataclass(frozen=True)
class FamilyFit:
    """How sure a level is: a factor (`profile_fit.FittedLevel`), None where unknown.

    `machines` measured the family.
    """

    uncertainty: float | None
    machines: int


@dataclass(frozen=True)
class Residual:
    """ln(measured / fitted level) of one family on one machine."""

    machine: str
    family: str
    residual: float


@dataclass(frozen=True)
class ToolFit:
    """How one tool's levels of a profile were made; members mean what `ProfileFit` says.

    `reference` is the machine at speed 1, None for the mean of the fleet. `machines` gave a
    level. `rms` and `scatter` are None where nothing was fitted, as for a single run.
    `unknown`: family -> why it has no level. `left_out` counts machines not linked to the rest.
    """

    reference: str | None
    machines: int
    cells: int
    spare: int
    rms: float | None
    scatter: float | None
    families: Mapping[str, FamilyFit]
    unknown: Mapping[str, str]
    left_out: int
    largest: tuple[Residual, ...]

    @property
    def one_family_uncertainty(self) -> float | None:
        """How uncertain an index of one family alone is, a factor; None without scatter."""
        return None if self.scatter is None else index_uncertainty(self.scatter, 1)


@dataclass(frozen=True)
class KnownLevel:
    """A family's level, bytes per second, and how sure it is (`FamilyFit`)."""

    family: str
    level: float
    uncertainty: float | None
    machines: int


@dataclass(frozen=True)
class UnknownLevel:
    """A family without a level, and why."""

    family: str
    reason: str


@dataclass(frozen=True)
class ToolLevels:
    """One tool of a profile: its levels, what is unknown, and how they were fitted."""

    tool: str
    known: tuple[KnownLevel, ...]
    unknown: tuple[UnknownLevel, ...]
    fit: ToolFit


@dataclass(frozen=True)
class MadeProfile:
    """Levels a(tool, family), bytes per second, and how each tool's were made."""

    levels: Mapping[str, Mapping[str, float]]
    fits: Mapping[str, ToolFit]


def tool_fit_json(fit: ToolFit) -> dict[str, Any]:
    """The fit as it is stored."""
    return asdict(fit)


def tool_fit(stored: Mapping[str, Any]) -> ToolFit:
    """The fit that `tool_fit_json` stored."""
    return ToolFit(
        **{
            **stored,
            "families": {name: FamilyFit(**one) for name, one in stored["families"].items()},
            "largest": tuple(Residual(**one) for one in stored["largest"]),
        }
    )


def levels_of_tool(tool: str, levels: Mapping[str, float], fit: ToolFit) -> ToolLevels:
    """The families of one tool with what is known of each, in their order."""
    known = ((family, fit.families[family]) for family in FAMILIES if family in levels)
    return ToolLevels(
        tool=tool,
        known=tuple(KnownLevel(f, levels[f], one.uncertainty, one.machines) for f, one in known),
        unknown=tuple(UnknownLevel(f, fit.unknown[f]) for f in FAMILIES if f in fit.unknown),
        fit=fit,
    )


def profile_of_run(
    machine: str, levels: Mapping[str, Mapping[str, float]], tools: Sequence[str]
) -> MadeProfile:
    """The profile under which this run has a speed index of exactly 1 in each of `tools`."""
    return MadeProfile(
        {tool: dict(levels[tool]) for tool in tools if levels.get(tool)},
        {tool: _fit_of_run(machine, levels.get(tool, {})) for tool in tools},
    )


def _fit_of_run(machine: str, levels: Mapping[str, float]) -> ToolFit:
    return ToolFit(
        reference=machine,
        machines=1 if levels else 0,
        cells=len(levels),
        spare=0,
        rms=None,
        scatter=None,
        families={family: FamilyFit(None, 1) for family in FAMILIES if family in levels},
        unknown={
            family: "The run did not measure it." for family in FAMILIES if family not in levels
        },
        left_out=0,
        largest=(),
    )


def profile_of_fleet(
    tables: Mapping[str, Table],
    names: Mapping[str, str],
    references: Mapping[str, str] | None = None,
) -> MadeProfile:
    """Levels fitted to a table of machines for each tool.

    `names` of machines are for people. `references`: tool -> the machine that gets speed 1; a
    tool that it lacks stays unknown. None: the mean of the fleet.
    """
    levels: dict[str, dict[str, float]] = {}
    fits: dict[str, ToolFit] = {}
    for tool, table in tables.items():
        reference = references.get(tool) if references is not None else None
        if not table or (references is not None and reference is None):
            why = "No machine measured it." if not table else "The reference has no level here."
            fits[tool] = _nothing_fitted(why)
            continue
        fit = fit_profile(table, reference)
        known = [family for family in FAMILIES if family in fit.levels]
        levels[tool] = {family: fit.levels[family].level for family in known}
        fits[tool] = _fit_of_fleet(fit, names)
    return MadeProfile(levels, fits)


def _nothing_fitted(why: str) -> ToolFit:
    unknown = dict.fromkeys(FAMILIES, why)
    return ToolFit(None, 0, 0, 0, None, None, {}, unknown, 0, ())


def _fit_of_fleet(fit: ProfileFit, names: Mapping[str, str]) -> ToolFit:
    reference = fit.reference
    unknown = dict(fit.unknown)
    if reference is not None:
        unknown = {f: why.replace(reference, names[reference]) for f, why in unknown.items()}
    return ToolFit(
        reference=None if reference is None else names[reference],
        machines=len(fit.machines),
        cells=fit.cells,
        spare=fit.spare,
        rms=fit.rms,
        scatter=fit.scatter,
        families={
            family: FamilyFit(fit.levels[family].uncertainty, fit.levels[family].machines)
            for family in FAMILIES
            if family in fit.levels
        },
        unknown=unknown,
        left_out=len(fit.left_out),
        largest=_largest(fit, names),
    )


def _largest(fit: ProfileFit, names: Mapping[str, str]) -> tuple[Residual, ...]:
    """The largest residuals; none where the fit has no cell to spare, so that all are zero."""
    if not fit.spare:
        return ()
    every = [
        (machine, family, residual)
        for machine, fitted in fit.machines.items()
        for family, residual in fitted.residuals.items()
    ]
    every.sort(key=lambda one: (-abs(one[2]), one[0], one[1]))
    return tuple(
        Residual(names[machine], family, residual) for machine, family, residual in every[:LARGEST]
    )
