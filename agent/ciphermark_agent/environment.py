"""environment of the run document. Unknown is None, never a guess."""

import glob
import hashlib
import os
import platform
import re
from typing import Dict, List, Optional, Tuple

from ciphermark_agent.children import read_number, read_text, run_tool
from ciphermark_agent.common import COUNT_LIMIT, TEXT_LIMIT, Json, cut, reading, real, whole
from ciphermark_agent.conditions import CPU_FOLDER, cpu_speed

MACHINE_ID_SALT = "ciphermark machine id 1:"


def parse_cpuinfo(text: str) -> Json:
    """CPU facts of /proc/cpuinfo, in the words of the run document.

    On ARM the numbers of the fastest core; lscpu knows what they are called.
    """
    blocks = [
        dict(re.findall(r"^([^:\n]*?)\s*:[ \t]*(.*)$", block, re.M))
        for block in text.strip().split("\n\n")
    ]
    arm = [block for block in blocks if "CPU implementer" in block]
    cpu = max(arm or blocks[:1], key=lambda one: cpu_speed(whole(one.get("processor")) or 0))
    name = cpu.get("model name") or cpu.get("cpu model") or cpu.get("cpu")
    flags = cpu.get("flags") or cpu.get("Features") or cpu.get("isa") or ""
    return {
        "model": None if arm else cut(name),
        "vendor": cut(cpu.get("vendor_id")),
        "family": whole(cpu.get("CPU architecture") or cpu.get("cpu family")),
        "model_id": whole(cpu.get("CPU part") or cpu.get("model")),
        "stepping": whole(cpu.get("CPU revision") or cpu.get("stepping")),
        "flags": flags.split() or None,
    }


def lscpu_names(text: str) -> Tuple[Optional[str], Optional[str]]:
    """Model and vendor by lscpu; where cores differ, all their models, the fastest first."""
    found = []
    for part in re.split(r"(?m)^\s*Model name: *", text)[1:]:
        fastest = re.search(r"^\s*CPU max MHz: *([\d.]+)", part, re.M)
        speed = real(fastest.group(1)) if fastest else None
        found.append((-(speed or 0.0), part.split("\n")[0].strip()))
    names = [name for _, name in sorted(found, key=lambda pair: pair[0])]
    vendor = re.search(r"^\s*Vendor ID: *(\S.*)", text, re.M)
    known = names and not {"", "-", "unknown"} & set(names)
    return cut(" + ".join(names)) if known else None, cut(vendor.group(1)) if vendor else None


def sysctl(name: str) -> Optional[str]:
    answer = run_tool(["sysctl", "-n", name])
    return cut(answer.out) if answer.status == 0 else None


def bsd_cpu() -> Json:
    """CPU facts of macOS and FreeBSD. Apple's own tell no flags: the server knows them by name."""
    features = [sysctl("machdep.cpu.features"), sysctl("machdep.cpu.leaf7_features")]
    model = sysctl("machdep.cpu.brand_string") or sysctl("hw.model")
    apple = "Apple" if (model or "").startswith("Apple") else None
    return {
        "model": model,
        "vendor": sysctl("machdep.cpu.vendor") or apple,
        "family": whole(sysctl("machdep.cpu.family")),
        "model_id": whole(sysctl("machdep.cpu.model")),
        "stepping": whole(sysctl("machdep.cpu.stepping")),
        "cores": whole(sysctl("hw.physicalcpu") or sysctl("kern.smp.cores")),
        "flags": " ".join(filter(None, features)).lower().split() or None,
    }


def topology_cores() -> Optional[int]:
    """Physical cores as the kernel's topology files tell."""
    pairs = {
        (read_number(folder + "/physical_package_id"), read_number(folder + "/core_id"))
        for folder in glob.glob(CPU_FOLDER % "[0-9]*" + "topology")
    }
    return len([core for _, core in pairs if core is not None]) or None


def max_mhz() -> Optional[float]:
    """The highest frequency that any core may reach, in MHz."""
    paths = glob.glob(CPU_FOLDER % "[0-9]*" + "cpufreq/cpuinfo_max_freq")
    known = [khz for khz in map(read_number, paths) if khz and 0 < khz < 1000 * COUNT_LIMIT]
    return max(known) / 1000.0 if known else None


def cpu_environment() -> Json:
    text = read_text("/proc/cpuinfo") if platform.system() == "Linux" else None
    facts = parse_cpuinfo(text) if text else bsd_cpu()
    if facts["model"] is None:
        model, vendor = lscpu_names(run_tool(["lscpu"]).out)
        facts.update(model=model, vendor=facts["vendor"] or vendor)
    return {
        **facts,
        "flags": [flag[:100] for flag in (facts["flags"] or [])[:1000]] or None,
        # The machine by the device tree that its firmware handed over: no PC has one.
        "board": cut((read_text("/proc/device-tree/model") or "").rstrip("\0")),
        "cores": facts.get("cores") or topology_cores(),
        "architecture": cut(platform.machine()),
        "threads": os.cpu_count(),
        "max_mhz": max_mhz(),
        "governor": cut(read_text(CPU_FOLDER % 0 + "cpufreq/scaling_governor")),
    }


