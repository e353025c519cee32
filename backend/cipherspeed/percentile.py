"""The share of other hosts that a host beats, and its sentence (docs/method.md, section 3)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Standing:
    """A host's percentile: the share of the other hosts that it beats, a tie as half.

    percentile = 100 (beaten + tied / 2) / others: 100 for the best of all, 0 for the worst, 50
    in the middle. `rank` 1 is the best; hosts that tie share the better rank.
    """

    percentile: float
    rank: int
    beaten: int
    tied: int
    others: int

    @property
    def words(self) -> str:
        """Return one sentence for people, with the figures it rests on."""
        ties = f", equal to {self.tied}" if self.tied else ""
        return f"Better than {self.beaten} of {self.others} other hosts{ties}."


def standing(beaten: int, tied: int, others: int) -> Standing | None:
    """Return the standing of a host that beats so many of the other hosts and ties with so many.

    None when there is no other host: a single host is neither fast nor slow.
    """
    if not others:
        return None
    return Standing(
        percentile=100 * (beaten + tied / 2) / others,
        rank=others - beaten - tied + 1,
        beaten=beaten,
        tied=tied,
        others=others,
    )
