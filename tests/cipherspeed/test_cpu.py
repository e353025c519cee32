import re
from typing import Any

from archspec.cpu import TARGETS
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.cpu import (
    clean_cpu_model,
    cpu_name,
    cpu_vendor,
    microarchitecture,
    model_has_aes,
)
from cipherspeed.cpu_models import cpu_tables, microarchitecture_of_name
from tests.cases import each


@each(
    ("reported", "name"),
    (
        ("Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz", "Intel Core i7-3770"),
        ("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz", "Intel Core i7-1165G7"),
        ("Intel(R) Core(TM) Ultra 7 155H", "Intel Core Ultra 7 155H"),
        ("Intel(R) Core(TM)2 Duo CPU     E8400  @ 3.00GHz", "Intel Core 2 Duo E8400"),
        ("Intel(R) Core(TM) i7 CPU         920  @ 2.67GHz", "Intel Core i7-920"),
        ("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", "Intel Xeon Platinum 8259CL"),
        ("Intel(R) Xeon(R) CPU           E5520  @ 2.27GHz", "Intel Xeon E5520"),
        ("Intel(R) Xeon(R) CPU E3-1230 V2 @ 3.30GHz", "Intel Xeon E3-1230 v2"),
        ("Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz", "Intel Xeon E5-2670"),
        ("Intel(R) Pentium(R) 4 CPU 3.00GHz", "Intel Pentium 4 3.00GHz"),
        ("Intel(R) Pentium(R) Silver N6005 @ 2.00GHz", "Intel Pentium Silver N6005"),
        ("Intel(R) Atom(TM) CPU N270   @ 1.60GHz", "Intel Atom N270"),
        ("Intel(R) Atom(TM) x5-Z8300 CPU @ 1.44GHz", "Intel Atom x5-Z8300"),
        ("Intel(R) N100", "Intel N100"),
        ("Intel Xeon Processor (Skylake, IBRS)", "Intel Xeon (Skylake, IBRS)"),
        ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763"),
        ("AMD EPYC 7B13", "AMD EPYC 7B13"),
        ("AMD EPYC-Rome Processor", "AMD EPYC-Rome"),
        ("AMD Ryzen 7 5800X 8-Core Processor", "AMD Ryzen 7 5800X"),
        ("AMD Ryzen 7 PRO 4750U with Radeon Graphics", "AMD Ryzen 7 PRO 4750U"),
        ("AMD Ryzen AI 9 HX 370 w/ Radeon 890M", "AMD Ryzen AI 9 HX 370"),
        ("AMD Ryzen Embedded R1505G with Radeon Vega Gfx", "AMD Ryzen Embedded R1505G"),
        ("Quad-Core AMD Opteron(tm) Processor 2376", "AMD Opteron 2376"),
        ("AMD Opteron(tm) Processor 6136", "AMD Opteron 6136"),
        ("AMD Athlon(tm) 64 X2 Dual Core Processor 4400+", "AMD Athlon 64 X2 4400+"),
        ("AMD Athlon(tm) II X3 420e Processor", "AMD Athlon II X3 420e"),
        ("AMD FX(tm)-8350 Eight-Core Processor", "AMD FX-8350"),
        ("AMD A10-7850K Radeon R7, 12 Compute Cores 4C+8G", "AMD A10-7850K"),
        ("AMD A8-3850 APU with Radeon(tm) HD Graphics", "AMD A8-3850"),
        ("AMD GX-412TC SOC", "AMD GX-412TC"),
        ("Geode(TM) Integrated Processor by AMD PCS", "AMD Geode"),
        ("Geode(TM) Integrated Processor by National Semi", "National Semiconductor Geode"),
        ("VIA Esther processor 1500MHz", "VIA Esther"),
        ("VIA Nano processor U2250@1.6+GHz", "VIA Nano U2250"),
        ("Hygon C86 7185 32-core Processor", "Hygon C86 7185"),
        ("Apple M2 Pro", "Apple M2 Pro"),
        ("Cortex-A53", "ARM Cortex-A53"),
        ("POWER9, altivec supported", "IBM POWER9"),
        ("POWER8 (architected), altivec supported", "IBM POWER8"),
        ("Spacemit(R) X60", "SpacemiT X60"),
        ("QEMU Virtual CPU version 2.5+", "QEMU Virtual CPU version 2.5+"),
        ("ARMv7 Processor rev 4 (v7l)", None),
        ("ARMv6-compatible processor rev 7 (v6l)", None),
        ("-", None),
        ("", None),
        (None, None),
    ),
)
def test_a_cpu_has_one_name_whoever_reports_it(reported: str | None, name: str | None) -> None:
    assert clean_cpu_model(reported) == name
    assert clean_cpu_model(name) == name