def detect_virt(kind: str) -> Optional[str]:
    answer = run_tool(["systemd-detect-virt", kind])
    return cut(answer.out) if answer.status in (0, 1) else None


def container() -> Optional[str]:
    """The kind of container we are in, or None."""
    found = detect_virt("--container")
    if found is None and os.path.exists("/.dockerenv"):
        return "docker"
    return None if found == "none" else found


def virtualization(flags: Optional[List[str]]) -> Optional[str]:
    """The kind of virtual machine, else of container, "none" on bare metal, None if unknown.

    The words are those of systemd-detect-virt; where it is absent, lscpu knows most of them.
    """
    found = detect_virt("--vm")
    if found is None:
        named = re.search(r"^\s*Hypervisor vendor: *(\w+)", run_tool(["lscpu"]).out, re.M)
        found = named.group(1).lower() if named else None
    if found is None and flags and platform.machine() in ("x86_64", "i686", "i386"):
        found = "vm-other" if "hypervisor" in flags else "none"
    return (container() if found in (None, "none") else None) or found


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def load_average() -> List[float]:
    return [round(load, 2) for load in os.getloadavg()]


def parse_os_release(text: str) -> Dict[str, str]:
    """Name and value pairs of os-release; quotes removed."""
    pairs = re.findall(r"^([A-Z_0-9]+)=(.*)$", text, re.M)
    return {name: value.strip().strip("\"'") for name, value in pairs}


def os_environment() -> Json:
    if platform.system() == "Darwin":
        release = {"ID": "macos", "NAME": "macOS", "VERSION_ID": platform.mac_ver()[0]}
    else:
        text = read_text("/etc/os-release") or read_text("/usr/lib/os-release") or ""
        release = parse_os_release(text)
    return {
        "id": cut(release.get("ID") or platform.system().lower()),
        "name": cut(release.get("NAME") or platform.system()),
        "version": cut(release.get("VERSION_ID") or (None if release else platform.release())),
        "kernel": cut("%s %s" % (platform.system(), platform.release())),
    }


def parse_openssl_version(text: str) -> Json:
    """environment.openssl from `openssl version -a`."""
    first = (text.strip().splitlines() or [""])[0][:TEXT_LIMIT]
    named = dict(re.findall(r"^([A-Za-z ]+): *(.*)$", text, re.M))
    return {
        # A library of another version than the program stays visible.
        "version_text": cut(re.sub(r"^(.+?) +\(Library: \1\)$", r"\1", first)),
        "built_on": cut(named.get("built on")),
        "platform": cut(named.get("platform")),
        "options": cut(named.get("options")),
        "compiler": cut(named.get("compiler")),
        "cpu_settings": cut(named.get("CPUINFO")),
    }


def machine_id() -> Optional[str]:
    """SHA-256 of the machine's own id with our salt, so that the id cannot be recovered."""
    raw = read_text("/etc/machine-id") or read_text("/var/lib/dbus/machine-id")
    if raw is None and platform.system() == "FreeBSD":
        raw = sysctl("kern.hostuuid")
    if raw is None and platform.system() == "Darwin":
        said = run_tool(["ioreg", "-rd1", "-c", "IOPlatformExpertDevice"]).out
        found = re.search(r'"IOPlatformUUID" = "([0-9A-Fa-f-]{36})"', said)
        raw = found.group(1) if found else None
    if not cut(raw):
        return None
    return hashlib.sha256((MACHINE_ID_SALT + (raw or "").strip()).encode("utf-8")).hexdigest()


def parse_ssh_version(text: str) -> Tuple[Optional[str], Optional[str]]:
    """Version and library out of what ssh -V or sshd prints.

    `OpenSSH_9.2p1 Debian-2+deb12u6`; `OpenSSL 3.0.19 27 Jan 2026` or `without OpenSSL`.
    """
    match = re.search(r"(OpenSSH_[^,\r\n]+)(?:, *([^\r\n]*\S))?", text)
    return (cut(match.group(1)), cut(match.group(2))) if match else (None, None)


def default_cipher(ssh: str) -> Optional[str]:
    """The cipher that the client asks for first, with the machine's own configuration."""
    match = re.search(r"^ciphers ([^,\s]{1,100})", run_tool([ssh, "-G", "127.0.0.1"]).out, re.M)
    return match.group(1).lower() if match else None


def environment(ssh: Optional[str], openssl: Optional[str]) -> Json:
    """environment of the run document; a reading that fails is unknown."""
    cpu = reading(cpu_environment, {})
    client, library = parse_ssh_version(run_tool([ssh, "-V"]).err if ssh else "")
    built = run_tool([openssl, "version", "-a"]).out if openssl else ""
    return {
        "cpu": cpu,
        "virtualization": reading(lambda: virtualization(cpu.get("flags")), None),
        "container": reading(container, None),
        "memory_bytes": reading(memory_bytes, None),
        "os": reading(os_environment, {}),
        "openssl": parse_openssl_version(built),
        "openssh": {
            "client": client,
            "server": None,  # what sshd says comes later
            "library": library,
            "server_library": None,
            "default_cipher": default_cipher(ssh) if ssh else None,
        },
        "load_average": reading(load_average, None),
    }
