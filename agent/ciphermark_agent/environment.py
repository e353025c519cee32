"""Collect the `environment` of the run document: CPU, operating system, OpenSSL and OpenSSH.

Unknown values are None.
"""

import glob
import hashlib
import os
import platform
import re
from typing import List, Optional, Tuple

from ciphermark_agent.children import read_number, read_text, run_tool
from ciphermark_agent.common import COUNT_LIMIT, Json, cut, one_line, reading, real, whole
from ciphermark_agent.conditions import CPU_FOLDER, cpu_speed

MACHINE_ID_SALT = "ciphermark machine id 1:"
CONFIGURATION_SECONDS = 10.0  # for programs that the ssh configuration runs (`Match exec`)


def parse_cpuinfo(text: str) -> Json:
    """Return the CPU properties in the text of /proc/cpuinfo, on ARM those of the fastest core."""
    blocks = [
        dict(re.findall(r"^([^:\n]*?)\s*:[ \t]*(.*)$", block, re.M))
        for block in text.strip().split("\n\n")
    ]
    arm = [block for block in blocks if "CPU implementer" in block]
    cpu = max(arm or blocks[:1], key=lambda block: cpu_speed(whole(block.get("processor")) or 0))
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
    """Return the CPU models, fastest first, and the vendor from the output of lscpu."""
    models = []
    for part in re.split(r"(?m)^\s*Model name: *", text)[1:]:
        fastest = re.search(r"^\s*CPU max MHz: *([\d.]+)", part, re.M)
        speed = real(fastest.group(1)) if fastest else None
        models.append((-(speed or 0.0), part.split("\n")[0].strip()))
    names = [name for _, name in sorted(models, key=lambda pair: pair[0])]
    vendor = re.search(r"^\s*Vendor ID: *(\S.*)", text, re.M)
    known = names and not {"", "-", "unknown"} & set(names)
    return cut(" + ".join(names)) if known else None, cut(vendor.group(1)) if vendor else None


def sysctl(*names: str) -> Optional[str]:
    answers = (run_tool(["sysctl", "-n", name]) for name in names)
    return next((cut(answer.out) for answer in answers if answer.status == 0), None)


def bsd_cpu() -> Json:
    model = sysctl("machdep.cpu.brand_string", "hw.model")
    return {
        "model": model,
        "vendor": "Apple" if (model or "").startswith("Apple") else sysctl("machdep.cpu.vendor"),
        "cores": whole(sysctl("hw.physicalcpu", "kern.smp.cores")),
        "flags": (sysctl("machdep.cpu.features") or "").lower().split() or None,
    }


def cpu_environment() -> Json:
    text = read_text("/proc/cpuinfo") if platform.system() == "Linux" else None
    facts = parse_cpuinfo(text) if text else bsd_cpu()
    if facts["model"] is None:
        model, vendor = lscpu_names(run_tool(["lscpu"]).out)
        facts.update(model=model, vendor=facts["vendor"] or vendor)
    cores = {
        (read_number(folder + "/physical_package_id"), read_number(folder + "/core_id"))
        for folder in glob.glob(CPU_FOLDER % "[0-9]*" + "topology")
    }
    limits = map(read_number, glob.glob(CPU_FOLDER % "[0-9]*" + "cpufreq/cpuinfo_max_freq"))
    fastest = max((khz for khz in limits if khz and 0 < khz < 1000 * COUNT_LIMIT), default=None)
    return {
        **facts,
        "flags": [flag[:100] for flag in (facts["flags"] or [])[:1000]] or None,
        "board": cut((read_text("/proc/device-tree/model") or "").rstrip("\0")),
        "cores": facts.get("cores") or len([1 for _, core in cores if core is not None]) or None,
        "architecture": cut(platform.machine()),
        "threads": os.cpu_count(),
        "max_mhz": fastest / 1000.0 if fastest else None,
        "governor": cut(read_text(CPU_FOLDER % 0 + "cpufreq/scaling_governor")),
    }


