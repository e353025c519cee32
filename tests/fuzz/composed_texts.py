"""Texts of ssh measurements as people paste them, each with the figures that it holds."""

import random
from dataclasses import dataclass, field

CIPHERS = (
    "3des-cbc",
    "aes128-cbc",
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
    "arcfour256",
    "blowfish-cbc",
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
)
AMOUNT = 1 << 30
"""Bytes of every transfer whose text says so."""
SIZES = "(1.1 GB, 1.0 GiB)"

NOISE = (
    "",
    "",
    "I ran this on my old box last night, nothing else was running.",
    "Ich habe das gestern auf dem alten Server gemessen, die Last war gering.",
    "Voici ce que j'obtiens chez moi, 2 coeurs et 8 Go de RAM.",
    "以下是我的测试结果，内核 6.1。",
    "Вот что получилось у меня на 4 ядрах:",
    "Nov 21 06:48:10 nas sshd[4123]: Accepted publickey for bob from 192.168.1.17 port 51234 ssh2",
    "2024-05-17T12:00:01.123Z INFO backup finished in 312 s (exit 0)",
    "[   12.345678] r8169 0000:02:00.0 eth0: link up 1000 Mbps",
    "load average: 0.03, 0.08, 0.12",
    "Warning: Permanently added '192.168.1.17' (ED25519) to the list of known hosts.",
    "bob@192.168.1.17's password:",
    "model name      : Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz",
    "Linux nas 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 x86_64 GNU/Linux",
    "OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15 3 Sep 2024",
    "EDIT: forgot to say that this is with 2 x 10 GbE, MTU 9000",
    "----8<----",
    "+1, same here <3",
    "top - 12:00:01 up 3 days,  2:01,  1 user",
    "https://example.org/ssh-speed?c=aes&n=128#top",
)

SHELL = ("bob@nas:~$ ", "$ ", "root@nas:~# ", "[bob@nas ~]$ ", "% ")


@dataclass(frozen=True)
class Truth:
    """A figure that stands in a line: its cipher and bytes per second."""

    line: int
    cipher: str
    speed: float


@dataclass
class Composer:
    """Writes a text line by line and remembers where which figure stands."""

    dice: random.Random
    lines: list[str] = field(default_factory=list)
    truths: list[Truth] = field(default_factory=list)

    def write(self, *lines: str) -> None:
        """Lines without a figure."""
        self.lines += lines

    def write_figure(self, line: str, cipher: str, speed: float) -> None:
        """A line with a figure."""
        self.lines.append(line)
        self.truths.append(Truth(len(self.lines), cipher, speed))

    def seconds(self) -> float:
        """Of a transfer of AMOUNT."""
        return round(self.dice.uniform(1.5, 90), 3)

    def noise(self) -> None:
        """Lines about something else, before or after a part, never within."""
        self.write(*self.dice.choices(NOISE, k=self.dice.randint(0, 3)))

    def mark(self, number: str) -> str:
        """With a decimal comma, in texts that have those."""
        return number


def composed(dice: random.Random) -> Composer:
    """A text of one kind of measurement, noise around it."""
    composer = Composer(dice)
    composer.noise()
    dice.choice((_loop, _loop, _listed, _machines, _copies, _logs))(composer)
    composer.noise()
    return composer


def _loop(composer: Composer) -> None:
    """A loop over ciphers: headings or commands, some tries each, one way to measure."""
    dice = composer.dice
    heading, measure = dice.choice((_heading, _command)), dice.choice((_dd, _time, _pv))
    prompt = dice.choice(SHELL)
    if heading is _heading:
        composer.write(
            f"{prompt}for c in {' '.join(CIPHERS)}; do echo $c; "
            "dd if=/dev/zero bs=1M count=1024 | ssh -c $c localhost 'cat > /dev/null'; done"
        )
    style = dice.randrange(6)
    for cipher in dice.sample(CIPHERS, dice.randint(1, 6)):
        for attempt in range(dice.choice((1, 1, 3))):
            heading(composer, cipher, attempt, prompt, style)
            measure(composer, cipher, style)
            if dice.random() < 0.3:
                composer.write("")


def _heading(composer: Composer, cipher: str, attempt: int, prompt: str, style: int) -> None:
    shapes = (f"Cipher: {cipher} (try {attempt + 1})", cipher, f"== {cipher} ==", f"{cipher}:")
    composer.write(shapes[style % len(shapes)])


def _command(composer: Composer, cipher: str, attempt: int, prompt: str, style: int) -> None:
    mac = " -m hmac-sha2-256" if style % 2 else ""
    composer.write(
        f"{prompt}{'time ' if style > 3 else ''}dd if=/dev/zero bs=1M count=1024 | "
        f"ssh -c {cipher}{mac} localhost 'cat > /dev/null'"
    )


def _dd(composer: Composer, cipher: str, style: int) -> None:
    seconds = composer.seconds()
    rate = f"{AMOUNT / seconds / 1e6:.0f} MB/s"
    words = (
        f"{AMOUNT} bytes {SIZES} copied, {seconds} s, {rate}",
        f"{AMOUNT} bytes (1.1 GB) copied, {seconds} seconds, {rate}",
        f"{AMOUNT} Bytes (1,1 GB, 1,0 GiB) kopiert, {str(seconds).replace('.', ',')} s, {rate}",
        f"{AMOUNT} octets (1,1 GB, 1,0 GiB) copiés, {str(seconds).replace('.', ',')} s, {rate}",
        f"{AMOUNT} bytes transferred in {seconds} secs ({AMOUNT / seconds:.0f} bytes/sec)",
        f"{AMOUNT} 字节 {SIZES} 已复制，{seconds} s，{rate}",
    )
    composer.write("1024+0 records in", "1024+0 records out")
    composer.write_figure(words[style], cipher, AMOUNT / seconds)


