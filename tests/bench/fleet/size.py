"""How large a fleet is made."""

from dataclasses import dataclass

SEED = 2026
MEASUREMENTS_PER_RUN = 120
"""48 of ssh and 72 of openssl."""


@dataclass(frozen=True)
class Size:
    """A fleet by its name in BENCH_SIZE."""

    name: str
    hosts: int
    runs: int

    @property
    def measurements(self) -> int:
        """Rows of the big table."""
        return self.runs * MEASUREMENTS_PER_RUN

    @property
    def database(self) -> str:
        """The name of its database."""
        return f"bench_{self.name.replace('.', '_')}"


SIZES = {
    size.name: size
    for size in (
        Size("tiny", 40, 160),
        Size("0.5m", 1_042, 4_167),
        Size("4.8m", 10_000, 40_000),
        Size("20m", 41_667, 166_667),
    )
}
