"""What hostile texts cost to read: CPU time a line, in steps of a loop on the same machine.

    python -m tests.parsers.parsing_cost

Prints `{"name": ..., "steps": ...}` for each text. A step reads a plain line as a parser would, by
a regular expression, texts and a dictionary: of a loop over numbers the same code took 1,570 steps
on one CPU and 1,900 on another. STEPS_A_LINE are 0.05 ms where a step takes 0.76 microseconds.
"""

import gc
import json
import random
import re
from collections.abc import Callable, Iterator
from time import process_time

from parsers.read_text import HowToRead, read_text

LINES = 49_000
"""As many as one upload holds, with a little air."""
STEPS_A_LINE = 66
LOOP = 50_000
PLAIN_LINE = re.compile(r"\s*([a-z0-9@.-]+)\s*[:=]?\s+([0-9.]+)\s*(MB/s)?")
CIPHERS = ("3des-cbc", "aes128-ctr", "aes256-ctr", "arcfour256", "blowfish-cbc")
WORDS = (
    *("the", "cipher", "aes128-ctr", "is", "3", "times", "as", "fast", "MB/s", "100", "my", "ssh"),
    *("machine", "dd", "count", "10", "real", "0m3.3s", "bits", "name", "1+0", "records", "->"),
    *("(", ")", "|", ":", "=", ",", "hmac-md5", "[ 498MiB/s]", "100%", "avg", "try", "-c"),
)

HOSTILE: dict[str, Callable[[int, random.Random], str]] = {
    "list": lambda i, dice: f"{dice.choice(CIPHERS)}: {i / 7:.4f} MB/s",
    "three tries a line": lambda i, dice: (
        f"{dice.choice(CIPHERS)}: {i}.1 MB/s {i}.2 MB/s {i}.3 MB/s"
    ),
    "commands": lambda i, dice: (
        f"$ dd if=/dev/zero bs=1M count={i} | ssh -c aes128-ctr h{i} 'cat >/x'"
    ),
    "prose": lambda i, dice: " ".join(dice.choices(WORDS, k=14)),
    "titles": lambda i, dice: f"speed, rate, MB/s, cipher, try 1, run 2, time, real, cpu, avg, {i}",
    "machines a row": lambda i, dice: (
        f"host{i}  {i}.1  {i}.2  {i}.3" if i else "MB/s  aes128-ctr  aes256-ctr  3des-cbc"
    ),
    "table": lambda i, dice: (
        f"| {dice.choice(CIPHERS)} | {i}.1 | {i}.25 | {i}.375 |"
        if i
        else "| cipher | hmac-md5 (MB/s) | hmac-sha1 | umac-64@openssh.com |"
    ),
    "headings": lambda i, dice: (
        f"# Xeon E5-{i} on Debian {i % 13}:" if i % 2 else f"aes128-ctr {i} MB/s"
    ),
    "pv": lambda i, dice: f"aes128-ctr: 1GiB 0:00:0{i % 10} [ {i}MiB/s] [===>  ] 50% ETA 0:00:01",
    "openssl": lambda i, dice: "aes-128-cbc " + " ".join(f"{i}.{j}7k" for j in range(6)),
    "marks": lambda i, dice: f"**<b>aes128-ctr</b>**\t&nbsp;`{i}` <i>MB/s</i> \x1b[1mx\x1b[0m",
}


def loop_seconds() -> float:
    """CPU seconds of the loop."""
    begun = process_time()
    rates: dict[str, list[float]] = {}
    for number in range(LOOP):
        line = f"aes{number % 7}-ctr: {number}.5 MB/s"
        found = PLAIN_LINE.match(line)
        if found and not any(character == "#" for character in found[1]):
            rates.setdefault(line.split()[0].strip(":").lower(), []).append(float(found[2]))
    return process_time() - begun


def steps_a_line(make: Callable[[int, random.Random], str]) -> float:
    """Of one text; the loop runs before and after it, so that a busy machine slows both."""
    dice = random.Random(1)
    text = "\n".join(make(number, dice) for number in range(LINES))
    before, begun = loop_seconds(), process_time()
    read_text(text, HowToRead(transferred=10**9))
    seconds = process_time() - begun
    return seconds / LINES / ((before + loop_seconds()) / 2 / LOOP)


def measured() -> Iterator[tuple[str, float]]:
    """Every hostile text and its steps a line: of nine, the first within the bar or the least."""
    gc.set_threshold(50_000, 20, 50)  # as in the processes that serve
    for name, make in HOSTILE.items():
        steps = steps_a_line(make)
        for _ in range(8):
            steps = steps if steps <= STEPS_A_LINE else min(steps, steps_a_line(make))
        yield name, steps


if __name__ == "__main__":
    for name, steps in measured():
        print(json.dumps({"name": name, "steps": round(steps)}), flush=True)  # noqa: T201
