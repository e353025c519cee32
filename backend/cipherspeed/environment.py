import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cipherspeed.cpu import clean_cpu_model, cpu_name, cpu_vendor, microarchitecture
from cipherspeed.naming import Label, label

FINGERPRINT_VERSION = 2


@dataclass(frozen=True)
class Dimensions:
    cpu: Label
    cpu_vendor: Label
    microarchitecture: Label
    architecture: Label
    os: Label
    os_version: Label
    openssl: Label
    openssl_series: Label
    openssh: Label
    virtualization: Label


def dimensions(environment: Mapping[str, Any]) -> Dimensions:
    cpu, system = environment["cpu"], environment["os"]
    version_text = environment["openssl"].get("version_text")
    model = cpu_name(cpu)
    return Dimensions(
        cpu=label(model, "Unknown CPU"),
        cpu_vendor=label(cpu_vendor(cpu.get("vendor"), model), "Unknown vendor"),
        microarchitecture=label(microarchitecture(cpu), "Unknown microarchitecture"),
        architecture=label(cpu.get("architecture"), "Unknown architecture"),
        os=label(os_name(system), "Unknown OS"),
        os_version=label(os_version(system), "Unknown OS"),
        openssl=label(openssl_release(version_text), "Unknown OpenSSL"),
        openssl_series=label(openssl_series(version_text), "Unknown OpenSSL"),
        openssh=label(openssh_label(environment["openssh"].get("client")), "Unknown OpenSSH"),
        virtualization=label(environment.get("virtualization"), "Not stated"),
    )


@dataclass(frozen=True)
class SshLibrary:
    openssl: Label
    openssl_series: Label


def ssh_library(environment: Mapping[str, Any]) -> SshLibrary | None:
    """Return the crypto library that ssh uses.

    Return None if the library is unknown, or is the same release as the openssl program.
    """
    text = _differing_ssh_library(environment)
    if text is None:
        return None
    return SshLibrary(
        openssl=label(openssl_release(text), "Unknown OpenSSL"),
        openssl_series=label(openssl_series(text), "Unknown OpenSSL"),
    )


def _differing_ssh_library(environment: Mapping[str, Any]) -> str | None:
    stated = environment["openssh"].get("library")
    own = environment["openssl"].get("version_text")
    return None if openssl_release(stated) in (None, openssl_release(own)) else stated


def fingerprint(environment: Mapping[str, Any]) -> str:
    """Return a SHA-256 in hex that identifies the environment of a run.

    Runs with the same SHA-256 count as runs in the same environment.
    """
    openssl = environment["openssl"]
    library = _differing_ssh_library(environment)
    facts: dict[str, Any] = {
        "fingerprint": FINGERPRINT_VERSION,
        **_shared_facts(environment),
        "openssl": {
            name: openssl.get(name)
            for name in ("version_text", "built_on", "platform", "compiler", "cpu_settings")
        },
    }
    # Documents of older agents lack ssh's library, but must have the same fingerprint.
    if library is not None:
        facts["openssh"]["library"] = library
    return _digest(facts).hex()


def ssh_environment(environment: Mapping[str, Any]) -> int:
    """Return a 63-bit hash of the properties that matter for ssh.

    The hash includes the crypto library of ssh, but not the program that the agent option
    `--openssl` selects. Runs with different openssl programs can therefore have the same hash.
    """
    library = _differing_ssh_library(environment) or environment["openssl"].get("version_text")
    facts = _shared_facts(environment)
    facts["openssh"]["library"] = openssl_release(library)
    return int.from_bytes(_digest(facts)[:8], "big") >> 1


def _digest(facts: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).digest()


def _shared_facts(environment: Mapping[str, Any]) -> dict[str, Any]:
    cpu, system = environment["cpu"], environment["os"]
    return {
        "cpu": {
            "model": clean_cpu_model(cpu.get("model")),
            "flags": sorted(cpu.get("flags") or ()),
            **{
                name: cpu.get(name)
                for name in ("vendor", "architecture", "family", "model_id", "stepping")
            },
            **{name: cpu.get(name) for name in ("cores", "threads", "governor")},
        },
        "os": {name: system.get(name) for name in ("id", "name", "version", "kernel")},
        # Exclude the server, because runs without sshd lack it but have the same environment.
        "openssh": {"client": environment["openssh"].get("client")},
        "virtualization": environment.get("virtualization"),
    }


