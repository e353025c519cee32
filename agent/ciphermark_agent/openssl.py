import random
import re
from functools import partial
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ciphermark_agent import common
from ciphermark_agent.children import TIMED_OUT, run_tool
from ciphermark_agent.common import BYTES_LIMIT, Json, TryFailed, one_line, rate, real, whole
from ciphermark_agent.conditions import ForeignWatch
from ciphermark_agent.tries import MOST_FAILURES, NOT_REACHED, Depth, Plan, Series, failure_of

MASK_X86 = "~0x200000200000000:~0x60000000000"  # AES-NI, PCLMULQDQ : VAES, VPCLMULQDQ
MASKED_CIPHERS = ("aes-128-cbc", "aes-128-ctr", "aes-128-gcm")
MASK_MIN_EFFECT = 1.1
# Bits of OPENSSL_armcap (arm_arch.h), which replaces the CPU's capabilities.
ARM_AES, ARM_PMULL = 4, 32
OPENSSL_BLOCK = 16384
OPENSSL_OLD_BLOCK = 8192  # largest before OpenSSL 1.1.0; one try allows comparison
OPENSSL_SIZES = (16, 64, 256, 1024, 8192, 16384)  # without -bytes
OPENSSL_OLD_SECONDS = 3  # per block size, without -seconds
OPENSSL_QUICK = tuple(
    "aes-128-cbc aes-128-ctr aes-128-gcm aes-256-gcm aes-256-ctr chacha20-poly1305 "
    "rc4 bf-cbc des-ede3-cbc".split()
)
OPENSSL_KNOWN = OPENSSL_QUICK + tuple(
    "aes-192-cbc aes-192-ctr aes-192-gcm aes-256-cbc camellia-128-cbc camellia-256-cbc "
    "aria-128-cbc aria-256-cbc sm4-cbc cast5-cbc".split()
)
OPENSSL_LEGACY = ("rc4", "bf-cbc", "cast5-cbc")  # in the legacy provider since OpenSSL 3
LATE_SECONDS = 5.0  # a try times out after twice its expected time plus this
RATE_LIMIT = 1e13  # bytes per second; a higher rate is an error
SECONDS_LIMIT = 1e7
HANGS = "openssl speed timed out"
SPEED_FAILURES = (
    ("unable to load provider legacy", "OpenSSL's legacy provider is not installed"),
    ("unsupported", "not supported by this OpenSSL"),
    ("unknown cipher or digest", "unknown to this OpenSSL"),
    ("Unknown algorithm", "unknown to this OpenSSL"),
)


def mask_variable(machine: str, cpu_settings: Optional[str]) -> Optional[Tuple[str, str]]:
    """Return (name, value) of the environment variable that makes openssl ignore AES hardware.

    `cpu_settings`: text after "CPUINFO:" in the output of `openssl version -a`. Return None if the
    variable is not known for this machine.
    """
    if machine in ("x86_64", "amd64", "AMD64", "i686", "i586", "i386"):
        return "OPENSSL_ia32cap", MASK_X86
    known = re.search(r"OPENSSL_armcap=0x([0-9a-f]{1,16})\b", cpu_settings or "", re.I)
    if not machine.startswith(("aarch64", "arm")) or not known:
        return None
    return "OPENSSL_armcap", "0x%x" % (int(known.group(1), 16) & ~(ARM_AES | ARM_PMULL))


class Openssl(NamedTuple):
    path: str
    seconds: bool = True  # supports -seconds and -bytes (since 1.1.1)
    providers: bool = True  # supports -provider (since 3.0)
    mask: Optional[Tuple[str, str]] = None


def inspect_openssl(path: str) -> Openssl:
    answer = run_tool([path, "speed", "-help"])
    if answer.status == TIMED_OUT:
        raise TryFailed(answer.err)
    text = answer.out + answer.err
    return Openssl(path, "-seconds" in text and "-bytes" in text, "-provider " in text)


class SpeedCall(NamedTuple):
    cipher: str
    acceleration: str = "default"
    operation: str = "encrypt"
    block_size: Optional[int] = OPENSSL_BLOCK  # None: all sizes

    def any_size(self) -> "SpeedCall":
        return self._replace(block_size=None)

    def in_words(self) -> str:
        return (self.cipher + " " + self.beyond_cipher()).strip()

    def beyond_cipher(self) -> str:
        words = ["with AES hardware disabled"] if self.acceleration == "masked" else []
        return " ".join(words + ["decrypt"] * (self.operation == "decrypt"))


def speed_command(openssl: Openssl, call: SpeedCall, seconds: int) -> List[str]:
    command = [openssl.path, "speed", "-mr"]
    if openssl.seconds:
        command += ["-seconds", str(seconds)]
        command += ["-bytes", str(call.block_size)] if call.block_size else []
    command += ["-decrypt"] if call.operation == "decrypt" else []
    if openssl.providers and call.cipher in OPENSSL_LEGACY:
        command += ["-provider", "legacy", "-provider", "default"]
    # Without -evp, rc4 reports 0.00 and AES does not use AES hardware.
    return command + ["-evp", call.cipher]


def parse_speed(text: str, cipher: str) -> Dict[int, Json]:
    """Return a sample per block size from the output of `openssl speed -mr` for the cipher."""
    samples = {}
    size = None
    for line in text.splitlines():
        fields = re.sub(r":id-aes(\d+)-", r":aes-\1-", line.strip()).split(":")  # before 1.1
        if fields[0] == "+DT" and len(fields) == 4:
            size = whole(fields[3]) if fields[1].lower() == cipher else None
        elif fields[0] == "+R" and len(fields) == 4 and fields[2].lower() == cipher:
            moved = (whole(fields[1], BYTES_LIMIT) or 0) * (size or 0)
            seconds = real(fields[3]) or 0.0
            if size and 0 < moved <= BYTES_LIMIT and 0.0 < seconds <= SECONDS_LIMIT:
                samples[size] = {"bytes": moved, "seconds": seconds}
            size = None
    return samples