@given(st.text(max_size=60))
def test_cleaning_takes_any_text(text: str) -> None:
    cleaned = clean_cpu_model(text)
    assert cleaned is None or cleaned.strip() == cleaned != ""


def arm(vendor: str, part: int, flags: str = "", model: str | None = None) -> dict[str, Any]:
    return {
        "model": model,
        "vendor": vendor,
        "architecture": "aarch64",
        "family": 8,
        "model_id": part,
        "flags": flags.split() or None,
    }


def x86(vendor: str, family: int, model: int, name: str = "", **more: Any) -> dict[str, Any]:
    numbers = {"vendor": vendor, "family": family, "model_id": model, "stepping": 1}
    return {"model": name or None, "architecture": "x86_64", **numbers, **more}


@each(
    ("cpu", "name"),
    (
        (arm("ARM", 0xD08), "ARM Cortex-A72"),
        (arm("ARM", 0xC07, model="ARMv7 Processor rev 4 (v7l)"), "ARM Cortex-A7"),
        (arm("Apple", 0x022), "Apple M1"),
        (arm("HiSilicon", 0xD01), "HiSilicon Kunpeng-920"),
        (arm("ARM", 0xFFF), None),
        ({"architecture": "s390x", "vendor": "IBM/S390", "model": "IBM/S390 8561"}, "IBM z15"),
        ({"architecture": "s390x", "vendor": "IBM/S390", "model": "1234"}, "1234"),
        ({}, None),
    ),
)
def test_numbers_name_what_has_no_model_text(cpu: dict[str, Any], name: str | None) -> None:
    assert cpu_name(cpu) == name


def test_a_vendor_is_read_from_the_model_when_nothing_else_says_it() -> None:
    assert cpu_vendor(None, "Intel Core i7-2635QM") == "Intel"
    assert cpu_vendor(None, "Ampere Altra") == "Ampere"
    assert cpu_vendor(None, "IBM z15") == "IBM"
    assert cpu_vendor("CentaurHauls", "VIA C7") == "VIA"
    assert cpu_vendor("Somebody", None) == "Somebody"
    assert cpu_vendor(None, None) is None


@each(
    ("cpu", "name", "aes"),
    (
        (x86("GenuineIntel", 6, 0x3A, "Intel(R) Core(TM) i7-3770 CPU"), "ivybridge", True),
        (x86("GenuineIntel", 6, 0x3A, "Intel(R) Pentium(R) CPU G2020"), "ivybridge", None),
        (x86("GenuineIntel", 6, 0x3C, "Intel(R) Core(TM) i3-4130 CPU"), "haswell", True),
        (x86("GenuineIntel", 6, 0x25, "Intel(R) Core(TM) i3 CPU M 330"), "westmere", None),
        (x86("GenuineIntel", 6, 0x2C, "Intel(R) Xeon(R) CPU X5650"), "westmere", True),
        (x86("GenuineIntel", 6, 0x1A, "Intel(R) Core(TM) i7 CPU 920"), "nehalem", False),
        (x86("GenuineIntel", 6, 0x55, stepping=4), "skylake_avx512", True),
        (x86("GenuineIntel", 6, 0x55, stepping=7), "cascadelake", True),
        (x86("GenuineIntel", 6, 0x55, stepping=None), None, None),
        (x86("GenuineIntel", 6, 0x37, "Intel(R) Celeron(R) CPU J1900"), "silvermont", None),
        (x86("GenuineIntel", 6, 0x4D, "Intel(R) Atom(TM) CPU C2538"), "silvermont", True),
        (x86("GenuineIntel", 6, 0x1C, "Intel(R) Atom(TM) CPU N270"), "bonnell", False),
        (x86("AuthenticAMD", 16, 4, "Quad-Core AMD Opteron(tm) Processor 2376"), "k10", False),
        (x86("AuthenticAMD", 21, 2, "AMD FX(tm)-8350"), "piledriver", True),
        (x86("AuthenticAMD", 23, 49, "AMD EPYC 7B12"), "zen2", True),
        (x86("AuthenticAMD", 25, 1, "AMD EPYC 7B13"), "zen3", True),
        (x86("AuthenticAMD", 25, 17, "AMD EPYC 9R14"), "zen4", True),
        (x86("AuthenticAMD", 26, 0x44), "zen5", True),
        (x86("AuthenticAMD", 99, 1), None, None),
        (x86("CentaurHauls", 6, 15, "VIA Nano processor U2250"), None, None),
        ({"model": "Intel Core i7-2635QM"}, "sandybridge", True),
        ({"model": "Intel Core i3-2100"}, "sandybridge", None),
        ({"model": "Intel(R) Core(TM) i7-3930K CPU @ 3.20GHz"}, "sandybridge", True),
        ({"model": "AMD EPYC 7R32"}, "zen2", True),
        ({"model": "Intel Core i7-1165G7"}, None, None),
        (arm("ARM", 0xD0C), "neoverse_n1", True),
        (arm("ARM", 0xD08), "cortex_a72", None),
        (arm("ARM", 0xD03), "cortex_a53", None),
        (arm("Fujitsu", 0x001), "a64fx", None),
        (arm("Apple", 0x023), "m1", True),
        ({"model": "Apple M4 Max", "architecture": "arm64"}, "m4", True),
        ({"model": "POWER9, altivec supported", "architecture": "ppc64le"}, "power9le", True),
        ({"model": "POWER7 (raw), altivec supported", "architecture": "ppc64"}, "power7", False),
        ({"model": "POWER5", "architecture": "ppc64"}, None, False),
        ({"model": "Spacemit(R) X60", "architecture": "riscv64"}, "x60", None),
        ({"architecture": "riscv64", "flags": ["rv64imafdc"]}, None, None),
        ({}, None, None),
    ),
)
def test_numbers_and_names_say_what_the_cpu_has(
    cpu: dict[str, Any], name: str | None, aes: bool | None
) -> None:
    assert microarchitecture(cpu) == name
    assert model_has_aes(cpu) is aes


