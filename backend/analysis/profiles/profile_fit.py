"""Making a reference profile: a least-squares fit of levels (docs/method.md, section 2).

Observed levels form an incomplete table of machines by families: a modern OpenSSH has only
3des-cbc. The fit is

    ln b(m, f) = A(f) + B(m) + e(m, f)

over the cells that exist, with one condition to fix the scale: B = 0 for the reference machine,
or a mean B of 0 over all machines (the fleet). Then a(f) = exp A(f) is the family's level on
the reference machine and exp B(m) the machine's speed relative to it.

For a given A the best B(m) is the mean of ln b - A over the machine's own families. Put back in,
that leaves k equations for k families, whose matrix is

    L = sum over machines of (diag(1) - 1 1' / n(m))        restricted to the machine's n families

the Laplacian of a graph that joins families measured on one machine. L has one zero eigenvalue
for each connected part, which is why only families of one part have levels on one scale.
Method: two-way layout without interaction, Searle, *Linear Models* (1971), chapter 7.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

from analysis.profiles.baselines import FAMILIES


def student_quantile(probability: float, degrees: int) -> float:
    """The t that a variable of so many degrees of freedom stays below with this probability.

    `probability` from 0.5 (exclusive) to 1 (exclusive). One and two degrees in closed form,
    more by G. W. Hill, *Algorithm 396: Student's t-quantiles*, CACM 13 (1970): six digits.
    """
    if not (0.5 < probability < 1 and degrees >= 1):
        raise ValueError("a quantile needs a probability in (0.5, 1) and a degree of freedom")
    tails = 2 * (1 - probability)
    if degrees == 1:
        return 1 / math.tan(tails * math.pi / 2)
    if degrees == 2:
        return math.sqrt(2 / (tails * (2 - tails)) - 2)
    return _hill(tails, degrees)


def _hill(tails: float, n: int) -> float:
    """Hill's asymptotic expansion; names as in the paper."""
    a = 1 / (n - 0.5)
    b = 48 / (a * a)
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * n
    y = (d * tails) ** (2 / n)
    if y > 0.05 + a:
        return _near_the_middle(tails, n, a, b, c, d)
    y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * (
        n + 1
    ) / (n + 2) + 1 / y
    return math.sqrt(n * y)


def _near_the_middle(tails: float, n: int, a: float, b: float, c: float, d: float) -> float:
    """Hill's branch from the normal quantile, for tails that are not far out."""
    x = NormalDist().inv_cdf(tails / 2)
    y = x * x
    if n < 5:
        c += 0.3 * (n - 4.5) * (x + 0.6)
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
    return math.sqrt(n * math.expm1(a * y * y))


