import re
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

TEXT_LIMIT, FLAGS_LIMIT, FLAG_LENGTH = 2000, 1000, 100


class Fact(NamedTuple):
    environment: Mapping[str, Any]
    host: str | None = None
    listing: str = ""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KNOWN_FLAGS = _words("""
    fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat clflush acpi mmx fxsr sse sse2
    ss ht tm syscall nx lm nopl cpuid pni pclmulqdq monitor vmx ssse3 fma cx16 x2apic movbe popcnt
    aes xsave avx f16c rdrand hypervisor svm abm fsgsbase bmi1 avx2 smep bmi2 erms rdseed adx smap
    fp asimd evtstrm pmull sha1 sha2 crc32 atomics half thumb fastmult edsp neon vfpv3 vfpv4 tls""")
_ARCHITECTURES = _words("""
    x86_64 amd64 i386 i486 i586 i686 aarch64 arm64 arm armv5tel armv5tejl armv6l armv7l armv8l armhf
    ppc ppc64 ppc64le riscv64 s390x mips mips64 mipsel sparc sparc64 sun4v loongarch64 alpha""")
_CPU_BRANDS = _words("""
    intel amd armv apple ibm via qualcomm hisilicon phytium zhaoxin hygon core xeon atom pentium
    celeron ryzen epyc opteron athlon phenom sempron cortex neoverse ampere loongson power powerpc
    ppc sparc ultrasparc mips kunpeng graviton feroceon qemu common genuine virtual quad dual i""")
_CPU_WORDS = _CPU_BRANDS | _words("""
    turion threadripper ultra pro max embedded gold silver platinum bronze duo extreme mobile cores
    fx geode radeon graphics vega gfx with compute rev version compatible kvm x v arm snapdragon
    altra nano ii altivec supported rome milan class ghz cpu processor""")
