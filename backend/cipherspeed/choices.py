from dataclasses import dataclass

from cipherspeed.groups import Comparison

TOOL_NAMES = {"ssh": "SSH", "openssl": "OpenSSL"}

TAG_PREFIX = "tag:"


@dataclass(frozen=True)
class Choice:
    key: str
    label: str
    explanation: str = ""
    lower_is_better: bool = False


METRICS = (
    Choice(
        "throughput",
        "Throughput",
        "Measured throughput. Normalised throughput factors out each CPU's general speed, to "
        "compare AES hardware and software.",
    ),
    Choice(
        "normalised",
        "Normalised throughput",
        "An estimate, not a measured speed: each result is divided by its host's speed with "
        "arcfour, Blowfish or 3DES, for which common CPUs have no instructions, and multiplied "
        "by that of the reference host.",
    ),
    Choice("vs_3des", "Ratio to 3DES", "Throughput divided by the host's own 3DES throughput."),
    Choice(
        "vs_blowfish",
        "Ratio to Blowfish",
        "Throughput divided by the host's own Blowfish throughput.",
    ),
    Choice(
        "vs_arcfour",
        "Ratio to arcfour",
        "Throughput divided by the host's own arcfour throughput.",
    ),
    Choice(
        "cpu_seconds_per_gb",
        "CPU seconds per GB",
        "Client plus server CPU time per 10⁹ bytes. Lower is better.",
        lower_is_better=True,
    ),
)

TOOLS = (Choice("ssh", "SSH (whole transfer)"), Choice("openssl", "OpenSSL (cipher alone)"))

GROUP_BY = (
    Choice("cpu", "CPU"),
    Choice("cpu_vendor", "CPU vendor"),
    Choice("microarchitecture", "Microarchitecture"),
    Choice("architecture", "Architecture"),
    Choice("os", "Operating system"),
    Choice("os_version", "OS version"),
    Choice("openssl", "OpenSSL version"),
    Choice("openssl_series", "OpenSSL release series"),
    Choice("openssh", "OpenSSH version"),
    Choice("virtualization", "Virtualisation"),
    Choice("acceleration", "AES acceleration"),
    Choice("host", "Host"),
)

METHODS = (Choice("pipeline", "Pipeline"), Choice("steady", "Steady"))


def choice(choices: tuple[Choice, ...], key: str) -> Choice:
    """Return the choice with this key. If no choice has the key, use the key as the label."""
    return next((known for known in choices if known.key == key), Choice(key, key))


def groupings(group_by: str, *tags: str) -> tuple[Choice, ...]:
    grouped_by = (group_by.removeprefix(TAG_PREFIX),) if group_by.startswith(TAG_PREFIX) else ()
    every = dict.fromkeys((*tags, *grouped_by))
    return (*GROUP_BY, *(Choice(f"{TAG_PREFIX}{tag}", f"Tag “{tag}”") for tag in every))


def grouping(name: str) -> str:
    return in_sentence(choice(groupings(name), name).label)


def in_sentence(label: str) -> str:
    kept = label.startswith(("CPU", "OS ", "Open", "AES", "Tag"))
    return label if kept else label[0].lower() + label[1:]


def heading(comparison: Comparison) -> str:
    """Return a title such as "SSH throughput by CPU"."""
    tool = TOOL_NAMES[comparison.tool]
    metric = in_sentence(choice(METRICS, comparison.metric).label)
    by = map(grouping, filter(None, (comparison.group_by, comparison.split_by)))
    words = f"{tool} {metric} by {' and '.join(by)}"
    if comparison.relative_to and comparison.relative_to.label:
        words += f", relative to {comparison.relative_to.label}"
    return f"{words}, matched hosts" if comparison.matched else words
