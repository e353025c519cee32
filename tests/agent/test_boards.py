from pathlib import Path

import pytest

from tests.agent import whole as agent
from tests.agent.running import QUICK_RUN, RunAgent, sound, write_program

SLOW, FAST = "0xd05", "0xd0b"  # Cortex-A55, Cortex-A76
FEATURES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc"


def cpuinfo(*parts: str, implementer: str = "0x41") -> str:
    return "\n".join(
        f"processor\t: {number}\nBogoMIPS\t: 48.00\nFeatures\t: {FEATURES}\n"
        f"CPU implementer\t: {implementer}\nCPU architecture: 8\nCPU variant\t: 0x2\n"
        f"CPU part\t: {part}\nCPU revision\t: {0 if part == SLOW else 3}\n"
        for number, part in enumerate(parts)
    )


RK3588 = cpuinfo(*[SLOW] * 4, *[FAST] * 4)


def rk3588_speed(cpu: int) -> int:
    return 530 if cpu < 4 else 1024


@pytest.fixture
def rk3588_speeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "cpu_speed", rk3588_speed)


@pytest.mark.usefixtures("rk3588_speeds")
def test_the_numbers_are_those_of_the_fast_cores() -> None:
    facts = agent.parse_cpuinfo(RK3588)
    assert (facts["model_id"], facts["stepping"]) == (0xD0B, 3)
    assert "aes" in facts["flags"]


def test_a_32_bit_kernels_placeholder_is_no_name() -> None:
    text = cpuinfo("0xd08").replace("BogoMIPS", "model name\t: ARMv7 Processor rev 3\nBogoMIPS")
    assert agent.parse_cpuinfo(text)["model"] is None


def test_a_kernel_that_describes_all_cores_at_once_is_understood() -> None:
    cores = "processor : 0\n\nprocessor : 1\n\n"
    text = f"{cores}Features : neon\nCPU implementer : 0x41\nCPU part : 0xc07\n"
    facts = agent.parse_cpuinfo(text)
    assert (facts["model_id"], facts["flags"]) == (0xC07, ["neon"])


LSCPU = """\
Architecture:                       aarch64
CPU(s):                             8
Vendor ID:                          ARM
Model name:                         Cortex-A55
Core(s) per socket:                 4
CPU max MHz:                        1800.0000
Model name:                         Cortex-A76
Core(s) per socket:                 2
CPU max MHz:                        2400.0000
"""


TENSOR_G3 = "Model name: Cortex-A510\nModel name: Cortex-A715\nModel name: Cortex-X3\n"


@pytest.mark.parametrize(
    ("text", "model", "vendor"),
    (
        (LSCPU, "Cortex-A76 + Cortex-A55", "ARM"),
        ("Vendor ID:  Apple\n  Model name:  Icestorm-M1\n", "Icestorm-M1", "Apple"),
        (TENSOR_G3, "Cortex-A510 + Cortex-A715 + Cortex-X3", None),
        ("BIOS Model name:  x\nModel name:  y\n", "y", None),
        ("Model name:  -\n", None, None),
        ("Model name:  Cortex-A55\nModel name:  \n", None, None),
        ("", None, None),
    ),
)
def test_lscpu_names_every_kind_of_core(text: str, model: str | None, vendor: str | None) -> None:
    assert agent.lscpu_names(text) == (model, vendor)


IOREG = """\
+-o Root  <class IORegistryEntry, id 0x100000100, retain 24>
  +-o J313AP  <class IOPlatformExpertDevice, id 0x10000023c, registered, matched, active, busy 0>
      {
        "manufacturer" = <"Apple Inc.">
        "IOPlatformSerialNumber" = "C02XXXXXXXXX"
        "IOPlatformUUID" = "1A2B3C4D-0000-5555-8888-ABCDEF012345"
        "IOBusyInterest" = "IOCommand is not serializable"
      }
"""

SYSCTL = """
import sys
if sys.argv[-1] in VALUES: print(VALUES[sys.argv[-1]])
else: sys.exit("sysctl: unknown oid " + sys.argv[-1])
"""
MAC = {"machdep.cpu.brand_string": "Apple M1", "hw.physicalcpu": "8"}
UUID = "1a2b3c4d-0000-5555-8888-abcdef012345"
FREEBSD = {"hw.model": "AMD EPYC 9R14", "kern.smp.cores": "4", "kern.hostuuid": UUID}


@pytest.mark.parametrize(
    ("system", "values", "cpu", "os_id"),
    (
        ("Darwin", MAC, ("Apple M1", "Apple", 8), "macos"),
        ("FreeBSD", FREEBSD, ("AMD EPYC 9R14", None, 4), "freebsd"),
    ),
)
def test_a_run_on_macos_or_freebsd_has_its_machine_id_and_cpu(
    run_agent: RunAgent,
    tmp_path: Path,
    system: str,
    values: dict[str, str],
    cpu: tuple[str, str | None, int],
    os_id: str,
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    write_program(programs / "sysctl", f"VALUES = {values!r}{SYSCTL}")
    write_program(programs / "ioreg", f"print({IOREG!r})")
    before = (
        f"agent.platform.system = lambda: {system!r}\n"
        "agent.platform.machine = lambda: 'arm64'\n"
        "known = agent.read_text\n"
        "hidden = ('/proc', '/sys', '/etc', '/var', '/usr/lib')\n"
        "agent.read_text = lambda path: None if path.startswith(hidden) else known(path)\n"
    )
    done = run_agent("run", *QUICK_RUN, before=before, env={"PATH": str(programs)})
    document = sound(done)
    facts = document["environment"]["cpu"]
    assert (facts["model"], facts["vendor"], facts["cores"]) == cpu
    assert document["environment"]["os"]["id"] == os_id
    assert len(document["host"]["machine_id"]) == 64
    assert "1a2b3c4d" not in done.out.lower()
