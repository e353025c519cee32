"""Whether a CPU's flags, as the system reports them, list instructions for AES."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from documents.cpu import cpu_name


@dataclass(frozen=True)
class AesFlags:
    """`reported`: True, False, or None where the flags do not tell. `seen`: those that do."""

    reported: bool | None
    seen: tuple[str, ...]


@dataclass(frozen=True)
class _Naming:
    """An architecture's names for AES instructions, and flags that only a full list has."""

    architectures: str
    aes: str
    full_list: str


_NAMINGS = (
    # Linux and macOS say aes, FreeBSD aesni; VIA's PadLock is ace_en. pclmulqdq does no AES. Only
    # whole lists begin with fpu.
    _Naming(r"x86_64|amd64|x86|i\d86", r"aes|aesni|vaes|ace2?_en", r"fpu"),
    # HWCAP names of Linux, arch/arm64/kernel/cpuinfo.c; of a 32-bit kernel on ARMv8 the same.
    _Naming(r"aarch64|arm64|armv\d\w*", r"aes", r"fp|asimd|half|neon|vfp\w*|swp"),
    # HWCAP2 of Power ISA 2.07; some tools print the facility as "in_core crypto".
    _Naming(r"ppc64\w*|powerpc\w*", r"vcrypto|in_core", r"altivec|vsx"),
    # Message-security assist (CPACF): "msa" in /proc/cpuinfo, extensions msa1 to msa12.
    _Naming(r"s390x?", r"msa\d*", r"zarch|stfle"),
    # zkn holds zkne; zknd only decrypts and zknh hashes. Vector: zvkned, held by zvkn*.
    _Naming(r"riscv\d+", r"zkn|zkne|zvkn|zvknc|zvkned|zvkng", r"rv\d+\w*"),
)

_POWER8 = re.compile(r"IBM POWER(?:[89]|\d\d)")


def _words(flags: Iterable[str]) -> set[str]:
    """The flags in lower case; of RISC-V's one word ("rv64imafdc_zba_zkn") the extensions too."""
    words = {flag.lower() for flag in flags}
    return words.union(*(word.split("_") for word in words if word.startswith("rv")))


def aes_flags(cpu: Mapping[str, Any]) -> AesFlags:
    """What the flags of a run document's `cpu` say of AES.

    A list that is plainly an excerpt proves what it names and nothing that it lacks. POWER
    lists no flags: there the level of the CPU, as the kernel names it, stands for them.
    """
    flags = _words(cpu.get("flags") or ())
    architecture = (cpu.get("architecture") or "").lower()
    namings = [one for one in _NAMINGS if re.fullmatch(one.architectures, architecture)]
    seen = {f for one in namings or _NAMINGS for f in flags if re.fullmatch(one.aes, f)}
    level = _POWER8.match(cpu_name(cpu) or "")
    if seen:
        return AesFlags(True, tuple(sorted(seen)))
    if level:
        return AesFlags(True, (level[0],))
    full = any(re.fullmatch(one.full_list, flag) for one in namings for flag in flags)
    return AesFlags(False if full else None, ())
