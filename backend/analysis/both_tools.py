"""Machines measured with both tools: each cipher over ssh against the same cipher alone.

`openssl speed` measures a cipher by itself, ssh the cipher with all that a transfer takes; the
two stand on axes of their own and never on one (docs/method.md, section 2).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.comparison import Comparison
from analysis.groups import GroupSummary
from analysis.openssl_against_ssh import own_cipher


@dataclass(frozen=True)
class BothTools:
    """One cipher on one machine, by both tools, in bytes per second.

    The summaries are over the machine's environments, one vote each: mostly n is 1. `doubtful`:
    a vote of either is noisy or of a disturbed run.
    """

    host_key: str
    host_label: str
    ssh_cipher: str
    openssl_cipher: str
    ssh: GroupSummary
    openssl: GroupSummary
    doubtful: bool = False

    @property
    def share(self) -> float:
        """What ssh delivers of the cipher's own speed, as a fraction."""
        return self.ssh.median / self.openssl.median


def both_tools(ssh: Comparison, openssl: Comparison) -> tuple[BothTools, ...]:
    """Two comparisons by host joined: hosts in the order of `ssh`, then its ciphers.

    A host or cipher that only one of them has is left out; so is a rate of 0, which has no share.
    """
    return tuple(_joined(ssh, openssl))


def _joined(ssh: Comparison, openssl: Comparison) -> Iterator[BothTools]:
    alone = {group.key: group for group in openssl.groups}
    for host in ssh.groups:
        for cipher, transferred in host.values.items():
            own = own_cipher(cipher)
            other = alone.get(host.key)
            if own is None or other is None:
                continue
            rate, doubtful = other.values.get(own), cipher in host.doubtful or own in other.doubtful
            if rate and rate.median > 0:
                yield BothTools(host.key, host.label, cipher, own, transferred, rate, doubtful)
