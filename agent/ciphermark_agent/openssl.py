"""openssl tries: commands, mask of the AES hardware, output, samples."""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ciphermark_agent.children import ORPHAN_SECONDS, become_subreaper, reap_all, run_tool
from ciphermark_agent.common import BYTES_LIMIT, Json, TryFailed, one_line, rate, real, whole
from ciphermark_agent.conditions import ForeignWatch
from ciphermark_agent.ssh_connection import TRY_SECONDS

MASK_X86 = "~0x200000200000000:~0x60000000000"  # AES-NI, PCLMULQDQ : VAES, VPCLMULQDQ; no more
MASKED_CIPHERS = ("aes-128-cbc", "aes-128-ctr", "aes-128-gcm")
# Bits of OPENSSL_armcap (arm_arch.h): it replaces what the CPU says, so everything but AES
# has to be given again.
ARM_AES, ARM_PMULL = 4, 32
ARM_FLAGS = {"asimd": 1, "neon": 1, "sha1": 8, "sha2": 16, "sha512": 64}


def mask_variable(
    machine: str, cpu_settings: Optional[str] = None, flags: Optional[List[str]] = None
) -> Optional[Tuple[str, str]]:
    """Name and value of the variable that turns off the AES hardware; None: none is known.

    `cpu_settings` is what `openssl version -a` says of the CPU (CPUINFO, since 3.0).
    """
    if machine in ("x86_64", "amd64", "AMD64", "i686", "i586", "i386"):
        return "OPENSSL_ia32cap", MASK_X86
    known = re.search(r"OPENSSL_armcap=0x([0-9a-f]{1,16})\b", cpu_settings or "", re.I)
    if not machine.startswith(("aarch64", "arm")) or not (known or flags):
        return None
    if known:
        left = int(known.group(1), 16) & ~(ARM_AES | ARM_PMULL)
    else:
        left = sum({bit for name, bit in ARM_FLAGS.items() if name in (flags or [])})
    return "OPENSSL_armcap", "0x%x" % left


OPENSSL_BLOCK = 16384
# Tables of OpenSSL before 1.1.0 end here: one try a cipher gives them something to stand beside.
OPENSSL_OLD_BLOCK = 8192
OPENSSL_SIZES = (16, 64, 256, 1024, 8192, 16384)  # what it measures when no -bytes is given
OPENSSL_OLD_SECONDS = 3  # a block size, before -seconds
OPENSSL_QUICK = tuple(
    "aes-128-cbc aes-128-ctr aes-128-gcm aes-256-gcm aes-256-ctr chacha20-poly1305 "
    "rc4 bf-cbc des-ede3-cbc".split()
)
# What --ciphers may name beyond the quick list.
OPENSSL_KNOWN = OPENSSL_QUICK + tuple(
    "aes-192-cbc aes-192-ctr aes-192-gcm aes-256-cbc camellia-128-cbc camellia-256-cbc "
    "aria-128-cbc aria-256-cbc sm4-cbc cast5-cbc".split()
)
OPENSSL_LEGACY = ("rc4", "bf-cbc", "cast5-cbc")  # live in the legacy provider since OpenSSL 3
# OpenSSL before 1.1.1 has no -seconds: 15 s a cipher. A quick run then takes these, once each.
OPENSSL_OLD_QUICK = ("aes-128-cbc", "aes-128-gcm", "bf-cbc")
RATE_LIMIT = 1e13  # bytes per second; no machine comes near, even with all its cores
SECONDS_LIMIT = 1e7


class SpeedAbilities(NamedTuple):
    """What `openssl speed` of this version can be told."""

    seconds: bool  # -seconds and -bytes, since 1.1.1
    providers: bool  # -provider, since 3.0
    machine: bool = True  # -mr; assumed until it is refused


def speed_abilities(openssl: str) -> SpeedAbilities:
    answer = run_tool([openssl, "speed", "-help"])
    text = answer.out + answer.err
    return SpeedAbilities("-seconds" in text and "-bytes" in text, "-provider " in text)


