"""Compute the percentile of a host among other hosts (docs/method.md, section 3)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Standing:
    """Compare the speed of a host with the speed of other hosts.

    percentile = 100 * (beaten + tied / 2) / others. `beaten`: number of slower hosts. `tied`:
    number of equally fast hosts. `others`: number of other hosts. `rank`: 1 for the fastest host.
    """

    percentile: float
    rank: int
    beaten: int
    tied: int
    others: int

    @property
    def words(self) -> str:
        ties = f", tied with {self.tied}" if self.tied else ""
        return f"Faster than {self.beaten} of {self.others} comparable hosts{ties}."


def standing(beaten: int, tied: int, others: int) -> Standing | None:
    if not others:
        return None
    return Standing(
        percentile=100 * (beaten + tied / 2) / others,
        rank=others - beaten - tied + 1,
        beaten=beaten,
        tied=tied,
        others=others,
    )
