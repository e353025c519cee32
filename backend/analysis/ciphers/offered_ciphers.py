"""Which ciphers an ssh offers, as far as its version and its runs tell."""

from collections.abc import Set as AbstractSet

from analysis.ciphers.cipher_catalogue import Catalogue
from analysis.ciphers.openssh_versions import openssh_version

NOT_OFFERED = "this OpenSSH does not offer it"
"""The agent's reason for having skipped a cipher that `ssh -Q cipher` does not list."""


def offered_ciphers(
    client: str | None,
    measured: AbstractSet[str],
    not_offered: AbstractSet[str],
    catalogue: Catalogue,
) -> frozenset[str] | None:
    """What `ssh -Q cipher` would list; None where the version of the client is not known.

    A run names only what it measured, so the rest is what OpenSSH of that version has. What was
    measured is there although a distribution may differ from the release; what a run says to be
    `not_offered` is not.
    """
    version = openssh_version(client)
    if version is None:
        return None
    released = {
        cipher.name
        for cipher in catalogue.ciphers
        if cipher.openssh and cipher.openssh.present.contains(version)
    }
    return frozenset((released | measured) - not_offered)