class Asked(NamedTuple):
    """One way to call `openssl speed`; without a block size, all of its sizes."""

    cipher: str
    acceleration: str = "default"
    operation: str = "encrypt"
    block_size: Optional[int] = OPENSSL_BLOCK
    threads: int = 1

    def any_size(self) -> "Asked":
        return self._replace(block_size=None)

    def in_words(self) -> str:
        return (self.cipher + " " + self.beyond_cipher()).strip()

    def beyond_cipher(self) -> str:
        words = []
        if self.acceleration == "masked":
            words.append("without AES hardware")
        if self.operation == "decrypt":
            words.append("decrypt")
        if self.threads > 1:
            words.append("in %d processes" % self.threads)
        return " ".join(words)

    def part_in_words(self) -> str:
        """What of the cipher this measures."""
        sizes = "at %d bytes" % self.block_size if self.block_size else "at all block sizes"
        return (self.beyond_cipher() + " " + sizes).strip()


def speed_command(openssl: str, asked: Asked, seconds: int, able: SpeedAbilities) -> List[str]:
    """`-evp` always: without it rc4 answers 0.00 and AES leaves its instructions unused."""
    command = [openssl, "speed"]
    if able.machine:
        command.append("-mr")
    if able.seconds:
        command += ["-seconds", str(seconds)]
        if asked.block_size:
            command += ["-bytes", str(asked.block_size)]
    if asked.operation == "decrypt":
        command.append("-decrypt")
    if asked.threads > 1:
        # Each process counts its own CPU seconds: with fewer cores than processes their sum lies.
        command += ["-elapsed", "-multi", str(asked.threads)]
    if able.providers and asked.cipher in OPENSSL_LEGACY:
        command += ["-provider", "legacy", "-provider", "default"]
    return command + ["-evp", asked.cipher]


def same_cipher(printed: str, asked: str) -> bool:
    """Old versions print the long name of the object: id-aes128-GCM."""
    return re.sub(r"^id-aes(\d+)-", r"aes-\1-", printed.lower()) == asked


def parse_speed(text: str, cipher: str) -> Dict[int, Json]:
    """Samples by block size: the +DT and +R lines of `openssl speed -mr` (standard error).

    Nothing for another cipher's name, for a count of zero, for no time, or for what is no number.
    """
    found = []
    block_size = ""
    for line in text.splitlines():
        fields = line.strip().split(":")
        if fields[0] == "+DT" and len(fields) == 4:
            block_size = fields[3] if same_cipher(fields[1], cipher) else ""
        elif fields[0] == "+R" and len(fields) == 4:
            if same_cipher(fields[2], cipher):
                found.append((block_size, fields[1], fields[3]))
            block_size = ""
    return samples_of(found)


def parse_speed_human(text: str, cipher: str) -> Dict[int, Json]:
    """The same from the lines that `openssl speed` prints for people, on standard error.

    Doing aes-128-gcm for 3s on 8192 size blocks: 593844 aes-128-gcm's in 3.00s
    """
    rows = re.findall(
        r"Doing (\S+)(?: ops)? for \S+s on (\d+) size blocks: (\d+) \S+(?: ops)? in (\d+\.?\d*)s",
        text,
    )
    return samples_of([row for name, *row in rows if same_cipher(name, cipher)])


def samples_of(rows: Sequence[Sequence[str]]) -> Dict[int, Json]:
    """Of (block size, blocks, seconds): none where one is no number that a document can hold."""
    samples = {}
    for row in rows:
        size, blocks, seconds = whole(row[0]), whole(row[1], BYTES_LIMIT), real(row[2])
        if (
            size
            and blocks
            and seconds
            and blocks * size <= BYTES_LIMIT
            and seconds <= SECONDS_LIMIT
        ):
            samples[size] = {"bytes": blocks * size, "seconds": seconds}
    return samples


