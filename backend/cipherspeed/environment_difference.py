"""Describe the differences between environments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cipherspeed.cpu import cpu_name
from cipherspeed.environment import openssh_label, openssl_release, os_version

Facts = Mapping[str, Any]

Part = Literal["openssl", "openssh", "os", "cpu", "virtualization"]

FLAGS_NAMED = 12
"""Maximum number of flags listed in a sentence. Only the number of further flags is shown."""


@dataclass(frozen=True)
class Difference:
    """Describe a property that differs; `before` and `after` are as reported."""

    what: str
    before: str | None
    after: str | None

    @property
    def words(self) -> str:
        """Return "OpenSSL 1.1.1w → 3.0.11"; a name that the values repeat is given once."""
        before, after = (value or "unknown" for value in (self.before, self.after))
        if before.startswith(f"{self.what} "):
            return f"{before} → {after.removeprefix(f'{self.what} ')}"
        return f"{self.what}: {before} → {after}"


@dataclass(frozen=True)
class FlagsChanged(Difference):
    """Describe changed CPU flags: `before` lists the lost flags, `after` the gained flags."""

    @property
    def words(self) -> str:
        return f"{self.what} ({self.changes})"

    @property
    def changes(self) -> str:
        parts = (("lost", self.before), ("gained", self.after))
        return ", ".join(f"{verb} {flags}" for verb, flags in parts if flags)


def _of(section: str, name: str) -> Callable[[Facts], str | None]:
    """Return a function that reads a member of a section as text."""

    def read(environment: Facts) -> str | None:
        value = (environment.get(section) or {}).get(name)
        return None if value is None else str(value)

    return read


def _openssl(environment: Facts) -> str | None:
    return openssl_release((environment.get("openssl") or {}).get("version_text"))


def _ssh_library(environment: Facts) -> str | None:
    """Return ssh's library, or the openssl program's if it is unknown."""
    stated = (environment.get("openssh") or {}).get("library")
    return openssl_release(stated) or _openssl(environment)


def _openssh(end: str) -> Callable[[Facts], str | None]:
    return lambda environment: openssh_label((environment.get("openssh") or {}).get(end))


def _virtualization(environment: Facts) -> str | None:
    value = environment.get("virtualization")
    return "bare metal" if value == "none" else value


Reading = tuple[str, Part, Callable[[Facts], str | None]]

_BUILD: tuple[Reading, ...] = (
    ("OpenSSL build", "openssl", _of("openssl", "built_on")),
    ("OpenSSL platform", "openssl", _of("openssl", "platform")),
    ("OpenSSL compiler", "openssl", _of("openssl", "compiler")),
    ("OpenSSL CPU settings", "openssl", _of("openssl", "cpu_settings")),
)
_READINGS: tuple[Reading, ...] = (
    ("OpenSSH client", "openssh", _openssh("client")),
    ("OpenSSH server", "openssh", _openssh("server")),
    ("default cipher", "openssh", _of("openssh", "default_cipher")),
    ("OS", "os", lambda environment: os_version(environment.get("os") or {})),
    ("kernel", "os", _of("os", "kernel")),
    ("CPU", "cpu", lambda environment: cpu_name(environment.get("cpu") or {})),
    ("microcode", "cpu", _of("cpu", "microcode")),
    ("cores", "cpu", _of("cpu", "cores")),
    ("threads", "cpu", _of("cpu", "threads")),
    ("frequency governor", "cpu", _of("cpu", "governor")),
    ("virtualisation", "virtualization", _virtualization),
)
"""Properties to compare in addition to the libraries, by section."""

_BETWEEN_RUNS: tuple[Part, ...] = ("openssl", "openssh", "os", "cpu", "virtualization")
_BETWEEN_HOSTS: tuple[Part, ...] = ("cpu", "virtualization", "openssl", "os", "openssh")
"""Sections, most likely to affect speed between hosts first."""


def _libraries(environments: Iterable[Facts], tool: str | None) -> tuple[Reading, ...]:
    """Return the tool's library, or those of both tools; include ssh's only if it differs."""
    alike = all(_ssh_library(environment) == _openssl(environment) for environment in environments)
    if tool == "ssh":
        return (("OpenSSL", "openssl", _ssh_library), *(_BUILD if alike else ()))
    own: Reading = ("OpenSSL", "openssl", _openssl)
    of_ssh: Reading = ("SSH library", "openssl", _ssh_library)
    return (own, *_BUILD) if tool or alike else (own, of_ssh, *_BUILD)


def environment_difference(
    before: Facts,
    after: Facts,
    *,
    tool: str | None = None,
) -> tuple[Difference, ...]:
    """Return the differences between two environments, most likely causes first.

    With `tool`, include only that tool's library. Ignore readings (load, memory) and properties
    that only one side has.
    """
    differences = [
        (part, Difference(what, old, new))
        for what, part, reading in (*_libraries((before, after), tool), *_READINGS)
        if (old := reading(before)) != (new := reading(after))
        and old is not None
        and new is not None
    ]
    flags = _flags(before, after)
    differences += [("cpu", flags)] if flags else []
    differences.sort(key=lambda fact: _BETWEEN_RUNS.index(fact[0]))
    return tuple(difference for _, difference in differences)


def differing_facts(
    environments: Sequence[Facts], *, hosts: bool = False
) -> tuple[tuple[str, tuple[str | None, ...]], ...]:
    """Return the properties that differ between environments, with the value of each.

    They are in the order of `environment_difference`; missing values are None. For CPU flags,
    the value is the difference from the first environment, or empty.
    """
    order = _BETWEEN_HOSTS if hosts else _BETWEEN_RUNS
    facts = [
        (part, what, tuple(reading(environment) for environment in environments))
        for what, part, reading in (*_libraries(environments, None), *_READINGS)
    ]
    flags = [_flags(environments[0], environment) for environment in environments]
    changed_flags: tuple[str | None, ...] = tuple(
        changed.changes if changed else "" for changed in flags
    )
    facts.append(("cpu", "CPU flags", changed_flags))
    facts.sort(key=lambda fact: order.index(fact[0]))
    return tuple((what, values) for _, what, values in facts if len(set(values)) > 1)


def _flags(before: Facts, after: Facts) -> FlagsChanged | None:
    """Return the flags gained and lost, or None if one side has no flags."""
    old, new = (set((facts.get("cpu") or {}).get("flags") or ()) for facts in (before, after))
    if not old or not new or old == new:
        return None
    return FlagsChanged("CPU flags", _listed(old - new), _listed(new - old))


def _listed(flags: set[str]) -> str | None:
    if len(flags) > FLAGS_NAMED:
        named = ", ".join(sorted(flags)[:FLAGS_NAMED])
        return f"{named} and {len(flags) - FLAGS_NAMED} more"
    return ", ".join(sorted(flags)) or None
