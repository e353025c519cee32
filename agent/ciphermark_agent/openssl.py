"""Tries of openssl: commands, mask of the AES hardware, output, rounds."""

import random
import re
from functools import partial
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ciphermark_agent.children import TIMED_OUT, run_tool
from ciphermark_agent.common import (
    BYTES_LIMIT,
    Json,
    TryFailed,
    explain,
    one_line,
    rate,
    real,
    whole,
)
from ciphermark_agent.conditions import ForeignWatch
from ciphermark_agent.tries import MOST_FAILURES, NOT_REACHED, Depth, Plan, Series, failure_of

MASK_X86 = "~0x200000200000000:~0x60000000000"  # AES-NI, PCLMULQDQ : VAES, VPCLMULQDQ; no more
MASKED_CIPHERS = ("aes-128-cbc", "aes-128-ctr", "aes-128-gcm")
MASK_MIN_EFFECT = 1.1
# Bits of OPENSSL_armcap (arm_arch.h): it replaces what the CPU says, so everything but AES
# has to be given again.
ARM_AES, ARM_PMULL = 4, 32
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
LATE_SECONDS = 5.0  # a try is ended so long after twice the announced time
RATE_LIMIT = 1e13  # bytes per second; no machine comes near
SECONDS_LIMIT = 1e7
SPEED_FAILURES = (
    ("unable to load provider legacy", "the legacy provider of this OpenSSL is not installed"),
    ("unsupported", "this OpenSSL does not offer it"),
    ("unknown cipher or digest", "this OpenSSL does not know it"),
    ("Unknown algorithm", "this OpenSSL does not know it"),
)


def mask_variable(machine: str, cpu_settings: Optional[str]) -> Optional[Tuple[str, str]]:
    """Return what turns off the AES hardware; `cpu_settings`: CPUINFO of `openssl version -a`."""
    if machine in ("x86_64", "amd64", "AMD64", "i686", "i586", "i386"):
        return "OPENSSL_ia32cap", MASK_X86
    known = re.search(r"OPENSSL_armcap=0x([0-9a-f]{1,16})\b", cpu_settings or "", re.I)
    if not machine.startswith(("aarch64", "arm")) or not known:
        return None
    return "OPENSSL_armcap", "0x%x" % (int(known.group(1), 16) & ~(ARM_AES | ARM_PMULL))


class SpeedAbilities(NamedTuple):
    seconds: bool  # -seconds and -bytes, since 1.1.1
    providers: bool  # -provider, since 3.0


def speed_abilities(openssl: str) -> SpeedAbilities:
    answer = run_tool([openssl, "speed", "-help"])
    if answer.status == TIMED_OUT:
        raise TryFailed(answer.err)
    text = answer.out + answer.err
    return SpeedAbilities("-seconds" in text and "-bytes" in text, "-provider " in text)


class Asked(NamedTuple):
    """One way to call `openssl speed`; without a block size, all of its sizes."""

    cipher: str
    acceleration: str = "default"
    operation: str = "encrypt"
    block_size: Optional[int] = OPENSSL_BLOCK

    def any_size(self) -> "Asked":
        return self._replace(block_size=None)

    def in_words(self) -> str:
        return (self.cipher + " " + self.beyond_cipher()).strip()

    def beyond_cipher(self) -> str:
        words = ["without AES hardware"] if self.acceleration == "masked" else []
        return " ".join(words + ["decrypt"] * (self.operation == "decrypt"))


def speed_command(openssl: str, asked: Asked, seconds: int, able: SpeedAbilities) -> List[str]:
    """Return the command; without -evp rc4 answers 0.00 and AES leaves its instructions unused."""
    command = [openssl, "speed", "-mr"]
    if able.seconds:
        command += ["-seconds", str(seconds)]
        command += ["-bytes", str(asked.block_size)] if asked.block_size else []
    command += ["-decrypt"] if asked.operation == "decrypt" else []
    if able.providers and asked.cipher in OPENSSL_LEGACY:
        command += ["-provider", "legacy", "-provider", "default"]
    return command + ["-evp", asked.cipher]


def parse_speed(text: str, cipher: str) -> Dict[int, Json]:
    """Return samples by block size from the +DT and +R lines of `openssl speed -mr`.

    None for another cipher's name, for a count of zero, for no time, or for what is no number.
    """
    samples = {}
    size = None
    for line in text.splitlines():
        # Old versions print the long name of the object.
        fields = re.sub(r":id-aes(\d+)-", r":aes-\1-", line.strip()).split(":")
        if fields[0] == "+DT" and len(fields) == 4:
            size = whole(fields[3]) if fields[1].lower() == cipher else None
        elif fields[0] == "+R" and len(fields) == 4 and fields[2].lower() == cipher:
            moved = (whole(fields[1], BYTES_LIMIT) or 0) * (size or 0)
            seconds = real(fields[3]) or 0.0
            if size and 0 < moved <= BYTES_LIMIT and 0.0 < seconds <= SECONDS_LIMIT:
                samples[size] = {"bytes": moved, "seconds": seconds}
            size = None
    return samples


def announced_seconds(asked: Asked, seconds: int, able: SpeedAbilities) -> float:
    if not able.seconds:
        return 5.0 * OPENSSL_OLD_SECONDS
    return 0.05 + seconds * (1 if asked.block_size else len(OPENSSL_SIZES))


class Hangs(TryFailed):
    """It will do so again: after two such tries none is made."""