def parse_multi(out: str, cipher: str) -> Dict[int, float]:
    """Bytes per second by block size: the sum row of `openssl speed -multi -mr`.

    The rows of the single processes ("Got: +F...") are not added to it, but must all be of this
    cipher: OpenSSL 1.1.1 names the sum only `evp`.
    """
    header = re.search(r"^(?:Got: )?\+H:([\d:]+)", out, re.M)
    children = re.findall(r"^Got: \+F:\d+:([^:\n]+):", out, re.M)
    summed = re.search(r"^\+F:\d+:([^:\n]+):([\d.:]+)$", out, re.M)
    if not header or not summed or not children:
        return {}
    names = set(children + [summed.group(1)]) - {"evp"}
    if not names or not all(same_cipher(name, cipher) for name in names):
        return {}
    sizes = map(whole, header.group(1).split(":"))
    pairs = zip(sizes, map(real, summed.group(2).split(":")))  # noqa: B905 - new in 3.10
    return {size: rate_of_all for size, rate_of_all in pairs if size and rate_of_all}


def multi_samples(out: str, asked: Asked, seconds: int) -> Dict[int, Json]:
    """-multi tells only the summed rate: bytes are that rate times the seconds asked for."""
    moved = {size: rate * seconds for size, rate in parse_multi(out, asked.cipher).items()}
    return {
        size: {"bytes": int(round(sent)), "seconds": float(seconds), "derived_from": "rate"}
        for size, sent in moved.items()
        if 1 <= sent <= BYTES_LIMIT
    }


def zero_rate(text: str) -> bool:
    """Whether the +F line on standard output holds a rate that is no number above zero."""
    rates = re.findall(r"^\+F:\d+:[^:\n]+:(.+)$", text, re.M)
    return any(not real(word) for line in rates for word in line.split(":"))


class NoMachineOutput(TryFailed):
    """This `openssl speed` does not know -mr."""


def openssl_try(
    openssl: str,
    asked: Asked,
    seconds: int,
    able: SpeedAbilities,
    mask: Optional[Tuple[str, str]] = None,
) -> Dict[int, Json]:
    """Samples by block size. Seconds are CPU seconds, as openssl counts them by default."""
    # openssl leaves the processes of -multi unwaited for: they come to us, with their CPU time.
    inherits = asked.threads == 1 or become_subreaper()
    watch = ForeignWatch()
    env = dict([mask]) if mask and asked.acceleration == "masked" else None
    sizes = [asked.block_size] if asked.block_size else OPENSSL_SIZES
    command = speed_command(openssl, asked, seconds, able)
    answer = run_tool(command, TRY_SECONDS + len(sizes) * seconds, env)
    if able.machine and re.search(r"(bad|unknown|invalid|unrecognized) option", answer.err.lower()):
        raise NoMachineOutput(one_line(answer.err))
    if answer.status != 0:
        raise TryFailed(explain_openssl(answer.err))
    if asked.threads > 1:
        found = multi_samples(answer.out, asked, seconds if able.seconds else OPENSSL_OLD_SECONDS)
    else:
        found = parse_speed(answer.err, asked.cipher) or parse_speed_human(answer.err, asked.cipher)
        found = {} if zero_rate(answer.out) else found
    found = {size: sample for size, sample in found.items() if size in sizes}
    if not found:
        raise TryFailed("openssl speed answered no rate for it")
    fastest = max(map(rate, found.values()))
    if fastest > RATE_LIMIT:
        raise TryFailed("openssl speed answered an impossible rate: %.3g B/s" % fastest)
    if asked.threads > 1 and inherits:
        reap_all(ORPHAN_SECONDS)
    foreign = watch.cores() if inherits else None
    for sample in found.values():
        sample["foreign_cpu"] = foreign
    return found


def explain_openssl(err: str) -> str:
    """Why openssl speed failed, in words where the reason is a known one."""
    for sign, words in (
        ("unable to load provider legacy", "the legacy provider of this OpenSSL is not installed"),
        ("unsupported", "this OpenSSL does not offer it"),
        ("unknown cipher or digest", "this OpenSSL does not know it"),
        ("Unknown algorithm", "this OpenSSL does not know it"),
    ):
        if sign in err:
            return words
    return "openssl speed failed: " + one_line(err)[:300]
