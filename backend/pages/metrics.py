"""What can be compared and by what: names and one-line explanations for people."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """A value of a picker."""

    key: str
    label: str
    explanation: str = ""
    lower_is_better: bool = False


METRICS = (
    Choice("throughput", "Throughput", "Raw throughput, not normalised."),
    Choice(
        "normalised",
        "Normalised throughput",
        "What this cipher would do on the reference machine: the throughput divided by the "
        "machine's plain speed, which arcfour, Blowfish and 3DES tell.",
    ),
    Choice("vs_3des", "Ratio to 3DES", "How many times the machine's own 3DES speed."),
    Choice("vs_blowfish", "Ratio to Blowfish", "How many times the machine's own Blowfish speed."),
    Choice("vs_arcfour", "Ratio to arcfour", "How many times the machine's own arcfour speed."),
    Choice(
        "cpu_seconds_per_gb",
        "CPU seconds per GB",
        "CPU time of both ends together for 10⁹ bytes. Less is better.",
        lower_is_better=True,
    ),
)

TOOLS = (
    Choice("ssh", "SSH (whole transfer)", "A transfer through ssh: cipher, MAC and protocol."),
    Choice("openssl", "OpenSSL (cipher alone)", "openssl speed: the cipher alone, in memory."),
)

GROUP_BY = (
    Choice("cpu", "CPU"),
    Choice("cpu_vendor", "CPU vendor"),
    Choice("microarchitecture", "Microarchitecture"),
    Choice("architecture", "Architecture"),
    Choice("os", "Operating system"),
    Choice("os_version", "OS version"),
    Choice("openssl", "OpenSSL version"),
    Choice("openssl_series", "OpenSSL series"),
    Choice("openssh", "OpenSSH version"),
    Choice("virtualization", "Virtualisation"),
    Choice("acceleration", "AES acceleration"),
    Choice("host", "Host"),
)

METHODS = (
    Choice("pipeline", "Pipeline", "dd into ssh, as everybody types it."),
    Choice("steady", "Steady", "One long transfer; the set-up of the connection taken off."),
)


def choice(choices: tuple[Choice, ...], key: str) -> Choice:
    """The choice with this key; an unknown one (a tag, say) stands for itself."""
    return next((known for known in choices if known.key == key), Choice(key, key))