Table = Mapping[str, Mapping[str, float]]
"""Machine -> family -> level, bytes per second; one row a machine."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class FittedLevel:
    """A family's level a(f), bytes per second.

    `uncertainty` is a factor of at least 1: all levels of the profile at once lie within
    level / uncertainty .. level * uncertainty with a probability of 95 %. None when the table
    has no cell to spare, so that nothing tells how well the model fits. `machines` measured it.
    """

    level: float
    uncertainty: float | None
    machines: int


@dataclass(frozen=True)
class FittedMachine:
    """A machine's speed relative to the reference, as the fit sees it.

    `uncertainty`: a factor as for a level, but for this machine alone. `residuals`: by family
    ln(b / (a * speed)); 0.1 is a level 10.5 % above what the fit expects of this machine.
    """

    speed: float
    uncertainty: float | None
    residuals: Mapping[str, float]


@dataclass(frozen=True)
class ProfileFit:
    """What a profile is made of, and how well the machines agree on it.

    `reference` is a machine, or None for the fleet. `unknown`: family -> why it has no level.
    `left_out`: machines that no chain of common families links to the reference. `rms`: root
    mean square of the residuals. `scatter`: their standard deviation, sqrt(RSS / spare cells),
    with `spare` = cells - machines - families + 1; both in ln, None without spare cells.
    """

    reference: str | None
    levels: Mapping[str, FittedLevel]
    machines: Mapping[str, FittedMachine]
    unknown: Mapping[str, str]
    left_out: tuple[str, ...]
    cells: int
    spare: int
    rms: float
    scatter: float | None


def fit_profile(table: Table, reference: str | None = None) -> ProfileFit:
    """Fit levels to a table, scaled to the machine `reference` or, with None, to the fleet.

    Neither the order of machines nor that of families matters, to the last bit. `ValueError`
    for a level that is not above zero and finite, an empty table, or a reference without levels.
    """
    logs = _logarithms(table)
    if not logs or (reference is not None and reference not in logs):
        raise ValueError("a profile needs levels" + (f" of {reference!r}" if reference else ""))
    linked = _linked(logs, reference)
    rows = {machine: row for machine, row in logs.items() if linked.issuperset(row)}
    return _Fit(rows, reference).result(
        unknown=_why_unknown(linked, logs, reference),
        left_out=tuple(sorted(logs.keys() - rows.keys())),
    )


def index_uncertainty(scatter: float, families: int) -> float:
    """How uncertain a speed index from so many families is, from the scatter of a whole fleet.

    exp(scatter / sqrt(families)), a factor of one standard error. Unlike the disagreement
    within one run it exists for a single family too, and a missing family only widens it.
    """
    return math.exp(scatter / math.sqrt(families))


def _logarithms(table: Table) -> dict[str, dict[str, float]]:
    """The cells to fit, in ln, sorted; machines without any are absent."""
    rows: dict[str, dict[str, float]] = {}
    for machine in sorted(table):
        for family in sorted(set(FAMILIES) & table[machine].keys()):
            level = table[machine][family]
            if not (math.isfinite(level) and level > 0):
                raise ValueError(f"{machine}, {family}: {level} is no level")
            rows.setdefault(machine, {})[family] = math.log(level)
    return rows


def _parts(rows: Mapping[str, Mapping[str, float]]) -> list[set[str]]:
    """Sets of families that chains of machines link."""
    parts: list[set[str]] = []
    for row in rows.values():
        touched = [part for part in parts if part & row.keys()]
        parts = [part for part in parts if part not in touched]
        parts.append(set(row).union(*touched))
    return parts


def _linked(rows: Mapping[str, Mapping[str, float]], reference: str | None) -> set[str]:
    """The families whose levels share one scale with the reference.

    For the fleet: the part that most machines belong to; of equal ones that of more families,
    then the first by name, so that the answer never depends on the order of uploads.
    """
    parts = _parts(rows)
    if reference is not None:
        return next(part for part in parts if part.issuperset(rows[reference]))
    members = [sum(part.issuperset(row) for row in rows.values()) for part in parts]
    ranked = sorted(
        zip(members, parts, strict=True), key=lambda one: (-one[0], -len(one[1]), sorted(one[1]))
    )
    return ranked[0][1]


def _why_unknown(
    linked: set[str],
    rows: Mapping[str, Mapping[str, float]],
    reference: str | None,
) -> dict[str, str]:
    target = f"the reference machine {reference}" if reference else "most machines of the fleet"
    measured = {family for row in rows.values() for family in row}
    return {
        family: (
            f"No machine that measured it shares a family, directly or over others, with {target}."
            if family in measured
            else "No machine measured it."
        )
        for family in FAMILIES
        if family not in linked
    }


class _Fit:
    """One connected table, solved: the parts that levels, machines and uncertainties share.

    `weights` p(m) state the condition sum p(m) B(m) = 0: all on the reference, or evenly.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, float]], reference: str | None) -> None:
        self.rows, self.reference = rows, reference
        self.families = sorted({family for row in rows.values() for family in row})
        self.weights = {
            machine: float(machine == reference) if reference else 1 / len(rows) for machine in rows
        }
        self.means = {machine: fmean(row.values()) for machine, row in rows.items()}
        self.inverse = _inverse(self._matrix())
        right = [self._right_side(family) for family in self.families]
        self.free = [math.fsum(map(float.__mul__, row, right)) for row in self.inverse]
        anchor = math.fsum(p * self._free_speed(m) for m, p in self.weights.items())
        self.logs = {f: a + anchor for f, a in zip(self.families, self.free, strict=True)}
        self.speeds = {machine: self._free_speed(machine) - anchor for machine in rows}
        self.shares = self._reference_shares()
        self.anchor_variance = math.fsum(p * p / len(rows[m]) for m, p in self.weights.items())

    def result(self, unknown: Mapping[str, str], left_out: tuple[str, ...]) -> ProfileFit:
        residuals = {machine: self._residuals(machine) for machine in self.rows}
        squares = math.fsum(e * e for row in residuals.values() for e in row.values())
        cells = sum(map(len, self.rows.values()))
        spare = cells - len(self.rows) - len(self.families) + 1
        scatter = math.sqrt(squares / spare) if spare else None
        return ProfileFit(
            reference=self.reference,
            levels=self._levels(scatter, spare),
            machines={
                machine: FittedMachine(
                    math.exp(self.speeds[machine]),
                    _factor(scatter, self._machine_variance(machine), spare),
                    residuals[machine],
                )
                for machine in self.rows
            },
            unknown=unknown,
            left_out=left_out,
            cells=cells,
            spare=spare,
            rms=math.sqrt(squares / cells),
            scatter=scatter,
        )

    def _matrix(self) -> list[list[float]]:
        """L, with 1 added to each element.

        That lifts L's one zero eigenvalue, whose vector is (1, ..., 1), and changes nothing
        for contrasts between families, the only use that is made of the inverse.
        """
        size = len(self.families)
        matrix = [[1.0] * size for _ in range(size)]
        for row in self.rows.values():
            present = [i for i, family in enumerate(self.families) if family in row]
            for i in present:
                matrix[i][i] += 1
                for j in present:
                    matrix[i][j] -= 1 / len(present)
        return matrix

    def _right_side(self, family: str) -> float:
        return math.fsum(
            row[family] - self.means[machine] for machine, row in self.rows.items() if family in row
        )

    def _free_speed(self, machine: str) -> float:
        """B of a machine before the scale is fixed: the mean of ln b - A over its families."""
        row = self.rows[machine]
        return self.means[machine] - fmean(
            a for family, a in zip(self.families, self.free, strict=True) if family in row
        )

    def _residuals(self, machine: str) -> dict[str, float]:
        return {
            family: value - self.logs[family] - self.speeds[machine]
            for family, value in self.rows[machine].items()
        }

    def _levels(self, scatter: float | None, spare: int) -> dict[str, FittedLevel]:
        # Bonferroni: each of k levels at 1 - 5 %/k, so that all at once hold with 95 %.
        return {
            family: FittedLevel(
                level=math.exp(self.logs[family]),
                uncertainty=_factor(
                    scatter, self._level_variance(family), spare, len(self.families)
                ),
                machines=sum(family in row for row in self.rows.values()),
            )
            for family in self.families
        }

    def _reference_shares(self) -> list[float]:
        """How much of each family the reference's mean ln b contains; sums to 1."""
        return [
            math.fsum(
                self.weights[machine] / len(row)
                for machine, row in self.rows.items()
                if family in row
            )
            for family in self.families
        ]

    def _level_variance(self, family: str) -> float:
        """Var A(f) / scatter^2: of the contrast to the reference's families, and of its mean."""
        contrast = [
            (one == family) - share for one, share in zip(self.families, self.shares, strict=True)
        ]
        return self._contrast_variance(contrast) + self.anchor_variance

    def _machine_variance(self, machine: str) -> float:
        """Var B(m) / scatter^2: of the machine's mean less the reference's, family by family."""
        row = self.rows[machine]
        contrast = [
            (family in row) / len(row) - share
            for family, share in zip(self.families, self.shares, strict=True)
        ]
        own = (1 - 2 * self.weights[machine]) / len(row)
        return self._contrast_variance(contrast) + self.anchor_variance + own

    def _contrast_variance(self, contrast: Sequence[float]) -> float:
        """c' L^+ c, for coefficients c that sum to 0."""
        return math.fsum(
            a * b * value
            for a, row in zip(contrast, self.inverse, strict=True)
            for b, value in zip(contrast, row, strict=True)
        )


def _factor(
    scatter: float | None, variance: float, spare: int, simultaneous: int = 1
) -> float | None:
    """Half the width of the confidence interval, as a factor; None where scatter is unknown."""
    if scatter is None:
        return None
    quantile = student_quantile(1 - (1 - CONFIDENCE) / (2 * simultaneous), spare)
    # Rounding may leave a variance of zero (the reference machine's own) just below it.
    return math.exp(quantile * scatter * math.sqrt(max(variance, 0.0)))


def _inverse(matrix: list[list[float]]) -> list[list[float]]:
    """Gauss-Jordan elimination of a small symmetric positive definite matrix: no pivot is 0."""
    size = len(matrix)
    work = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        work[i] = [value / work[i][i] for value in work[i]]
        for j in range(size):
            if j != i:
                factor = work[j][i]
                work[j] = [a - factor * b for a, b in zip(work[j], work[i], strict=True)]
    return [row[size:] for row in work]
