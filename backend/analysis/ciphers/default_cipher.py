"""A cipher against today's default, the one that a client uses without configuration, in words."""

import math
from collections.abc import Sequence

from analysis.ciphers.cipher_catalogue import Advisory, Cipher
from analysis.ciphers.cipher_policies import Policy
from analysis.ciphers.cipher_ranking import Candidate, Gain
from analysis.ciphers.openssh_versions import openssh_version


def against_default(cipher: str, gained: Gain) -> str:
    """The rate against today's default, in words that claim no more than the noise allows."""
    if gained.over == cipher:
        return "today's default"
    if gained.beyond_noise and gained.ratio < 1:
        return slower(gained)
    times = gained.at_least if gained.is_open and gained.beyond_noise else f"{gained.ratio:.2f}"
    ratio = f"{times} times the rate of today's default, {short_name(gained.over)}"
    return ratio if gained.beyond_noise else f"{ratio}, which is within the noise"


def slower(gained: Gain) -> str:
    """ "38 % slower than today's default, chacha20-poly1305"; for one slower beyond the noise."""
    percent = f"{-gained.percent:.0f} %"
    if gained.is_open:
        percent = f"at least {math.floor((1 - gained.highest) * 100)} %"
    return f"{percent} slower than today's default, {short_name(gained.over)}"


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
    why = exclusion(default.cipher, policy, *ends)
    if why:
        return f"{slower(gained)}, which {why}"
    if all(one.cipher.name != default.cipher.name for one in later):
        return None
    return f"{slower(gained)}, which is less safe (rated {default.assessment.status})"


def exclusion(cipher: Cipher, policy: Policy, client: str | None, server: str | None) -> str | None:
    """Why the policy excludes a cipher between two OpenSSH versions; None when it allows it.

    "the modern policy excludes because of Terrapin (OpenSSH 9.2 at one end)".
    """
    assessment = cipher.assess(client, server)
    if policy.allows(assessment.status):
        return None
    begin = f"the {policy.name} policy excludes"
    for advisory in cipher.advisories:
        affected = advisory.affected_ends(client, server)
        if affected and advisory.assessment == assessment:
            return f"{begin} because of {advisory.name} ({_ends(advisory, affected)})"
    return f"{begin} because it is rated {assessment.status}"


def _ends(advisory: Advisory, affected: Sequence[str | None]) -> str:
    names = [_release(text) for text in affected]
    if advisory.ends == "server":
        return f"{names[0]} on the server"
    if len(names) == 1:
        return f"{names[0]} at one end"
    return f"{names[0]} at both ends" if len(set(names)) == 1 else " and ".join(names)


def _release(text: str | None) -> str:
    version = openssh_version(text)
    return f"OpenSSH {'.'.join(map(str, version))}" if version else "unknown OpenSSH"


def short_name(cipher: str) -> str:
    """The name without the domain that marks a private extension: "chacha20-poly1305"."""
    return cipher.partition("@")[0]
