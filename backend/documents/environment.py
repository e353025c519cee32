"""What can change on a host and affects speed, as dimensions and as one fingerprint."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from documents.cpu import clean_cpu_model, cpu_name, cpu_vendor, microarchitecture
from documents.json_text import canonical_json
from documents.naming import Label, label
from documents.software import (
    openssh_release,
    openssl_release,
    openssl_series,
    os_name,
    os_version,
)

FINGERPRINT_VERSION = 2


@dataclass(frozen=True)
class Dimensions:
    """What runs are grouped and filtered by, each with a key and a label."""

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
    """The dimensions of a run document's `environment`; what it does not say is unknown."""
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
        openssh=label(openssh_release(environment["openssh"].get("client")), "Unknown OpenSSH"),
        virtualization=label(environment.get("virtualization"), "Not stated"),
    )


def fingerprint(environment: Mapping[str, Any]) -> str:
    """SHA-256 (hex) over the stable, normalised facts; never over a reading such as the load.

    Two runs with one fingerprint were made in one environment. `FINGERPRINT_VERSION` goes in,
    so that a changed recipe cannot be mistaken for a changed machine.
    """
    cpu, system = environment["cpu"], environment["os"]
    openssl, openssh = environment["openssl"], environment["openssh"]
    facts = {
        "fingerprint": FINGERPRINT_VERSION,
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
        "openssl": {
            name: openssl.get(name)
            for name in ("version_text", "built_on", "platform", "compiler", "cpu_settings")
        },
        # Not the server: a run without sshd does not know it, and is no other environment.
        "openssh": {"client": openssh.get("client")},
        "virtualization": environment.get("virtualization"),
    }
    return hashlib.sha256(canonical_json(facts)).hexdigest()