_CPU_KEYS = ("cpu", "processor", "hardware", "hw.model", "chip", "soc", "processor name")
_LISTINGS = {
    "cpuinfo": """vendor_id>cpu.vendor, model>cpu.model_id, stepping>cpu.stepping, flags>cpu.flags,
        cpu model>cpu.model, features>cpu.flags, processor, hardware, microcode, cpu mhz, siblings,
        physical id, core id, cpu cores, initial apicid, fpu, fpu_exception, cpuid level, wp, bugs,
        bogomips, clflush size, cache_alignment, power management, cpu implementer, cpu revision,
        cpu architecture, cpu variant, cpu part, revision, serial, tlb size, cache size, apicid""",
    "lscpu": """model name>cpu.model, vendor id>cpu.vendor, cpu family>cpu.family, byte order,
        cpu(s)>cpu.threads, architecture>cpu.architecture, hypervisor vendor>virtualization,
        virtualization>virtualization, address sizes, socket(s), cluster(s), frequency boost,
        virtualization type, vulnerabilities, cpu(s) scaling mhz""",
    "macos": """machdep.cpu.brand_string>cpu.model, machdep.cpu.features>cpu.flags, hw.model,
        hw.ncpu>cpu.threads, productname>os, productversion>os.version, buildversion""",
    "lsb_release": "distributor id>os.id, description>os, release>os.version, codename",
    "hostnamectl": "static hostname>host, operating system>os, kernel>os.kernel, chassis",
    "neofetch": "os>os, host>host, uptime, packages, shell, resolution, terminal, wm theme",
    "openssl": """built on>openssl.built_on, platform>openssl.platform, options>openssl.options,
        compiler>openssl.compiler, c flags>openssl.compiler, cpuinfo>openssl.cpu_settings,
        openssldir, enginesdir, modulesdir, seeding source""",
    "os-release": "pretty_name>os, name>os, version_id>os.version, id>os.id",
}
_FIELDS = {
    key.strip(): (listing, path)
    for listing, fields in _LISTINGS.items()
    for key, _, path in (field.partition(">") for field in fields.split(","))
}
_AMBIGUOUS_KEYS = _words("description os host kernel flags features release model name")
_NOT_KEPT = re.compile(
    r"(?P<notice>You have chosen to |To get the most accurate|program when this computer is idle"
    r"|available timing options|timing function used|First we calculate|/dev/crypto not|locale: "
    r"|WARNING: can't open config|perl: warning|bash: warning: setlocale|No LSB mod|[Ee]ngine \""
    r"|L(?:C_ALL|ANGUAGE|ANG) = |are supported and installed|Falling back to|\(?The .numbers. are"
    r"|sign +ver|op +op/s)"
    r"|(?P<os_release>(?:[A-Z_]+_(?:URL|CODENAME|COLOR|LIKE)|BUILD_ID|CPE_NAME|LOGO)=|VERSION=\")"
    r"|(?P<lscpu>(?:Vulnerability |NUMA|L\d[di]? cache|BIOS |O(?:n|ff)-line CPU|CPU (?:op|max|min)"
    r"|\w+\(s\) per |Microarch|SoC guess|Socket D|GPU|Icon name|(?:Machine|Boot) ID"
    r"|Hardware [VM]|Firmware)[^:]{0,40}:|[\w /-]{2,40}: *(?:Not aff|Mitigat|Vulner|Little E|32-b))"
)
_KEYED = re.compile(r"([^:：=]{1,60})([:：=])(.*)", re.S)
_PRODUCT = r"(?:OpenSSL(?:-fips)?|LibreSSL|SSLeay|ssleay|BoringSSL|AWS-LC)"
_VERSION = re.compile(
    rf"(?:version: *)?((?:{_PRODUCT},? v?|(?<=version:)|(?<=version: ))\d+\.[^\s,:;]{{1,60}}"
    r"(?:[:,.]?\s*(?:built on |\((?:Library|\d)|\[engine\]|xx |- -|g?cc |FIPS \d"
    r"|\d{1,2}[ -][A-Z][a-z]{2}[ -]\d|[A-Z][a-z]{2} \d).{0,120})?)[:,.]?"
)
_SSH_NAME = r"(?:OpenSSH|dropbear)_[^\s,]{1,60}(?: [^\s,]{0,30}\d[^\s,]{0,30}){0,2}"
_SSH = re.compile(
    r"(?i)(?:debug\d: )?(?:(?:Remote protocol [\w., ]{9,20})?remote software version "
    rf"(?P<server>{_SSH_NAME})|(?:Local version string SSH-2\.0-)?"
    rf"(?P<client>{_SSH_NAME}|Dropbear [\w -]{{0,24}}\d{{4}}\.\d+))"
    rf"(?:, ?(?:SSH [^,]{{1,40}}, ?)?(?P<library>without OpenSSL|{_PRODUCT} \d[^,]{{0,80}}))?"
)
_SYSTEM = re.compile(r"Linux|Darwin|SunOS|\w{3,7}BSD|(?:CYGWIN|MINGW\d\d|MSYS)_NT-\S{1,20}")
_OS = (
    r"(?:Fedora(?: Linux)?|Ubuntu|(?:Debian|Raspbian|Kali)(?: GNU/Linux)?|CentOS(?: Linux| Stream)?"
    r"|Red Hat Enterprise Linux(?: Server)?|RHEL|(?:Rocky|Arch|Oracle|Amazon) Linux|Gentoo"
    r"|openSUSE(?: Leap)?|SLES|(?:Mac )?OS X|macOS|(?:Free|Open|Net)BSD|Alpine(?: Linux)?|OpenWrt"
    r"|Raspberry Pi OS|Slackware|Manjaro(?: Linux)?|Linux Mint|NixOS|Armbian|DSM|TrueNAS|FreeNAS"
    r"|(?:Microsoft )?Windows(?: Server)?|AlmaLinux)\b"
)
_MARK = r"(?:\((?:R|TM|tm)\)|®|™)?"
NAMED_CPU = (
    rf"(?<![\w-])(?P<model>(?:(?:Intel|AMD) ?{_MARK} )?(?:(?<=AMD )[AEG]\d{{0,2}}-\d{{3,4}}\w?"
    rf"|Core{_MARK} (?:i[3579]\b(?:-\w{{3,9}})?|Ultra \d \w{{4,5}}|2 (?:Duo|Quad)(?: \w{{5}})?)"
    r"|i[3579]-\d{3,5}\w{0,4}|(?<=Intel )N\d{2,3}\b|(?<=Intel\(R\) )N\d{2,3}\b"
    rf"|(?:Xeon|Atom|Pentium|Celeron|EPYC|Ryzen|Opteron|Athlon|Phenom|Sempron|FX){_MARK}"
    r"(?: (?:CPU|Gold|Silver|Platinum|Threadripper|Embedded|II X\d|64|[3579]))?(?: PRO)?[ -]"
    r"(?:[A-Za-z]{0,2}\d?-?[A-Z]?\d{3,5}\w{0,4}(?: ?v\d)?|\d\b))(?:(?: CPU)? @ ?\d\.\d+ ?GHz)?"
    r"|Apple M\d\b(?: (?:Pro|Max|Ultra)\b)?|POWER\d\d?\b|Cortex-[AX]\d{1,3}\w{0,2}"
    r"|ARMv\d(?:-compatible)? [Pp]rocessor rev \d+ \(v\d\w?\))"
)
_NAMED = {
    "cpu": NAMED_CPU,
    "os": rf"\b(?P<name>{_OS})(?: release)? v?(?P<version>\d[\d.]{{0,9}}\b)(?![.-]?\d| ?-?bit)",
    "openssl": r"\b(?P<version_text>(?:\w{4,6}SSL v?|SSLeay )\d+\.\d[\w.-]{0,20}(?<=\w))",
    "openssh": r"\b(?P<client>OpenSSH[_ ]v?\d+\.\d\w{0,12})",
}
_AROUND_CPU = re.compile(
    r"^\d{1,3}(?: ?[x×]| CPUs?| cores?|-core) +"
    r"|,\s[\d.]+ MHz.*|\s\([\d.]+-MHz.*|\s[x×]\s?\d{1,3}$|\s\(\d+\)(?= @|$)"
)
_NO_CPU_WORDS = re.compile(r"\([^()]*\)|[\s,/®™@-]+")
_UNCOMPARED = re.compile(r"\b(?:cpu|processor|built on)\b|@ ?[\d.]+ ?ghz|\((?:r|tm)\)|[\s(),_®™@]+")
_IDENTIFYING = ("model", "name", "version", "kernel", "version_text", "client", "server", "library")