def expected_seconds(openssl: Openssl, call: SpeedCall, seconds: int) -> float:
    if not openssl.seconds:
        return 5.0 * OPENSSL_OLD_SECONDS
    return 0.05 + seconds * (1 if call.block_size else len(OPENSSL_SIZES))


def openssl_try(openssl: Openssl, call: SpeedCall, seconds: int) -> Dict[int, Json]:
    watch = ForeignWatch()
    env = dict([openssl.mask]) if openssl.mask and call.acceleration == "masked" else None
    command = speed_command(openssl, call, seconds)
    answer = run_tool(command, 2 * expected_seconds(openssl, call, seconds) + LATE_SECONDS, env)
    if answer.status == TIMED_OUT:
        raise TryFailed("openssl speed " + answer.err)
    if answer.status != 0:
        failed = "openssl speed failed: " + one_line(answer.err)[:300]
        raise TryFailed(common.explain(answer.err, SPEED_FAILURES, failed))
    sizes = [call.block_size] if call.block_size else OPENSSL_SIZES
    samples = parse_speed(answer.err, call.cipher)
    samples = {size: sample for size, sample in samples.items() if size in sizes}
    if not samples:
        raise TryFailed("openssl speed reported no rate")
    fastest = max(map(rate, samples.values()))
    if fastest > RATE_LIMIT:
        raise TryFailed("openssl speed reported an impossible rate (%.3g B/s)" % fastest)
    foreign = watch.cores()
    for sample in samples.values():
        sample["foreign_cpu"] = foreign
    return samples


def openssl_rounds(
    openssl: Openssl, depth: Depth, ciphers: Sequence[str], masked: Sequence[str]
) -> List[List[SpeedCall]]:
    """Return a list of tries for each round.

    Every round encrypts with the standard block size. The first round also measures other block
    sizes and, unless `depth` is quick, decryption. If openssl does not support `-bytes`, a single
    round measures all block sizes.
    """
    block = OPENSSL_BLOCK if openssl.seconds else None
    often = [SpeedCall(cipher, block_size=block) for cipher in ciphers]
    often += [SpeedCall(cipher, "masked", block_size=block) for cipher in masked]
    once: List[SpeedCall] = []
    if openssl.seconds:
        size = OPENSSL_OLD_BLOCK if depth.name == "quick" else None
        once += [SpeedCall(cipher, block_size=size) for cipher in ciphers]
    if depth.name != "quick":
        size = None if depth.name == "thorough" else block
        once += [SpeedCall(cipher, operation="decrypt", block_size=size) for cipher in ciphers]
    return [often + once] + [often] * (depth.tries - 1 if openssl.seconds else 0)


class OpensslPlan(Plan):
    def __init__(
        self, openssl: Openssl, ciphers: Sequence[str], masked: Sequence[str], *context: Any
    ) -> None:
        super().__init__(*context)
        self.openssl = openssl
        self.rounds = rounds = openssl_rounds(openssl, self.depth, ciphers, masked)
        self.hung: List[str] = []
        for number, order in enumerate(rounds):
            for call in random.sample(order, len(order)):
                label = f"openssl {call.in_words()}, round {number + 1} of {len(rounds)}"
                cost = expected_seconds(openssl, call, self.depth.openssl_seconds)
                self.steps.append((label, cost, partial(self.turn, call)))

    def turn(self, call: SpeedCall) -> None:
        if len(self.hung) >= MOST_FAILURES:
            self.reasons.setdefault((call.any_size(), ""), self.hung[0])
        elif call not in self.series or not self.series[call].complete(self.depth.stable):
            reason = self.attempt(call.any_size(), "", partial(self.measure, call))
            self.hung += [reason] if reason and reason.startswith(HANGS) else []

    def measure(self, call: SpeedCall) -> None:
        samples = openssl_try(self.openssl, call, self.depth.openssl_seconds)
        for block_size, sample in samples.items():
            key = call._replace(block_size=block_size)
            if key not in self.series:
                self.series[key] = Series("openssl", timing="cpu", threads=1, **key._asdict())
                if self.openssl.mask and call.acceleration == "masked":
                    self.series[key].facts["mask"] = "=".join(self.openssl.mask)
            self.series[key].samples.append(sample)

    def show(self, lines: List[str]) -> None:
        lines += ["", "# openssl, round 1 of %d" % len(self.rounds)]
        for call in self.rounds[0]:
            failure_of(self.measure, call)

    def results(self) -> List[Series]:
        measured = {call.any_size() for call in self.series}
        for kind in [call.any_size() for call in self.rounds[0]]:
            if kind not in measured:
                reason = self.reasons.get((kind, ""), NOT_REACHED)
                self.skipped.add("openssl", kind.cipher, reason, kind.beyond_cipher())
        kept = []
        for call in sorted(self.series, key=str):
            plain = self.series.get(call._replace(acceleration="default"))
            fault = mask_fault(plain, self.series[call]) if call.acceleration == "masked" else ""
            if fault:
                self.skipped.add("openssl", call.cipher, fault)
            else:
                kept.append(self.series[call])
        return kept


def mask_fault(plain: Optional[Series], masked: Series) -> str:
    if plain is None:
        return "no result with AES hardware enabled to compare with"
    return "mask had no effect" if plain.median() < MASK_MIN_EFFECT * masked.median() else ""
