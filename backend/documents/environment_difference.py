"""What changed between two environments, in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from documents.cpu import cpu_name
from documents.software import openssh_release, openssl_release, os_version

Facts = Mapping[str, Any]

FLAGS_NAMED = 12
"""Flags that one sentence names; of more it gives the number."""


@dataclass(frozen=True)
class Difference:
    """One fact that differs: `what` it is, and how it changed, in words.

    `before` and `after` as reported, None where the environment does not say. A fact that one
    side does not state is listed only when asked for: it need not have changed.
    """

    what: str
    before: str | None
    after: str | None

    @property
    def words(self) -> str:
        return f"{self.what}: {self.before or 'not stated'} → {self.after or 'not stated'}"


@dataclass(frozen=True)
class FlagsChanged(Difference):
    """CPU flags gained and lost; `before` and `after` are the lost and the gained ones."""

    @property
    def words(self) -> str:
        parts = (("lost", self.before), ("gained", self.after))
        return f"{self.what}: " + ", ".join(f"{verb} {flags}" for verb, flags in parts if flags)


def _of(section: str, name: str) -> Callable[[Facts], str | None]:
    """Reads one member of one section as text."""

    def read(environment: Facts) -> str | None:
        value = (environment.get(section) or {}).get(name)
        return None if value is None else str(value)

    return read


def _openssl(environment: Facts) -> str | None:
    return openssl_release((environment.get("openssl") or {}).get("version_text"))


def _openssh(end: str) -> Callable[[Facts], str | None]:
    return lambda environment: openssh_release((environment.get("openssh") or {}).get(end))


def _virtualization(environment: Facts) -> str | None:
    value = environment.get("virtualization")
    return "bare metal" if value == "none" else value


_READINGS: tuple[tuple[str, Callable[[Facts], str | None]], ...] = (
    ("OpenSSL", _openssl),
    ("OpenSSL build", _of("openssl", "built_on")),
    ("OpenSSL platform", _of("openssl", "platform")),
    ("OpenSSL compiler", _of("openssl", "compiler")),
    ("OpenSSL's view of the CPU", _of("openssl", "cpu_settings")),
    ("OpenSSH client", _openssh("client")),
    ("OpenSSH server", _openssh("server")),
    ("default cipher", _of("openssh", "default_cipher")),
    ("OS", lambda environment: os_version(environment.get("os") or {})),
    ("kernel", _of("os", "kernel")),
    ("CPU", lambda environment: cpu_name(environment.get("cpu") or {})),
    ("microcode", _of("cpu", "microcode")),
    ("cores", _of("cpu", "cores")),
    ("threads", _of("cpu", "threads")),
    ("frequency governor", _of("cpu", "governor")),
    ("virtualisation", _virtualization),
)
"""What is compared, the likeliest causes of a change in speed first."""


def environment_difference(
    before: Facts, after: Facts, *, unstated: bool = False
) -> tuple[Difference, ...]:
    """What differs between two run documents' `environment`, the likeliest causes first.

    Readings that change from run to run (load, memory) are no difference. With `unstated`
    facts that only one of the two states are listed too.
    """
    read = ((what, reading(before), reading(after)) for what, reading in _READINGS)
    found = [
        Difference(what, old, new)
        for what, old, new in read
        if old != new and (unstated or (old is not None and new is not None))
    ]
    flags = _flags(before, after)
    return (*found, flags) if flags else tuple(found)


def _flags(before: Facts, after: Facts) -> FlagsChanged | None:
    """Flags gained and lost; None where either side states none."""
    old, new = (set((one.get("cpu") or {}).get("flags") or ()) for one in (before, after))
    if not old or not new or old == new:
        return None
    return FlagsChanged("CPU flags", _listed(old - new), _listed(new - old))


def _listed(flags: set[str]) -> str | None:
    if len(flags) > FLAGS_NAMED:
        named = ", ".join(sorted(flags)[:FLAGS_NAMED])
        return f"{named} and {len(flags) - FLAGS_NAMED} more"
    return ", ".join(sorted(flags)) or None
