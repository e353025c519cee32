"""openssl tries: commands, mask of the AES hardware, output, samples."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ciphermark_agent.children import ORPHAN_SECONDS, become_subreaper, reap_all, run_tool
from ciphermark_agent.common import BYTES_LIMIT, Json, TryFailed, one_line, rate, real, whole
from ciphermark_agent.conditions import ForeignWatch
from ciphermark_agent.ssh_connection import TRY_SECONDS

MASK_X86 = "~0x200000200000000:~0x60000000000"  # AES-NI, PCLMULQDQ : VAES, VPCLMULQDQ; no more
MASKED_CIPHERS = ("aes-128-cbc", "aes-128-ctr", "aes-128-gcm")
# Bits of OPENSSL_armcap (arm_arch.h): it replaces what the CPU says, so everything but AES
# has to be given again.
ARM_AES, ARM_PMULL = 4, 32


def mask_variable(machine: str, cpu_settings: Optional[str]) -> Optional[Tuple[str, str]]:
    """Name and value of the variable that turns off the AES hardware; None: none is known.

    `cpu_settings` is what `openssl version -a` says of the CPU (CPUINFO, since 3.0).
    """
    if machine in ("x86_64", "amd64", "AMD64", "i686", "i586", "i386"):
        return "OPENSSL_ia32cap", MASK_X86
    known = re.search(r"OPENSSL_armcap=0x([0-9a-f]{1,16})\b", cpu_settings or "", re.I)
    if not machine.startswith(("aarch64", "arm")) or not known:
        return None
    return "OPENSSL_armcap", "0x%x" % (int(known.group(1), 16) & ~(ARM_AES | ARM_PMULL))


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
RATE_LIMIT = 1e13  # bytes per second; no machine comes near, even with all its cores
SECONDS_LIMIT = 1e7


class SpeedAbilities(NamedTuple):
    """What `openssl speed` of this version can be told."""

    seconds: bool  # -seconds and -bytes, since 1.1.1
    providers: bool  # -provider, since 3.0


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


def speed_command(openssl: str, asked: Asked, seconds: int, able: SpeedAbilities) -> List[str]:
    """`-evp` always: without it rc4 answers 0.00 and AES leaves its instructions unused."""
    command = [openssl, "speed", "-mr"]
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

    None for another cipher's name, for a count of zero, for no time, or for what is no number.
    """
    samples = {}
    size = None
    for line in text.splitlines():
        fields = line.strip().split(":")
        if fields[0] == "+DT" and len(fields) == 4:
            size = whole(fields[3]) if same_cipher(fields[1], cipher) else None
        elif fields[0] == "+R" and len(fields) == 4 and same_cipher(fields[2], cipher):
            moved = (whole(fields[1], BYTES_LIMIT) or 0) * (size or 0)
            seconds = real(fields[3]) or 0.0
            if size and 0 < moved <= BYTES_LIMIT and 0.0 < seconds <= SECONDS_LIMIT:
                samples[size] = {"bytes": moved, "seconds": seconds}
            size = None
    return samples


def parse_multi(out: str, cipher: str, seconds: int) -> Dict[int, Json]:
    """The same of `openssl speed -multi -mr`: the rates of its processes, added up.

    It tells only rates: bytes are the rate times the seconds that were asked for.
    """
    sizes = re.search(r"^Got: \+H:([\d:]+)", out, re.M)
    rows = re.findall(r"^Got: \+F:\d+:([^:\n]+):([\d.:]+) ", out, re.M)
    columns = zip(*(row.split(":") for name, row in rows if same_cipher(name, cipher)))
    samples = {}
    for word, rates in zip(sizes.group(1).split(":") if sizes else [], columns):
        size, moved = whole(word), sum(real(one) or 0.0 for one in rates) * seconds
        if size and 1 <= moved <= BYTES_LIMIT:
            facts = {"bytes": int(round(moved)), "seconds": float(seconds)}
            samples[size] = {**facts, "derived_from": "rate"}
    return samples


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
    if answer.status != 0:
        raise TryFailed(explain_openssl(answer.err))
    if asked.threads > 1:
        asked_seconds = seconds if able.seconds else OPENSSL_OLD_SECONDS
        found = parse_multi(answer.out, asked.cipher, asked_seconds)
    else:
        found = parse_speed(answer.err, asked.cipher)
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