def _time(composer: Composer, cipher: str, style: int) -> None:
    seconds = composer.seconds()
    minutes, rest = divmod(seconds, 60)
    first, *others = (
        (f"real\t{int(minutes)}m{rest:.3f}s", "user\t0m1.203s", "sys\t0m0.502s"),
        (f"real {seconds:.2f}", "user 1.20", "sys 0.50"),
        (f"1.20user 0.50system {int(minutes)}:{rest:05.2f}elapsed 14%CPU",),
    )[style % 3]
    shown = float(f"{seconds:.3f}" if style % 3 == 0 else f"{seconds:.2f}")
    composer.write_figure(first, cipher, AMOUNT / shown)
    composer.write(*others)


def _pv(composer: Composer, cipher: str, style: int) -> None:
    rate = round(composer.dice.uniform(10, 900), 1)
    early = f" 512MiB 0:00:01 [{rate + 3:.1f}MiB/s] [====>     ] 50% ETA 0:00:01"
    last = (
        f"1.00GiB 0:00:02 [{rate:.1f}MiB/s]",
        f"1.00GiB 0:00:02 [{rate:.1f}MiB/s] [=========>] 100%            ",
        f"1.00GiB 0:00:02 [{rate + 1:.1f}MiB/s] [{rate:.1f}MiB/s] [    <=>    ]",
    )[style % 3]
    if style > 3:
        composer.write(early)
    line = f"{early}\r{last}" if style == 3 else last
    composer.write_figure(line, cipher, float(f"{rate:.1f}") * 2**20)


def _listed(composer: Composer) -> None:
    """A list of rates, in one layout and unit."""
    dice = composer.dice
    layout = dice.choice(
        ("{}: {} {}", "{}\t{}\t{}", "| {} | {} {} |", "* `{}` {} {}", "{} => {}{}", "  {}   {} {}")
    )
    unit, factor = dice.choice((("MB/s", 1e6), ("MiB/s", 2**20), ("Mbit/s", 125e3), ("GB/s", 1e9)))
    comma = dice.random() < 0.3
    for cipher in dice.sample(CIPHERS, dice.randint(1, 8)):
        if dice.random() < 0.1:
            composer.write(
                layout.format(cipher, f"{dice.randint(10, 90)}-{dice.randint(91, 99)}", unit)
            )
            continue
        number = f"{dice.uniform(0.5, 9):.2f}" if unit == "GB/s" else f"{dice.uniform(9, 999):.2f}"
        printed = number.replace(".", ",") if comma else number
        composer.write_figure(layout.format(cipher, printed, unit), cipher, float(number) * factor)


def _machines(composer: Composer) -> None:
    """A table with machines as rows and ciphers as columns, or the reverse."""
    dice = composer.dice
    ciphers = dice.sample(CIPHERS, dice.randint(2, 5))
    hosts = dice.sample(("nas", "desktop", "Pi 4", "old server", "Xeon E5-2620", "vm-17"), 3)
    across, down = (ciphers, hosts) if dice.random() < 0.5 else (hosts, ciphers)
    bars = dice.random() < 0.6
    corner = "machine" if across is ciphers else "cipher"
    composer.write("Throughput in MB/s:")
    row = "| {} |" if bars else "{}"
    gap = " | " if bars else "   "
    composer.write(row.format(gap.join([corner, *across])))
    if bars:
        composer.write("|---" * (len(across) + 1) + "|")
    for name in down:
        cells = [f"{dice.uniform(9, 999):.1f}" for _ in across]
        composer.write_figure(row.format(gap.join([name, *cells])), "", 0)
        composer.truths.pop()
        for title, cell in zip(across, cells, strict=True):
            cipher = title if across is ciphers else name
            composer.truths.append(Truth(len(composer.lines), cipher, float(cell) * 1e6))


def _copies(composer: Composer) -> None:
    """scp, sftp and rsync, each with its own last word."""
    dice = composer.dice
    for cipher in dice.sample(CIPHERS, dice.randint(1, 4)):
        rate = round(dice.uniform(10, 400), 1)
        prompt = dice.choice(SHELL)
        if dice.random() < 0.5:
            composer.write(f"{prompt}scp -c {cipher} big.iso nas:/tmp/")
            line = f"big.iso                  100% 1024MB {rate:5.1f}MB/s   00:09    "
        else:
            composer.write(f"{prompt}rsync -a --progress -e 'ssh -c {cipher}' big.iso nas:/tmp/")
            composer.write("sending incremental file list", "big.iso")
            line = f"  1,073,741,824 100%  {rate:.1f}MB/s    0:00:09 (xfr#1, to-chk=0/1)"
        composer.write_figure(line, cipher, rate * 2**20)
        if "xfr#" in line:
            composer.write(
                "", "sent 1,074,004,068 bytes  received 35 bytes  107,400,410.30 bytes/sec"
            )


def _logs(composer: Composer) -> None:
    """Logs of `ssh -v`."""
    dice = composer.dice
    for cipher in dice.sample(CIPHERS, dice.randint(1, 3)):
        rate = round(dice.uniform(1e7, 9e8), 1)
        composer.write("OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15 3 Sep 2024")
        composer.write("debug1: Connecting to nas [192.168.1.17] port 22.")
        for way in ("server->client", "client->server"):
            composer.write(f"debug1: kex: {way} cipher: {cipher} MAC: <implicit> compression: none")
        composer.write(f"Transferred: sent {AMOUNT}, received 122840 bytes, in 9.8 seconds")
        composer.write_figure(f"Bytes per second: sent {rate:.1f}, received 12534.7", cipher, rate)
