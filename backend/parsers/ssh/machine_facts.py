"""Which machine ssh figures are of, by name, and what is known of it: versions, CPU, system."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from parsers.ssh.headings import Title

_OPENSSH = re.compile(
    r"(?P<client>OpenSSH_(?:for_Windows_)?\d[\w.]{0,30}(?: [^,\n]{1,80})?), ?"
    r"(?P<openssl>without OpenSSL|(?:OpenSSL|LibreSSL)"
    r"(?:[^\n,`\"|<*]{0,60}? \d{1,2} [A-Z][a-z]{2} \d{4}(?!\d)|[^\n,`\"|<*]{0,80}))"
)
_PEER = re.compile(
    r"(?P<side>[Ll]ocal version string|[Rr]emote software version"
    r"|remote protocol version [\d.]+, remote software version)"
    r" (?:SSH-2\.0-)?(?P<version>OpenSSH_\S{1,40}(?: \S{1,60})?)"
)
_DROPBEAR = re.compile(r"^\s*(?P<client>Dropbear (?:v|client v|SSH client v)?\d{4}\.\d{1,3})\b")
_MODEL = re.compile(
    r"^\s*(?:model name|Model name|machdep\.cpu\.brand_string|hw\.model"
    r"|cpu model)\s*:\s*(?P<model>\S.{0,118})$"
)
_ARCHITECTURE = re.compile(r"^\s*Architecture:\s+(?P<machine>[\w-]{2,20})$")
_FLAGS = re.compile(
    r"^\s*(?:flags|Flags|Features|machdep\.cpu\.features)\s*:\s+(?P<flags>[\w. ]+)$"
)
_UNAME = re.compile(
    r"^(?P<system>Linux|FreeBSD|OpenBSD|NetBSD"
    r"|Darwin) (?P<node>[\w.-]{1,64}) (?P<release>\d[\w.+~-]{1,60}) .{0,300}?"
    r"(?P<machine>x86_64|amd64|i[3-6]86|aarch64|arm64|armv\d\w{0,3}|ppc64(?:le)?|riscv64|s390x"
    r"|mips\w{0,6})\b"
)
_PRETTY = re.compile(r"^\s*PRETTY_NAME=\"?(?P<text>[^\"\n]{1,100})")
_VERSION_WITHIN = re.compile(r"\s(?P<version>\d[\d.]{0,10})\b")
_RELEASE_FILE = re.compile(
    r"^\s*(?:NAME|VERSION|ID|ID_LIKE|VERSION_ID|VERSION_CODENAME|HOME_URL|SUPPORT_URL"
    r"|BUG_REPORT_URL|DEBIAN_CODENAME|UBUNTU_CODENAME|LOGO|CPE_NAME|ANSI_COLOR|BUILD_ID|VARIANT"
    r"|VARIANT_ID)="
)
_CPUINFO = re.compile(
    r"^\s*(?:processor|vendor_id|cpu family|model|stepping|microcode|cpu MHz|cache size"
    r"|physical id|siblings|core id"
    r"|cpu cores|apicid|initial apicid|fpu|fpu_exception|cpuid level|wp|bugs|bogomips|BogoMIPS"
    r"|clflush size"
    r"|cache_alignment|address sizes|power management|CPU implementer|CPU architecture"
    r"|CPU variant|CPU part|CPU revision"
    r"|Hardware|Revision|Serial|TLB size"
    r"|CPU op-mode\(s\)|Address sizes|Byte Order|CPU\(s\)|(?:On|Off)-line CPU\(s\) list|Vendor ID"
    r"|BIOS (?:Vendor ID|Model name|CPU family)|CPU family|Model|Stepping|Frequency boost"
    r"|(?:Thread|Core)\(s\) per \w+|(?:Socket|Cluster)\(s\)|CPU(?:\(s\) scaling| max| min)? MHz"
    r"|Virtualization(?: type| features)?|Hypervisor vendor|Caches \(sum of all\)"
    r"|L\d[di]?(?: cache)?"
    r"|NUMA(?: node(?:\(s\)|\d+ CPU\(s\)))?|Vulnerabilit(?:ies|y [\w .-]{1,40}))\s*:"
    r"|^\s*[A-Z][\w ./-]{1,40}:\s+(?:Mitigation|Not affected|Vulnerable|KVM)\b"
)
_ANSWER = re.compile(
    r"\s*(?:\[\d{1,5}\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<pssh>[\w.@:-]{1,100})(?: .*)?"
    r"|(?P<ansible>[\w.:-]{1,100}) \| [A-Z!]{4,20} \| rc=-?\d+ >>"
    r"|(?:ok|changed|failed): \[(?P<task>[\w.:-]{1,100})\] => \(item=[^)]{0,200}\).*)"
)
FLAGS_KEPT = 1000
FLAG_LENGTH = 100
"""A run document holds no more flags of a CPU, and no longer ones."""
KNOWN_FLAGS = frozenset([
    "fpu", "vme", "de", "pse", "tsc", "msr", "pae", "mce", "cx8", "apic", "sep", "mtrr", "pge",
    "mca", "cmov", "pat", "pse36", "clflush", "dts", "acpi", "mmx", "fxsr", "sse", "sse2", "ss",
    "ht", "tm", "pbe", "syscall", "nx", "rdtscp", "lm", "constant_tsc", "arch_perfmon", "rep_good",
    "nopl", "pni", "pclmulqdq", "ssse3", "cx16", "sse4_1", "sse4_2", "x2apic", "popcnt", "aes",
    "xsave", "avx", "f16c", "rdrand", "hypervisor", "lahf_lm", "smep", "erms", "avx2", "bmi1",
    "bmi2", "sha_ni", "vaes", "pmull", "sha1", "sha2", "crc32", "asimd", "neon", "fp", "fma",
    "movbe", "fsgsbase", "eagerfpu", "pcid", "xsaveopt", "tsc_deadline_timer", "nonstop_tsc",
])  # fmt: skip
_CPU_NAME = re.compile(
    r"\b(?:Intel(?:\(R\))?\s+(?:Core|Xeon|Atom|Pentium|Celeron)(?:\(TM\)"
    r"|\(R\))?(?:\s2)?\s[A-Za-z]{0,6}-?\w{2,12}(?:-\w{2,8})?(?:\sv\d)?"
    r"|AMD\s+(?:EPYC|Ryzen(?:\s(?:Threadripper|Embedded))?(?:\sPRO)?(?:\s\d)?|Opteron|Athlon"
    r"|Phenom|Geode|FX)(?:\(tm\))?\s?-?\w{2,10}"
    r"|Apple\sM\d(?:\s(?:Pro|Max|Ultra))?|(?:ARM\s)?Cortex-[AX]\d{1,3})(?!\w)"
)
_OS_NAME = re.compile(
    r"\b(?P<name>Fedora|Ubuntu|Debian(?: GNU/Linux)?|CentOS|Red Hat Enterprise Linux|RHEL"
    r"|Rocky Linux|AlmaLinux|openSUSE"
    r"|Mac OS X|OS X|macOS|FreeBSD|OpenBSD|NetBSD|Alpine(?: Linux)?|Raspbian|Slackware"
    r"|OpenWrt)\s(?P<version>\d[\d.]{0,8}\d|\d)(?![\w.]*\d)"
)
_MACHINE_WORDS = re.compile(
    r"\b(?:intel|amd|xeon|core i\d|ryzen|epyc|atom|celeron|pentium|cortex|raspberry|odroid"
    r"|synology|qnap|nas|server|desktop"
    r"|laptop|notebook|vm|guest|host(?:name)?|machine|macbook|vps|droplet|ec2|graviton|apple m\d"
    r"|fedora|ubuntu|debian|centos"
    r"|freebsd|openbsd|macos|os x|windows|openwrt|router|kernel|cpu|(?<!@)openssh|dropbear)\b"
)
"""In lower case: searched for so, it takes a fraction of the time."""


def facts_of(text: str) -> Mapping[str, Any] | None:
    """What a line says of the environment, in the shape of a run document; None if nothing.

    Empty for a line that belongs to such a listing but says nothing that is kept.
    """
    return _versions(text) or _processor(text) or _system(text) or _nothing_kept(text)


def _versions(text: str) -> Mapping[str, Any] | None:
    if found := _OPENSSH.search(text):
        library = found["openssl"].strip()
        openssh = {"client": found["client"].strip()}
        if library.startswith("without"):
            return {"openssh": {**openssh, "library": library}}
        # A text of ssh figures says of no other OpenSSL; its reader may (`Corrections`).
        return {"openssh": openssh, "openssl": {"version_text": library}}
    if found := _PEER.search(text):
        side = "client" if found["side"].lower().startswith("local") else "server"
        return {"openssh": {side: found["version"].strip()}}
    if found := _DROPBEAR.match(text):
        return {"openssh": {"client": found["client"]}}
    return None


def _processor(text: str) -> Mapping[str, Any] | None:
    if found := _MODEL.match(text):
        return {"cpu": {"model": found["model"].strip()}}
    if found := _ARCHITECTURE.match(text):
        return {"cpu": {"architecture": found["machine"]}}
    if found := _FLAGS.match(text):
        flags = [flag for flag in found["flags"].lower().split() if len(flag) <= FLAG_LENGTH]
        return {"cpu": {"flags": flags[:FLAGS_KEPT]}}
    return None


def _system(text: str) -> Mapping[str, Any] | None:
    if found := _UNAME.match(text):
        return {
            "os": {"kernel": f"{found['system']} {found['release']}"},
            "cpu": {"architecture": found["machine"]},
        }
    if found := _PRETTY.match(text):
        version = _VERSION_WITHIN.search(found["text"])
        if version is None:
            return {"os": {"name": found["text"].strip()}}
        return {"os": {"name": found["text"][: version.start()], "version": version["version"]}}
    return None


def _nothing_kept(text: str) -> Mapping[str, Any] | None:
    return {} if _RELEASE_FILE.match(text) or _CPUINFO.match(text) or _is_flags(text) else None


def _is_flags(text: str) -> bool:
    """A line of /proc/cpuinfo's flags without its title: which CPU of which text is unknown."""
    words = text.split()
    return len(words) >= 4 and sum(word in KNOWN_FLAGS for word in words) * 2 >= len(words)