def read_fact(text: str) -> Fact | None:
    line = text.strip().lstrip("*>#- ")
    if len(line) < 200 and (match := _NOT_KEPT.match(line)):
        return Fact({}, listing=str(match.lastgroup).replace("_", "-"))
    fact = read(line) if (read := _READERS.get(line[:3])) else None
    if fact is None and (":" in line or "=" in line or "：" in line):
        fact = _keyed(line)
    if fact is None and (flags := flags_of(line)):
        fact = Fact({"cpu": {"flags": list(flags)}}, listing="flags")
    return fact


def flags_of(text: str, known_share: float = 0.3) -> tuple[str, ...]:
    words = text.split()
    if len(words) < 4 or KNOWN_FLAGS.isdisjoint(words):
        return ()
    known = sum(word in KNOWN_FLAGS or "_" in word for word in words)
    kept = words[:FLAGS_LIMIT] if known >= known_share * len(words) else []
    return tuple(word for word in kept if len(word) <= FLAG_LENGTH)


def facts_in_heading(text: str) -> dict[str, Any]:
    text = " ".join(text[:300].split())
    facts = {}
    for group, pattern in _NAMED.items():
        match = re.search(pattern, text)
        if match and not re.search(pattern, text.replace(match[0], " ")):
            facts[group] = match.groupdict()
    return facts


