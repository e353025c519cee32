from typing import Any
from uuid import uuid4


def ssh_measurement(cipher: str, *rates: float, **changes: Any) -> dict[str, Any]:
    """Return an ssh series with one try for each rate (in bytes per second)."""
    return {
        "tool": "ssh",
        "cipher": cipher,
        "method": "pipeline",
        "target": {"kind": "loopback", "name": None},
        "samples": [{"bytes": round(rate * 2), "seconds": 2.0} for rate in rates],
        **changes,
    }


def openssl_measurement(cipher: str, *rates: float, **changes: Any) -> dict[str, Any]:
    """Return an openssl series (8 KiB blocks) with one try for each rate (in bytes per second)."""
    return {
        "tool": "openssl",
        "cipher": cipher,
        "operation": "encrypt",
        "block_size": 8192,
        "samples": [{"bytes": round(rate * 3), "seconds": 3.0} for rate in rates],
        **changes,
    }


def run_document(*measurements: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a valid run document. `changes`: members that differ from the default values."""
    return {
        "schema": "ciphermark/run/1",
        "run_id": str(uuid4()),
        "agent": {"name": "ciphermark-agent", "version": "1.0.0"},
        "started_at": "2025-11-21T06:48:10Z",
        "finished_at": "2025-11-21T06:52:31Z",
        "host": {"name": "nas", "machine_id": None},
        "tags": {"rack": "b2"},
        "environment": environment(),
        "conditions": [{"code": "busy", "detail": "other programs used 0.12 CPU cores"}],
        "measurements": list(measurements)
        or [ssh_measurement("aes128-gcm@openssh.com", 400e6, 410e6, 420e6)],
        "skipped": [],
        **changes,
    }


def environment(**cpu: Any) -> dict[str, Any]:
    """Return an environment. `cpu`: members of the CPU that differ from the default values."""
    return {
        "cpu": {
            "model": "AMD EPYC 9R14",
            "vendor": "AuthenticAMD",
            "architecture": "x86_64",
            "family": 25,
            "model_id": 17,
            "stepping": 1,
            "cores": 2,
            "threads": 2,
            "flags": ["aes", "pclmulqdq", "vaes"],
            **cpu,
        },
        "virtualization": "kvm",
        "memory_bytes": 25769803776,
        "os": {"id": "debian", "name": "Debian GNU/Linux", "version": "12", "kernel": "Linux 6.1"},
        "openssl": {"version_text": "OpenSSL 3.0.19 27 Jan 2026", "platform": "debian-amd64"},
        "openssh": {
            "client": "OpenSSH_9.2p1 Debian-2+deb12u6",
            "default_cipher": "chacha20-poly1305@openssh.com",
        },
    }