def facts_of_title(text: str) -> Mapping[str, Any]:
    """CPU and operating system that a heading names, where it names just one."""
    facts: dict[str, Any] = {}
    models = _CPU_NAME.findall(text[:200])
    systems = list(_OS_NAME.finditer(text[:200]))
    if len(models) == 1:
        facts["cpu"] = {"model": " ".join(models[0].split())}
    if len(systems) == 1:
        facts["os"] = {"name": systems[0]["name"], "version": systems[0]["version"]}
    return facts


def node_of(text: str) -> str | None:
    """The machine's name in the output of uname -a."""
    found = _UNAME.match(text)
    return found["node"] if found else None


def answering_host(text: str) -> str | None:
    """The machine whose output a tool for many of them (pssh, Ansible) shows below a line."""
    found = _ANSWER.fullmatch(text)
    return next(filter(None, found.groups())).rpartition("@")[2] if found else None


def names_machine(text: str) -> bool:
    """Whether a heading seems to be about a machine or its system."""
    return _MACHINE_WORDS.search(text.lower()) is not None


_OF_ONE = (("cpu", "model"), ("os", "name"), ("os", "version"), ("openssh", "client"))


def contradicts(known: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether facts are of another machine or version than those known."""
    for group, key in _OF_ONE:
        old, new = known.get(group, {}).get(key), said.get(group, {}).get(key)
        if old and new and not (old.startswith(new) or new.startswith(old)):
            return True
    return False


def merged(facts: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both; what was said first stays."""
    return {group: {**more.get(group, {}), **facts.get(group, {})} for group in {**facts, **more}}


@dataclass(frozen=True)
class Facts:
    """Facts of the environment, perhaps none that is kept; `node` is the machine's own name."""

    environment: Mapping[str, Any]
    node: str | None = None
    text: str = ""


@dataclass
class Place:
    """A machine in one environment, as the text tells it from others."""

    line: int
    host: str | None = None
    label: str | None = None
    heading: Title | None = None
    """The heading above it, which is its label if another machine's figures follow."""
    words: Title | None = None
    """The line above its figures, if it was not understood."""
    title: str = ""
    """The words of the heading above it, whatever it is for."""
    after: "Place | None" = None
    """The place before it, where nothing but repeated ciphers tells the two apart."""
    known_as: "Place | None" = None
    """The place that it may be again: a cipher measured in both may be another configuration's."""
    measured: bool = False
    doubt: str = ""
    """The remark on its figures if, by the heading above them, none counts."""
    environment: dict[str, Any] = field(default_factory=dict)
    seen: set[tuple[Any, ...]] = field(default_factory=set)
    said: set[str] = field(default_factory=set)
    """Lines of facts."""

    def learn(self, facts: Facts) -> None:
        """What a line says of it; what was said first stays."""
        self.said.add(facts.text)
        self.host = facts.node or self.host
        self.environment = merged(self.environment, facts.environment)

    @property
    def is_named(self) -> bool:
        """Whether anything is known that may be untrue of another machine or version."""
        return self.host is not None or bool(self.environment)

    @property
    def first(self) -> "Place":
        """It, or the place that it may be again."""
        return self.known_as or self

    def named(self, host: str) -> None:
        """It is the machine of that name, of which it is known or not that it was left."""
        self.host = host
        if self.known_as:
            self.label = None
            self.known_as = self.known_as if self.known_as.host == host else None

    def forget(self, host: str | None) -> None:
        """All that was said may be of another machine or version; nothing was measured yet."""
        self.host, self.environment, self.said = host, {}, set()

    def left(self, line: int, host: str | None) -> "Place":
        """Where the text may be from a line on: the same machine if both have one name."""
        label = None if host else f"from line {line}"
        fresh = Place(line, host, label, title=self.title, known_as=self.first, doubt=self.doubt)
        return replace(fresh, after=self.after, seen=self.seen)
