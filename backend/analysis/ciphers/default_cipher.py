"""A cipher against today's default, the one that a client uses without configuration, in words."""

import math
from collections.abc import Mapping, Sequence

from analysis.ciphers.cipher_catalogue import Cipher, Policy
from analysis.ciphers.cipher_ranking import Candidate, Gain
from analysis.ciphers.openssh_versions import openssh_version


def against_default(cipher: str, gained: Gain, client: str | None) -> str:
    """The rate against the default of a client's OpenSSH, claiming no more than the noise allows.

    `client`: as `ssh -V` prints it.
    """
    if gained.over == cipher:
        return f"the {_default_of(client)}"
    if gained.beyond_noise and gained.ratio < 1:
        return slower(gained, client)
    times = gained.at_least if gained.is_open and gained.beyond_noise else f"{gained.ratio:.2f}"
    if gained.beyond_noise:
        return f"{times} times the rate of {_named_default(gained, client)}"
    return f"{times} times the rate (within the noise) of {_named_default(gained, client)}"


def slower(gained: Gain, client: str | None) -> str:
    """ "38 % slower than chacha20-poly1305, the default of OpenSSH 9.9"; beyond the noise."""
    percent = f"{-gained.percent:.0f} %"
    if gained.is_open:
        percent = f"at least {math.floor((1 - gained.highest) * 100)} %"
    return f"{percent} slower than {_named_default(gained, client)}"


def _named_default(gained: Gain, client: str | None) -> str:
    return f"{short_name(gained.over)}, the {_default_of(client)}"


def _default_of(client: str | None) -> str:
    return f"default of {_release(client)}" if openssh_version(client) else "client's default"


def slower_than_default(
    gained: Gain | None,
    default: Candidate | None,
    later: Sequence[Candidate],
    policy: Policy,
    ends: tuple[str | None, str | None],
) -> str | None:
    """Why a cipher is preferred to today's default although it is slower; None for any other.

    `later`: what is ranked after it. Whatever comes after the default costs nobody speed.
    `ends`: the OpenSSH of client and server, as `ssh -V` prints it.
    """
    if gained is None or default is None or not gained.beyond_noise or gained.ratio >= 1:
        return None
    why, costs = exclusion(default.cipher, policy, *ends), slower(gained, ends[0])
    if why:
        return f"{costs}, which {why}"
    if all(one.cipher.name != default.cipher.name for one in later):
        return None
    return f"{costs}, which is less safe (rated {default.assessment.status})"


def exclusion(cipher: Cipher, policy: Policy, client: str | None, server: str | None) -> str | None:
    """Why the policy excludes a cipher between two OpenSSH versions; None when it allows it.

    "the modern policy excludes because of Terrapin (OpenSSH 9.2 on the server)".
    """
    assessment = cipher.assess(client, server)
    if policy.allows(assessment.status):
        return None
    reason = because(cipher, client, server) or f" because it is rated {assessment.status}"
    return f"the {policy.name} policy excludes{reason}"


def because(cipher: Cipher, client: str | None, server: str | None) -> str:
    """ " because of Terrapin (OpenSSH 9.2 on the server)": whence its status; empty for its own."""
    assessment = cipher.assess(client, server)
    for advisory in cipher.advisories:
        affected = advisory.affected_ends(client, server)
        if affected and advisory.assessment == assessment:
            return f" because of {advisory.name} ({_ends(affected)})"
    return ""


def _ends(affected: Mapping[str, str | None]) -> str:
    names = {end: _release(text) for end, text in affected.items()}
    if len(names) == 2 and len(set(names.values())) == 1:
        return f"{names['client']} at both ends"
    return " and ".join(f"{name} on the {end}" for end, name in names.items())


def _release(text: str | None) -> str:
    version = openssh_version(text)
    return f"OpenSSH {'.'.join(map(str, version))}" if version else "unknown OpenSSH"


def short_name(cipher: str) -> str:
    """The name without the domain that marks a private extension: "chacha20-poly1305"."""
    return cipher.partition("@")[0]