def contradicts(known: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    for group, key in product(("cpu", "os", "openssl", "openssh"), _IDENTIFYING):
        first, second = (facts.get(group, {}).get(key) for facts in (known, new))
        if first and second and not _may_be_same(first, second):
            return True
    return False


def merged(known: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    result = {**new, **known}
    for group in known.keys() & new.keys():
        if isinstance(known[group], Mapping):
            result[group] = {**new[group], **known[group]}
            if flags := [*known[group].get("flags", ()), *new[group].get("flags", ())]:
                result[group]["flags"] = list(dict.fromkeys(flags))  # a wrapped list
    return result


def _may_be_same(old: str, new: str) -> bool:
    names = (" ".join(_UNCOMPARED.sub(" ", name.lower()).split()) for name in (old, new))
    shorter, longer = sorted(names, key=len)
    if longer.startswith(shorter):  # "Cortex-A7" is no short form of "Cortex-A72".
        return not (shorter[-1:].isdigit() and longer[len(shorter) :][:1].isdigit())
    return set(shorter.split()) <= set(longer.split())


def _keyed(line: str) -> Fact | None:
    match = _KEYED.match(line)
    words = match[1].lower().split() if match else []
    if not match or not 0 < len(words) <= 4:
        return None
    key, name, value = match[1].strip(), " ".join(words), match[3].strip(" \t\"'*")
    listing, path = _FIELDS.get(name, ("", ""))
    if (listing == "os-release") != (match[2] == "=") or (listing == "openssl" and key.istitle()):
        listing, path = "", ""
    fact = (_field(listing, path, value) if path else None) or _by_value(name, value)
    unclear = name in _AMBIGUOUS_KEYS or (name in _CPU_KEYS and " " in value)
    if fact is None and listing and not unclear and (value or listing == "cpuinfo"):
        return Fact({}, listing=listing)
    return fact


def _field(listing: str, path: str, text: str) -> Fact | None:
    pattern, convert = _VALUES.get(path, (".+", str))
    match = re.fullmatch(pattern, text)
    if path == "host" or match is None:
        return Fact({}, text, listing) if match else None
    named = {key: value[:100] for key, value in match.groupdict().items() if value}
    value = named or convert(match[match.lastindex or 0])
    value = value[:TEXT_LIMIT] if isinstance(value, str) else value
    group, _, key = path.partition(".")
    return Fact({group: {key: value} if key else value}, listing=listing) if value else None


_BUILD = (r"(?:built on: *)?((?!n/a$|information not|date not).+)", str)
_VALUES: dict[str, tuple[str, Callable[[str], Any]]] = {
    **{f"cpu.{key}": ("[0-9]{1,6}", int) for key in ("family", "model_id", "stepping", "threads")},
    "cpu.architecture": (r"(?!amd64|arm64|armhf)\w[\w-]{1,19}", str),
    "cpu.flags": (".+", lambda text: list(flags_of(text.lower(), 0.1))),
    "cpu.model": (r"\w.+", lambda text: _cpu_name(text) or text),
    "virtualization": (r"(?!VT-x|AMD-V|\(null).+", str.lower),
    "host": (r"(?!localhost$)[\w.-]{1,100}", str),
    "os": (rf"(?P<name>(?={_OS}|\w+ (?:Linux|OS)\b).{{1,80}}?)(?: v?(?P<version>\d\S*).*)?", str),
    "os.id": ("[A-Za-z][A-Za-z.-]{1,40}", str.lower),
    "os.version": (r"\d[\d.]{0,40}", str),
    "os.kernel": (r"(?:\w+ )?(?:Linux |(?=[2-9]\.))(\d+\.[^\s/]+)(?:[/ ]\w+)?", "Linux {}".format),
    **dict.fromkeys(("openssl.built_on", "openssl.platform", "openssl.compiler"), _BUILD),
    "openssl.cpu_settings": ("OPENSSL_.+", str),
}


def _by_value(name: str, value: str) -> Fact | None:
    if value in _ARCHITECTURES and value not in ("amd64", "arm64", "armhf"):
        return Fact({"cpu": {"architecture": value}}, listing="lscpu")
    if model := _cpu_name(value):
        return Fact({"cpu": {"model": model}}, listing="cpu" if name in _CPU_KEYS else "lscpu")
    if name in _CPU_KEYS and (facts := facts_in_heading(value)):
        return Fact(facts, listing="cpu")
    flags = list(flags_of(value)) if value.count(" ") >= 5 else None
    return Fact({"cpu": {"flags": flags}}, listing="lscpu") if flags else _version(value)


def _cpu_name(text: str) -> str | None:
    text = _AROUND_CPU.sub("", text[:151]).rstrip(" ,;.")
    words = _NO_CPU_WORDS.sub(" ", text[:150].lower()).split()
    if not words or words[0].rstrip("0123456789") not in _CPU_BRANDS or "aes" in text.lower():
        return None
    numbered = {word for word in words if any(map(str.isdigit, word))}
    named = numbered or not {"cpu", "processor"}.isdisjoint(words)
    is_short = len(words) == 1 and words[0][0] in "ai"  # "Intel", "ARMv8"
    if not named or is_short or words[1:2] == ["radeon"] or len(text) > 150:
        return None
    return text if _CPU_WORDS.issuperset(set(words) - numbered) else None


def _version(line: str) -> Fact | None:
    if match := _VERSION.fullmatch(re.sub(r"^(\w+) \(version (.*)\)$", r"\1 \2", line)):
        name = match[1] if match[1][0].isalpha() else f"OpenSSL {match[1]}"
        return Fact({"openssl": {"version_text": name}}, listing="openssl")
    if match := _SSH.fullmatch(line):
        versions = {key: value for key, value in match.groupdict().items() if value}
        return Fact({"openssh": versions}, listing="ssh")
    return _uname(line) if line.startswith("OpenBSD ") else None


def _uname(line: str) -> Fact | None:
    system, *words = line.removesuffix(" GNU/Linux").split()
    machine = next((word for word in reversed(words) if word in _ARCHITECTURES), None)
    marks = ("#" in word or word in (system, "Msys", "Cygwin") for word in words[2:])
    host, release = words[:2] if any(marks) else ("", "".join(words[:1]))
    if not machine or not release[:1].isdigit() or not (host or words[1:] == [machine]):
        return None
    facts = {"os": {"kernel": f"{system} {release}"[:TEXT_LIMIT]}, "cpu": {"architecture": machine}}
    return Fact(facts, host[:100] or None, "uname") if _SYSTEM.fullmatch(system) else None


_READERS: dict[str, Callable[[str], Fact | None]] = {
    **dict.fromkeys(_words("Lin Fre Net Dar Sun CYG MIN MSY"), _uname),
    **dict.fromkeys(_words("Ope Lib SSL ssl Bor AWS ver deb Loc loc Rem rem Dro"), _version),
    "bui": lambda line: _keyed(re.sub(r"^built on (?=[A-Z]\w\w [A-Z]\w\w )", "built on:", line)),
}
