import hashlib
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.agent import whole as agent

X86 = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 42
model name\t: Intel(R) Core(TM) i7-2635QM CPU @ 2.00GHz
stepping\t: 7
cpu MHz\t\t: 1995.386
physical id\t: 0
core id\t\t: 0
cpu cores\t: 2
flags\t\t: fpu vme aes pclmulqdq hypervisor
bugs\t\t:

processor\t: 1
vendor_id\t: GenuineIntel
model name\t: Intel(R) Core(TM) i7-2635QM CPU @ 2.00GHz
physical id\t: 0
core id\t\t: 0

processor\t: 2
physical id\t: 0
core id\t\t: 1

processor\t: 3
physical id\t: 0
core id\t\t: 1
"""

ARM64 = """\
processor\t: 0
BogoMIPS\t: 108.00
Features\t: fp asimd evtstrm crc32 cpuid
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: 0xd08
CPU revision\t: 3

processor\t: 1
CPU implementer\t: 0x41
CPU part\t: 0xd08

Hardware\t: BCM2835
Model\t\t: Raspberry Pi 4 Model B Rev 1.1
"""

OPENSSL_30 = """\
OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)
built on: Fri Apr  3 12:29:32 2026 UTC
platform: debian-amd64
options:  bn(64,64)
compiler: gcc -fPIC -pthread -m64
OPENSSLDIR: "/usr/lib/ssl"
Seeding source: os-specific
CPUINFO: OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab
"""


def test_facts_of_an_x86_cpu() -> None:
    facts = agent.parse_cpuinfo(X86)
    assert facts == {
        "model": "Intel(R) Core(TM) i7-2635QM CPU @ 2.00GHz",
        "vendor": "GenuineIntel",
        "family": 6,
        "model_id": 42,
        "stepping": 7,
        "flags": ["fpu", "vme", "aes", "pclmulqdq", "hypervisor"],
    }


def test_facts_of_an_arm_cpu_come_from_its_numbers() -> None:
    facts = agent.parse_cpuinfo(ARM64)
    assert (facts["model_id"], facts["stepping"]) == (0xD08, 3)
    assert facts["flags"] == ["fp", "asimd", "evtstrm", "crc32", "cpuid"]
    assert facts["model"] is facts["vendor"] is None  # lscpu provides the names


def test_openssl_build_facts() -> None:
    facts = agent.parse_openssl_version(OPENSSL_30)
    assert facts["version_text"] == "OpenSSL 3.0.19 27 Jan 2026"
    assert facts["built_on"] == "Fri Apr  3 12:29:32 2026 UTC"
    assert facts["platform"] == "debian-amd64"
    assert facts["compiler"] == "gcc -fPIC -pthread -m64"
    assert facts["cpu_settings"] == "OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab"


def test_a_library_of_another_version_stays_visible() -> None:
    text = "OpenSSL 1.1.1k  25 Mar 2021 (Library: OpenSSL 1.1.1w  11 Sep 2023)\n"
    assert agent.parse_openssl_version(text)["version_text"] == text.strip()


@pytest.mark.parametrize(
    ("text", "version", "library"),
    (
        (
            "OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19 27 Jan 2026\r\n",
            "OpenSSH_9.2p1 Debian-2+deb12u6",
            "OpenSSL 3.0.19 27 Jan 2026",
        ),
        (
            "unknown option -- ?\nOpenSSH_7.4p1, OpenSSL 1.0.2zl\nusage: sshd",
            "OpenSSH_7.4p1",
            "OpenSSL 1.0.2zl",
        ),
        ("OpenSSH_9.9p2, LibreSSL 3.3.6\n", "OpenSSH_9.9p2", "LibreSSL 3.3.6"),
        ("OpenSSH_9.6p1, without OpenSSL\n", "OpenSSH_9.6p1", "without OpenSSL"),
        ("OpenSSH_9.6p1\nusage, more\n", "OpenSSH_9.6p1", None),
        ("OpenSSH_9.6p1, \n", "OpenSSH_9.6p1", None),
        ("Dropbear v2020.81, OpenSSL\n", None, None),
    ),
)
def test_versions_and_libraries_of_ssh(text: str, version: str | None, library: str | None) -> None:
    assert agent.parse_ssh_version(text) == (version, library)


def test_busy_time_leaves_out_idle_waiting_and_stolen_time() -> None:
    times = agent.parse_proc_stat("cpu  100 10 50 1000 200 5 15 20 7 0\ncpu0 1 2 3\n", ticks=100)
    assert times == agent.CpuTimes(busy=1.8, steal=0.2, total=14.0)


QUIET = agent.MachineState(agent.CpuTimes(10.0, 0.0, 100.0), 5, 0)


QUIET_AFTER = QUIET._replace(times=agent.CpuTimes(90.0, 0.5, 200.0))


def codes(after: agent.MachineState = QUIET_AFTER, **changes: object) -> list[str]:
    asked: dict[str, object] = {
        "foreign": 0.01,
        "before": QUIET,
        "tries": (0, 60),
    }
    asked.update(changes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agent, "machine_state", lambda: after)
        return [code for code, _ in agent.conditions_of_run(**asked)]  # type: ignore[arg-type]


def test_a_quiet_run_has_no_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENSSL_ia32cap", raising=False)
    assert codes() == []
    assert codes(foreign=None, before=agent.MachineState(None, None, None)) == []


def test_each_doubt_has_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENSSL_ia32cap", "~0x200000200000000")
    after = agent.MachineState(agent.CpuTimes(90.0, 5.0, 200.0), 50, 3)
    found = codes(foreign=0.5, after=after, tries=(7, 60))
    assert found == ["busy", "disturbed", "steal", "swap", "throttled", "ia32cap"]


def test_foreign_cpu_does_not_count_our_own_work(monkeypatch: pytest.MonkeyPatch) -> None:
    # Compare with the agent's own readings, so that other processes do not matter.
    times: list[agent.CpuTimes] = []
    own: list[float] = []

    def kept(kind: list[Any], read: Callable[[], Any]) -> Callable[[], Any]:
        def reading() -> Any:
            kind.append(read())
            return kind[-1]

        return reading

    spent = agent.own_cpu_seconds
    monkeypatch.setattr(agent, "read_cpu_times", kept(times, agent.read_cpu_times))
    monkeypatch.setattr(agent, "own_cpu_seconds", kept(own, spent))
    before = time.perf_counter()
    watch = agent.ForeignWatch()
    begun = time.perf_counter()
    while spent() - own[0] < 0.3:
        sum(range(10000))
    asked = time.perf_counter()
    foreign = watch.cores()
    after = time.perf_counter()
    assert own[1] - own[0] >= 0.3
    others = max(0.0, times[1].busy - times[0].busy - (own[1] - own[0]))
    assert foreign is not None
    assert others / (after - before) - 1e-4 <= foreign <= others / (asked - begun) + 1e-4


def test_the_machine_id_cannot_be_read_from_the_document() -> None:
    raw = (agent.read_text("/etc/machine-id") or "").strip()
    hashed = agent.machine_id()
    assert hashed is None if not raw else hashed != hashlib.sha256(raw.encode()).hexdigest()


def quiet_after(monkeypatch: pytest.MonkeyPatch, readings: list[float | None]) -> list[str]:
    left, now = iter(readings), [0.0]

    class Watch:
        def cores(self) -> float | None:
            now[0] += 0.01
            return next(left)

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda _: None)
    monkeypatch.setattr(agent, "ForeignWatch", Watch)
    monkeypatch.setattr(agent, "time", clock)
    said: list[str] = []
    foreign = agent.wait_until_quiet(0.15, said.append)
    return [*said, str(foreign)]


def test_the_start_waits_until_others_are_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    said = quiet_after(monkeypatch, [0.9, 0.5, 0.05])
    assert said[0].startswith("Other programs use 0.90 CPU cores; waiting up to 0.15 s")
    assert said[1:] == ["0.05"]