@each(
    "model",
    (
        "QEMU Virtual CPU version 2.5+",
        "Common KVM processor",
        "Intel Core i7 9xx (Nehalem Class Core i7)",
        "AMD Opteron 23xx (Gen 3 Class Opteron)",
    ),
)
def test_a_hypervisors_own_model_says_nothing_of_the_cpu(model: str) -> None:
    cpu = x86("GenuineIntel", 6, 0x1A, model, flags=sorted(TARGETS["nehalem"].features))
    assert microarchitecture(cpu) is None
    assert model_has_aes(cpu) is None


@each(
    ("architecture", "vendor", "name"),
    (
        *(("x86_64", "GenuineIntel", "skylake"), ("amd64", "GenuineIntel", "skylake")),
        *(("aarch64", "Ampere", "ampere1"), ("arm64", "Apple", "m4")),
    ),
)
def test_flags_name_the_microarchitecture_and_missing_ones_do_not_invent_it(
    architecture: str, vendor: str, name: str
) -> None:
    flags = sorted(TARGETS[name].features)
    cpu = {"architecture": architecture, "vendor": vendor, "flags": flags}
    assert microarchitecture(cpu) == name
    assert microarchitecture({**cpu, "flags": ["aes"]}) is None
    assert microarchitecture({**cpu, "flags": None}) is None


def test_hidden_flags_do_not_make_the_cpu_an_older_one() -> None:
    flags = sorted(TARGETS["core2"].features)
    cpu = x86("GenuineIntel", 6, 0x3A, "Intel(R) Core(TM) i7-3770 CPU", flags=flags)
    assert microarchitecture(cpu) == "ivybridge"
    assert model_has_aes(cpu)


@each("entry", cpu_tables().x86)
def test_the_table_agrees_with_archspec(entry: Any) -> None:
    target = TARGETS.get(entry.microarchitecture)
    if target is not None:
        assert ("aes" in target.features) == (entry.aes is not False)


def test_no_two_entries_claim_one_model() -> None:
    claimed = [
        (entry.vendor, entry.family, model, stepping)
        for entry in cpu_tables().x86
        for first, last in entry.models
        for model in range(first, last + 1)
        for stepping in (
            range(entry.steppings[0], entry.steppings[1] + 1) if entry.steppings else [0]
        )
    ]
    assert len(claimed) == len(set(claimed))


def test_every_name_leads_to_a_known_microarchitecture() -> None:
    known = {entry.microarchitecture for entry in cpu_tables().x86} | set(TARGETS)
    for pattern, name in cpu_tables().names:
        assert name in known
        assert re.compile(pattern)
    assert microarchitecture_of_name("Somebody's CPU") is None
