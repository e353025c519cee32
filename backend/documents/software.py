"""Names and versions of OpenSSL, OpenSSH and operating systems as people say them."""

import re
from collections.abc import Mapping
from typing import Any

_LIBRARY = re.compile(
    r"(?P<name>OpenSSL|LibreSSL|BoringSSL|SSLeay)\s+v?(?P<version>\d[\w.+-]*)", re.I
)
_SPELLING = {
    "openssl": "OpenSSL",
    "libressl": "LibreSSL",
    "boringssl": "BoringSSL",
    "ssleay": "SSLeay",
}
_WITHOUT = re.compile(r"without OpenSSL\b", re.I)
WITHOUT = "Without OpenSSL"
"""The label of an ssh that has its few ciphers built in."""

_OPENSSH = re.compile(r"OpenSSH_(?:for_Windows_)?(?P<version>\d+(?:\.\d+)+(?:p\d+)?)")


def openssl_release(version_text: str | None) -> str | None:
    """ "OpenSSL 3.0.19 27 Jan 2026 (Library: ...)" -> "OpenSSL 3.0.19"; other text as it is."""
    if not version_text:
        return None
    found = _LIBRARY.search(version_text)
    if found is None:
        return WITHOUT if _WITHOUT.match(version_text) else version_text
    return f"{_SPELLING[found['name'].lower()]} {found['version']}"


def openssl_series(version_text: str | None) -> str | None:
    """The line of releases that keeps one ABI: 3.0, 1.1.1, 0.9.8, LibreSSL 3.8.

    OpenSSL counts series by two numbers from 3.0 on and by three before.
    """
    found = _LIBRARY.search(version_text or "")
    if found is None:
        return WITHOUT if _WITHOUT.match(version_text or "") else None
    name = _SPELLING[found["name"].lower()]
    numbers = re.findall(r"\d+", found["version"].split("-")[0])
    if name == "OpenSSL":
        return ".".join(numbers[:2] if int(numbers[0]) >= 3 else numbers[:3])
    return f"{name} {'.'.join(numbers[:2])}"


def openssh_release(client: str | None) -> str | None:
    """ "OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19" -> "OpenSSH 9.2p1"."""
    found = _OPENSSH.search(client or "")
    return f"OpenSSH {found['version']}" if found else client


def os_name(facts: Mapping[str, Any]) -> str | None:
    """The operating system without its version."""
    return facts.get("name") or facts.get("id")


def os_version(facts: Mapping[str, Any]) -> str | None:
    """The operating system with its version, where one is known."""
    name = os_name(facts)
    return " ".join(part for part in (name, facts.get("version")) if part) if name else None


_OS_TEXT = re.compile(
    r"(?P<name>.*?\S)[ \t]+v?(?P<version>\d[\w.]*)(?P<rest>(?:[ \t]+\S.*)?)", re.S
)
_SUPPORT_OR_CODENAME = re.compile(r"[ \t]+(?:LTS\b|\().*", re.S)
_OS_NAMES = {"debian": "Debian GNU/Linux", "macos": "macOS", "os x": "OS X", "freebsd": "FreeBSD"}
"""What people call a system, and what it calls itself in /etc/os-release."""


def os_facts(text: str) -> dict[str, str | None]:
    """A system as a person writes it, as a run document's `os`.

    "Debian 12" is the system that agents call "Debian GNU/Linux", version "12".
    """
    found = _OS_TEXT.fullmatch(text.strip())
    name = found["name"] if found else text.strip()
    version = found["version"] + _SUPPORT_OR_CODENAME.sub("", found["rest"]) if found else None
    return {"name": _OS_NAMES.get(name.lower(), name), "version": version}