def virtualization(flags: Optional[List[str]]) -> Optional[str]:
    kinds = []
    for option in ("--vm", "--container"):
        answer = run_tool(["systemd-detect-virt", option])
        kinds.append(cut(answer.out) if answer.status in (0, 1) else None)
    machine, container = kinds
    if machine is None:
        named = re.search(r"^\s*Hypervisor vendor: *(\w+)", run_tool(["lscpu"]).out, re.M)
        machine = named.group(1).lower() if named else None
    if machine is None and flags and platform.machine() in ("x86_64", "i686", "i386"):
        machine = "vm-other" if "hypervisor" in flags else "none"
    if container is None and os.path.exists("/.dockerenv"):
        container = "docker"
    return container if container not in (None, "none") and machine in (None, "none") else machine


def os_environment() -> Json:
    if platform.system() == "Darwin":
        release = {"ID": "macos", "NAME": "macOS", "VERSION_ID": platform.mac_ver()[0]}
    else:
        text = read_text("/etc/os-release") or read_text("/usr/lib/os-release") or ""
        pairs = re.findall(r"^([A-Z_0-9]+)=(.*)$", text, re.M)
        release = {name: value.strip().strip("\"'") for name, value in pairs}
    return {
        "id": cut(release.get("ID") or platform.system().lower()),
        "name": cut(release.get("NAME") or platform.system()),
        "version": cut(release.get("VERSION_ID") or (None if release else platform.release())),
        "kernel": cut("%s %s" % (platform.system(), platform.release())),
    }


def parse_openssl_version(text: str) -> Json:
    first = (text.strip().splitlines() or [""])[0]
    named = dict(re.findall(r"^([A-Za-z ]+): *(.*)$", text, re.M))
    return {
        # Omit the library's version only if it equals the program's.
        "version_text": cut(re.sub(r"^(.{,500}?) +\(Library: \1\)$", r"\1", first)),
        "built_on": cut(named.get("built on")),
        "cpu_settings": cut(named.get("CPUINFO")),
        **{key: cut(named.get(key)) for key in ("platform", "options", "compiler")},
    }


def machine_id() -> Optional[str]:
    raw = read_text("/etc/machine-id") or read_text("/var/lib/dbus/machine-id")
    raw = raw or sysctl("kern.hostuuid")  # FreeBSD
    if raw is None and platform.system() == "Darwin":
        answer = run_tool(["ioreg", "-rd1", "-c", "IOPlatformExpertDevice"]).out
        uuid = re.search(r'"IOPlatformUUID" = "([0-9A-Fa-f-]{36})"', answer)
        raw = uuid.group(1) if uuid else None
    own = cut(raw)
    return hashlib.sha256((MACHINE_ID_SALT + own).encode("utf-8")).hexdigest() if own else None


def parse_ssh_version(text: str) -> Tuple[Optional[str], Optional[str]]:
    """Return the OpenSSH version and the library from `ssh -V`, such as "OpenSSL 3.0.11"."""
    match = re.search(r"(OpenSSH_[^,\r\n]+)(?:, *([^\r\n]*\S))?", text)
    return (cut(match.group(1)), cut(match.group(2))) if match else (None, None)


def default_cipher(ssh: str) -> Tuple[Optional[str], str]:
    """Return (first cipher in the ssh configuration or None, error message or "")."""
    answer = run_tool([ssh, "-G", "127.0.0.1"], CONFIGURATION_SECONDS)
    match = re.search(r"^ciphers ([^,\s]{1,100})", answer.out, re.M)
    if answer.status == 0:
        return match.group(1).lower() if match else None, ""
    return None, "ssh -G failed: " + one_line(answer.err)


def environment(ssh: Optional[str], openssl: Optional[str]) -> Json:
    cpu = reading(cpu_environment, {})
    client, library = parse_ssh_version(run_tool([ssh, "-V"]).err if ssh else "")
    built = run_tool([openssl, "version", "-a"]).out if openssl else ""
    return {
        "cpu": cpu,
        "virtualization": reading(lambda: virtualization(cpu.get("flags")), None),
        "memory_bytes": reading(
            lambda: os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), None
        ),
        "os": reading(os_environment, {}),
        "openssl": parse_openssl_version(built),
        "openssh": {"client": client, "library": library},  # the server's values follow later
        "load_average": reading(lambda: [round(load, 2) for load in os.getloadavg()], None),
    }