_SPELLING = {name.lower(): name for name in ("OpenSSL", "LibreSSL", "BoringSSL", "SSLeay")}
_LIBRARY = re.compile(rf"(?P<name>{'|'.join(_SPELLING)})\s+v?(?P<version>\d[\w.+-]*)", re.I)
_WITHOUT = re.compile(r"without OpenSSL\b", re.I)
WITHOUT = "Without OpenSSL"

_OPENSSH = re.compile(r"OpenSSH_(?:for_Windows_)?(?P<version>\d+(?:\.\d+)+(?:p\d+)?)")


def openssl_release(version_text: str | None) -> str | None:
    """Shorten "OpenSSL 3.0.19 27 Jan 2026" to "OpenSSL 3.0.19". Return unknown text unchanged."""
    if not version_text:
        return None
    match = _LIBRARY.search(version_text)
    if match is None:
        return WITHOUT if _WITHOUT.match(version_text) else version_text
    return f"{_SPELLING[match['name'].lower()]} {match['version']}"


def openssl_series(version_text: str | None) -> str | None:
    """Return the release series, such as "3.0", "1.1.1", "0.9.8" or "LibreSSL 3.8"."""
    match = _LIBRARY.search(version_text or "")
    if match is None:
        return WITHOUT if _WITHOUT.match(version_text or "") else None
    name = _SPELLING[match["name"].lower()]
    numbers = re.findall(r"\d+", match["version"].split("-")[0])
    if name == "OpenSSL":
        return ".".join(numbers[:2] if int(numbers[0]) >= 3 else numbers[:3])
    return f"{name} {'.'.join(numbers[:2])}"


def openssh_label(client: str | None) -> str | None:
    """Shorten "OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19" to "OpenSSH 9.2p1"."""
    match = _OPENSSH.search(client or "")
    return f"OpenSSH {match['version']}" if match else client


_OS_NAMES = {
    spelling.lower(): name
    for name, *others in (
        ("AlmaLinux",),
        ("Alpine Linux", "Alpine"),
        ("Amazon Linux", "Amazon Linux AMI", "amzn"),
        ("Arch Linux", "Arch", "archlinux"),
        ("CentOS Linux", "CentOS"),
        ("Debian GNU/Linux", "Debian"),
        ("Fedora", "Fedora Linux"),
        ("FreeBSD",),
        ("Kali GNU/Linux", "Kali", "Kali Linux"),
        ("Linux Mint", "linuxmint"),
        ("macOS", "Mac OS X", "OS X", "Mac OS", "Darwin"),
        ("Manjaro Linux", "Manjaro"),
        ("Oracle Linux", "Oracle Linux Server", "ol"),
        ("Raspbian GNU/Linux", "Raspbian"),
        ("Red Hat Enterprise Linux", "Red Hat Enterprise Linux Server", "RHEL"),
        ("Rocky Linux", "Rocky"),
        ("Ubuntu",),
        ("Windows", "Microsoft Windows"),
    )
    for spelling in (name, *others)
}


def _one_name(text: str) -> str:
    return _OS_NAMES.get(text.lower(), text)


def os_name(facts: Mapping[str, Any]) -> str | None:
    stated = facts.get("name") or facts.get("id")
    return _one_name(stated) if stated else None


def os_version(facts: Mapping[str, Any]) -> str | None:
    """Return the name and version of the operating system, such as "Debian GNU/Linux 12"."""
    name = os_name(facts)
    return " ".join(part for part in (name, facts.get("version")) if part) if name else None


_OS_TEXT = re.compile(
    r"(?P<name>.*?\S)[ \t]+v?(?P<version>\d[\w.]*)(?P<rest>(?:[ \t]+\S.*)?)", re.S
)
_SUPPORT_OR_CODENAME = re.compile(r"[ \t]+(?:LTS\b|\().*", re.S)


def os_facts(text: str) -> dict[str, str | None]:
    """Convert text such as "Debian 12" to the member `os` of a run document.

    Example: {"name": "Debian GNU/Linux", "version": "12"}.
    """
    match = _OS_TEXT.fullmatch(text.strip())
    name = match["name"] if match else text.strip()
    version = match["version"] + _SUPPORT_OR_CODENAME.sub("", match["rest"]) if match else None
    return {"name": _one_name(name), "version": version}
