from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cipherspeed.cpu import cpu_name
from cipherspeed.environment import openssh_label, openssl_release, os_version

Facts = Mapping[str, Any]

Part = Literal["openssl", "openssh", "os", "cpu", "virtualization"]

FLAGS_NAMED = 12


@dataclass(frozen=True)
class Difference:
    what: str
    before: str | None
    after: str | None

    @property
    def words(self) -> str:
        """Return text such as "OpenSSL 1.1.1w → 3.0.11" or "cores: 4 → 8"."""
        before, after = (value or "unknown" for value in (self.before, self.after))
        if before.startswith(f"{self.what} "):
            return f"{before} → {after.removeprefix(f'{self.what} ')}"
        return f"{self.what}: {before} → {after}"


@dataclass(frozen=True)
class FlagsChanged(Difference):
    """Describe changed CPU flags.

    `before` lists the removed flags, and `after` lists the added flags.
    """

    @property
    def words(self) -> str:
        return f"{self.what} ({self.changes})"

    @property
    def changes(self) -> str:
        parts = (("lost", self.before), ("gained", self.after))
        return ", ".join(f"{verb} {flags}" for verb, flags in parts if flags)


def _reader(section: str, name: str) -> Callable[[Facts], str | None]:
    def read(environment: Facts) -> str | None:
        value = (environment.get(section) or {}).get(name)
        return None if value is None else str(value)

    return read


def _openssl(environment: Facts) -> str | None:
    return openssl_release((environment.get("openssl") or {}).get("version_text"))


def _ssh_library(environment: Facts) -> str | None:
    stated = (environment.get("openssh") or {}).get("library")
    return openssl_release(stated) or _openssl(environment)


def _openssh(end: str) -> Callable[[Facts], str | None]:
    return lambda environment: openssh_label((environment.get("openssh") or {}).get(end))


def _virtualization(environment: Facts) -> str | None:
    value = environment.get("virtualization")
    return "bare metal" if value == "none" else value


Reading = tuple[str, Part, Callable[[Facts], str | None]]

_BUILD: tuple[Reading, ...] = (
    ("OpenSSL build", "openssl", _reader("openssl", "built_on")),
    ("OpenSSL platform", "openssl", _reader("openssl", "platform")),
    ("OpenSSL compiler", "openssl", _reader("openssl", "compiler")),
    ("OpenSSL CPU settings", "openssl", _reader("openssl", "cpu_settings")),
)
_READINGS: tuple[Reading, ...] = (
    ("OpenSSH client", "openssh", _openssh("client")),
    ("OpenSSH server", "openssh", _openssh("server")),
    ("default cipher", "openssh", _reader("openssh", "default_cipher")),
    ("OS", "os", lambda environment: os_version(environment.get("os") or {})),
    ("kernel", "os", _reader("os", "kernel")),
    ("CPU", "cpu", lambda environment: cpu_name(environment.get("cpu") or {})),
    ("microcode", "cpu", _reader("cpu", "microcode")),
    ("cores", "cpu", _reader("cpu", "cores")),
    ("threads", "cpu", _reader("cpu", "threads")),
    ("frequency governor", "cpu", _reader("cpu", "governor")),
    ("virtualisation", "virtualization", _virtualization),
)

# The most likely causes of a difference in speed come first.
_BETWEEN_RUNS: tuple[Part, ...] = ("openssl", "openssh", "os", "cpu", "virtualization")
_BETWEEN_HOSTS: tuple[Part, ...] = ("cpu", "virtualization", "openssl", "os", "openssh")


def _libraries(environments: Iterable[Facts], tool: str | None) -> tuple[Reading, ...]:
    """Return the properties of OpenSSL libraries to compare, with a function that reads each.

    `tool`: compare only the library that this tool uses. None: compare the libraries of both tools.
    """
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
    """Return the differences between two environments.

    The most likely cause of a change comes first. A property that is unknown in one of the
    environments is ignored. `tool`: of the OpenSSL libraries, compare only the library that this
    tool uses.
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
    """Return the names of the properties that differ, with the value in each environment.

    A value is None if unknown. The value of "CPU flags" is the difference from the first
    environment. `hosts`: sort for a comparison of hosts instead of runs.
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
    old, new = (set((facts.get("cpu") or {}).get("flags") or ()) for facts in (before, after))
    if not old or not new or old == new:
        return None
    return FlagsChanged("CPU flags", _listed(old - new), _listed(new - old))


def _listed(flags: set[str]) -> str | None:
    if len(flags) > FLAGS_NAMED:
        named = ", ".join(sorted(flags)[:FLAGS_NAMED])
        return f"{named} and {len(flags) - FLAGS_NAMED} more"
    return ", ".join(sorted(flags)) or None
