"""The environment of a run as labelled lines; what is not known is left out."""

from collections.abc import Mapping
from typing import Any

from pages.formatting import data_size

# Label -> path into the environment of a run document.
FACTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("CPU", ("cpu", "model")),
    ("Board", ("cpu", "board")),
    ("Vendor", ("cpu", "vendor")),
    ("Architecture", ("cpu", "architecture")),
    ("Cores", ("cpu", "cores")),
    ("Hardware threads", ("cpu", "threads")),
    ("Governor", ("cpu", "governor")),
    ("Virtualisation", ("virtualization",)),
    ("Operating system", ("os", "name")),
    ("OS version", ("os", "version")),
    ("Kernel", ("os", "kernel")),
    ("OpenSSL", ("openssl", "version_text")),
    ("OpenSSL built", ("openssl", "built_on")),
    ("OpenSSL platform", ("openssl", "platform")),
    ("OpenSSL compiler", ("openssl", "compiler")),
    ("OpenSSL CPU settings", ("openssl", "cpu_settings")),
    ("OpenSSH client", ("openssh", "client")),
    ("OpenSSH server", ("openssh", "server")),
    ("SSH client library", ("openssh", "library")),
    ("SSH server library", ("openssh", "server_library")),
    ("Default cipher", ("openssh", "default_cipher")),
)


def environment_facts(environment: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Label and value of every fact that is known, in reading order."""
    if environment is None:
        return []
    known = [(label, _fact(environment, path)) for label, path in FACTS]
    memory = environment.get("memory_bytes")
    if memory:
        known.append(("Memory", data_size(memory)))
    flags = _cpu_flags(environment)
    known.append(("CPU flags for ciphers", ", ".join(flags)))
    return [(label, value) for label, value in known if value]


def _fact(environment: Mapping[str, Any], path: tuple[str, ...]) -> str:
    value: Any = environment
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return "" if value is None else str(value)


TELLING_FLAGS = frozenset(
    [
        "aes",
        "pclmulqdq",
        "vaes",
        "vpclmulqdq",
        "avx2",
        "avx512f",
        "sha_ni",
        "pmull",
        "sha1",
        "sha2",
        "sha3",
        "asimd",
        "neon",
    ]
)


def _cpu_flags(environment: Mapping[str, Any]) -> list[str]:
    """The flags that cipher code looks at, of a list that has hundreds."""
    cpu = environment.get("cpu")
    flags = cpu.get("flags") if isinstance(cpu, Mapping) else None
    return [flag for flag in flags or [] if flag in TELLING_FLAGS]