def openssl_try(
    openssl: str,
    asked: Asked,
    seconds: int,
    able: SpeedAbilities,
    mask: Optional[Tuple[str, str]] = None,
) -> Dict[int, Json]:
    """Return samples by block size; seconds are CPU seconds, as openssl counts them."""
    watch = ForeignWatch()
    env = dict([mask]) if mask and asked.acceleration == "masked" else None
    command = speed_command(openssl, asked, seconds, able)
    answer = run_tool(command, 2 * announced_seconds(asked, seconds, able) + LATE_SECONDS, env)
    if answer.status == TIMED_OUT:
        raise Hangs("openssl speed hangs: " + answer.err)
    if answer.status != 0:
        failed = "openssl speed failed: " + one_line(answer.err)[:300]
        raise TryFailed(explain(answer.err, SPEED_FAILURES, failed))
    sizes = [asked.block_size] if asked.block_size else OPENSSL_SIZES
    samples = parse_speed(answer.err, asked.cipher)
    samples = {size: sample for size, sample in samples.items() if size in sizes}
    if not samples:
        raise TryFailed("openssl speed answered no rate for it")
    fastest = max(map(rate, samples.values()))
    if fastest > RATE_LIMIT:
        raise TryFailed("openssl speed answered an impossible rate: %.3g B/s" % fastest)
    foreign = watch.cores()
    for sample in samples.values():
        sample["foreign_cpu"] = foreign
    return samples


def openssl_series(asked: Asked) -> Series:
    return Series("openssl", timing="cpu", threads=1, **asked._asdict())


def openssl_rounds(
    depth: Depth, able: SpeedAbilities, ciphers: Sequence[str], masked: Sequence[str] = ()
) -> List[List[Asked]]:
    """Return the tries of each round; only the first has other block sizes and decryption."""
    block = OPENSSL_BLOCK if able.seconds else None
    often = [Asked(cipher, block_size=block) for cipher in ciphers]
    often += [Asked(cipher, "masked", block_size=block) for cipher in masked]
    once: List[Asked] = []
    if able.seconds:
        size = OPENSSL_OLD_BLOCK if depth.name == "quick" else None
        once += [Asked(cipher, block_size=size) for cipher in ciphers]
    if depth.name != "quick":
        size = None if depth.name == "thorough" else block
        once += [Asked(cipher, operation="decrypt", block_size=size) for cipher in ciphers]
    return [often + once] + [often] * (depth.tries - 1 if able.seconds else 0)


class OpensslPlan(Plan):
    def __init__(
        self,
        openssl: str,
        able: SpeedAbilities,
        rounds: Sequence[Sequence[Asked]],
        mask: Optional[Tuple[str, str]],
        *context: Any,
    ) -> None:
        super().__init__(*context)
        self.openssl, self.able, self.rounds, self.mask = openssl, able, rounds, mask
        self.hung: List[str] = []
        for number, order in enumerate(rounds):
            for asked in random.sample(order, len(order)):
                words = (asked.in_words(), number + 1, len(rounds))
                label = "openssl %s, round %d of %d" % words
                cost = announced_seconds(asked, self.depth.openssl_seconds, able)
                self.steps.append((label, cost, partial(self.turn, asked)))

    def turn(self, asked: Asked) -> None:
        if len(self.hung) >= MOST_FAILURES:
            self.reasons.setdefault((asked.any_size(), ""), self.hung[0])
        elif asked not in self.series or not self.series[asked].complete(self.depth.stable):
            self.attempt(asked.any_size(), "", partial(self.measure, asked))

    def measure(self, asked: Asked) -> None:
        seconds = self.depth.openssl_seconds
        try:
            samples = openssl_try(self.openssl, asked, seconds, self.able, self.mask)
        except Hangs as error:
            self.hung.append(str(error))
            raise
        for block_size, sample in samples.items():
            key = asked._replace(block_size=block_size)
            if key not in self.series:
                self.series[key] = openssl_series(key)
                if self.mask and asked.acceleration == "masked":
                    self.series[key].facts["mask"] = "=".join(self.mask)
            self.series[key].samples.append(sample)

    def show(self, lines: List[str]) -> None:
        lines += ["", "# openssl, the first of %d rounds" % len(self.rounds)]
        for asked in self.rounds[0]:
            failure_of(self.measure, asked)

    def results(self) -> List[Series]:
        """Return all series, less masked ones that tell nothing."""
        measured = {asked.any_size() for asked in self.series}
        for kind in [asked.any_size() for asked in self.rounds[0]]:
            if kind not in measured:
                reason = self.reasons.get((kind, ""), NOT_REACHED)
                self.skipped.add("openssl", kind.cipher, reason, kind.beyond_cipher())
        kept = []
        for asked in sorted(self.series, key=str):
            plain = self.series.get(asked._replace(acceleration="default"))
            fault = mask_fault(plain, self.series[asked]) if asked.acceleration == "masked" else ""
            if fault:
                self.skipped.add("openssl", asked.cipher, fault)
            else:
                kept.append(self.series[asked])
        return kept


def mask_fault(plain: Optional[Series], masked: Series) -> str:
    """Return why a masked series is no measurement of software AES; empty when it is one."""
    if plain is None:  # the effect of a mask is a ratio
        return "without the mask there is no figure to compare with"
    return "mask had no effect" if plain.median() < MASK_MIN_EFFECT * masked.median() else ""
