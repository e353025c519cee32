from collections.abc import Mapping
from typing import Any

from core.formatting import data_size

# Paths into the environment of a run document, by label.
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
    if environment is None:
        return []
    known = [(label, _stated(environment, *path)) for label, path in FACTS]
    memory = environment.get("memory_bytes")
    if memory:
        known.append(("Memory", data_size(memory)))
    # Of hundreds of flags, show those that cipher code uses.
    flags = (flag for flag in _stated(environment, "cpu", "flags") or () if flag in TELLING_FLAGS)
    known.append(("Cipher-related CPU flags", ", ".join(flags)))
    return [(label, str(value)) for label, value in known if value not in (None, "")]


def _stated(environment: Mapping[str, Any], *path: str) -> Any:
    value: Any = environment
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


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
