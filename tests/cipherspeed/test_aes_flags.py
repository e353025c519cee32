from typing import Any

from cipherspeed.cpu import aes_flags
from tests.cases import each


def cpu(architecture: str | None, flags: str | None, model: str | None = None) -> dict[str, Any]:
    return {
        "architecture": architecture,
        "flags": flags.split() if flags is not None else None,
        "model": model,
    }


@each(
    ("facts", "reported", "seen"),
    (
        (cpu("x86_64", "fpu sse2 aes pclmulqdq vaes"), True, ("aes", "vaes")),
        (cpu("amd64", "FPU SSE AESNI"), True, ("aesni",)),
        (cpu("x86_64", "fpu sse2 ssse3 pclmulqdq"), False, ()),
        (cpu("i686", "fpu mmx"), False, ()),
        (cpu("aarch64", "fp asimd evtstrm aes pmull sha1"), True, ("aes",)),
        (cpu("aarch64", "fp asimd evtstrm crc32 cpuid"), False, ()),
        (cpu("armv7l", "half thumb fastmult vfp edsp neon vfpv3"), False, ()),
        (cpu("armv8l", "half thumb neon vfpv4 aes pmull"), True, ("aes",)),
        (cpu("ppc64le", None, "POWER9, altivec supported"), True, ("IBM POWER9",)),
        (cpu("ppc64", None, "POWER10 (architected), altivec supported"), True, ("IBM POWER10",)),
        (cpu("ppc64", None, "POWER7 (raw), altivec supported"), None, ()),
        (cpu("ppc64le", "altivec vsx vcrypto"), True, ("vcrypto",)),
        (cpu("ppc64", "altivec vsx"), False, ()),
        (cpu("ppc64le", "in_core crypto"), True, ("in_core",)),
        (cpu("s390x", "esan3 zarch stfle msa ldisp eimm"), True, ("msa",)),
        (cpu("s390x", "esan3 zarch stfle ldisp"), False, ()),
        (cpu("riscv64", "rv64imafdcv_zba_zkn_zkt"), True, ("zkn",)),
        (cpu("riscv64", "rv64imafdcv_zvkned_zvknhb"), True, ("zvkned",)),
        (cpu("riscv64", "rv64imafdc_zknd_zknh_zkt_zvkt"), False, ()),
        (cpu("riscv64", "rv64imafdc"), False, ()),
        # An excerpt of the flags proves only that the CPU has the flags in it.
        (cpu(None, "aes avx pclmulqdq"), True, ("aes",)),
        (cpu("x86_64", "avx pclmulqdq"), None, ()),
        (cpu("x86_64", ""), None, ()),
        (cpu("x86_64", None), None, ()),
        (cpu("sparc64", "fpu sse2"), None, ()),
        ({}, None, ()),
    ),
)
def test_what_the_flags_say_of_aes(
    facts: dict[str, Any], reported: bool | None, seen: tuple[str, ...]
) -> None:
    found = aes_flags(facts)
    assert (found.reported, found.seen) == (reported, seen)
