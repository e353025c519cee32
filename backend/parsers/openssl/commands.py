"""Command lines of `openssl speed`: what each has measured, and where it runs.

A table belongs to a command only if all of its line is understood. A program before openssl may
emulate or limit it, an option may add work, a loop may change either: such a line has a problem,
and the tables below it are left out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from parsers.openssl.build_facts import prompt_host, stated_mask, typed_part
from parsers.openssl.cipher_names import canonical_cipher, kind_of
from parsers.ssh.commands.pipelines import (
    OTHER_MACHINES,
    changes_nothing,
    loop_variables,
    only_counts,
)

MOST_PROCESSES = 65_536
"""Of one run: no machine has so many threads."""
MOST_BYTES_A_BLOCK = 2**30
"""Of a block: `openssl speed` takes what fits an int, and allocates it."""
CALLS_LIMIT = 10
"""Commands of one line, or of one script, that are looked at."""
PARTS_LIMIT = 60
"""Commands of any kind on a line: one with more is not looked at."""
WORDS_LIMIT = 200

_CALL = re.compile(
    r"(?:^|[\s/\\(`\"'])(?P<name>openssl[\w.-]*|ssleay|\$\{?\w+\}?)(?P<quote>[\"']?)"
    r" +speed(?![\w-])"
)
_NESTED = re.compile(r"\$\([^()]*\)")
_SEPARATOR = re.compile(
    r"(?P<sign>;|\|\|?|&&|(?<![<>&])&(?![>&]))|(?<!\S)(?:do|then|else|\{|\()(?!\S)"
)
_KERNEL_ENGINE = re.compile(r"-engine[ =]\"?(devcrypto|cryptodev|af_?alg|caam|cesa|hifn|ubsec)")
_MASKS = re.compile(r"OPENSSL_\w*cap=|LC_|LANG")
_NO_SETTING = frozenset(("sudo", "time", "-decrypt", "-bytes", "-multi", "-seconds", "-mr"))
"""Words of a command that do not change what a figure means, or that the figure has itself."""
_WITH_VALUE = frozenset(
    re.findall(
        r"\S+",
        "-evp -seconds -bytes -multi -engine -provider -provider-path -propquery -config -rand"
        " -writerand -hmac -cmac -misalign -primes",
    )
)
_FLAGS = frozenset(("-decrypt", "-elapsed", "-mr", "-aead", "-mb", "-mlock", "-testmode"))
_PRINTED = frozenset(("-evp", "-seconds", "-bytes", "-multi"))
"""Options whose values the output repeats, or without which its figures are flagged."""
_STARTER = re.compile(
    r"(?:[\w/.~\\]*[/\\])?(?:sudo|doas|g?time|env|command|exec|nohup|nice|ionice|taskset|chrt|numactl"
    r"|stdbuf|timeout|caffeinate|winpty|while|if|!|(?:ba|z|da|k)?sh)|\w+=\S*|&"
)
"""A program that starts another one and changes nothing of what it does."""
_STARTER_ARGUMENT = re.compile(r"-\S*|[\d.,xa-fsm]+|[-+]?\d\S*")
_SSH_WITH_VALUE = "bcDEeFIiJLlmOopQRSWw"
_BEGINS = re.compile(r"\s*(?:[a-z_.~/\\($!][\w./~+${}-]*|\w+=\S*)(?=\s)")
"""A line without a prompt begins with a program as words of a command do."""
_SENTENCE_ENDS = (":", ".", ",", "?", "!")
_LOOP = re.compile(r"(?<!\w)for\s+(?P<name>\w+)\s+in\s+(?P<values>[^;]*)")
_REPEATS = re.compile(r"(?<![\w-])(?:for|while|until|foreach|xargs|parallel)(?!\S)")
_REDIRECTION = re.compile(r"\d?>>?\s*\S+|\d?>&\d|&>>?\s*\S+")


@dataclass(frozen=True)
class Command:
    """How `openssl speed` was called, as far as a figure's meaning depends on it."""

    evp: tuple[str, ...] = ()
    ciphers: frozenset[str] | None = None
    """What it measures; None where it does not say that, or not in full."""
    decrypt: bool = False
    multi: bool = False
    processes: int | None = None
    """Of `-multi`, where it is a number that can be."""
    elapsed: bool = False
    kernel_engine: bool = False
    """Whether the kernel does the work, of which CPU time says nothing."""
    block: int | None = None
    """Bytes of `-bytes`."""
    aead: bool = False
    """Whether it measures the block sizes of `-aead`."""
    mask: str | None = None
    """`OPENSSL_ia32cap=~0x...` if it stands before the command."""
    program: str = ""
    """What was started, with its path if one was typed."""
    host: str | None = None
    """The machine that ran it, if the text names it."""
    place: str = ""
    """The words that have it run elsewhere than on the machine that the prompt names."""
    engine: str = ""
    """The option that has another program part, or the kernel, do the work."""
    setting: tuple[str, ...] = ()
    """How it was started and told to measure: tries of one thing have this in common."""
    problem: bool = False
    """Whether something of it is not understood, and may change what is measured."""
    apart: bool = False
    """Whether something else on its line may have changed the machine before."""

    @property
    def meaning(self) -> "Command":
        """All of it but for what the output repeats."""
        return replace(self, evp=(), ciphers=None, block=None)


def read_commands(text: str) -> tuple[Command, ...]:
    """The `openssl speed` commands anywhere on a line."""
    if "speed" not in text:
        return ()
    typed = _typed(text)
    body = _NESTED.sub("$_", text if typed is None else typed)
    calls = list(islice(_CALL.finditer(body), CALLS_LIMIT))
    calls = [call for call in calls if call["name"][0] != "$" or typed is not None]
    if not calls:
        return ()
    line = _Line(body, calls, prompt_host(text), typed=typed is not None)
    return tuple(line.command(call) for call in calls)


def _typed(text: str) -> str | None:
    """What a line has a shell do; None for a sentence, which may only speak of a command."""
    typed = typed_part(text)
    if typed is None and _BEGINS.match(text) and not text.rstrip().endswith(_SENTENCE_ENDS):
        return text
    return typed


def is_command(text: str) -> bool:
    """Whether a line calls `openssl speed`, and its bars are pipes."""
    return " speed" in text and text.lstrip()[:1] != "|" and _CALL.search(text) is not None


def command_for(commands: Sequence[Command], printed: Iterable[str | None]) -> Command | None:
    """The one of several commands that measured the ciphers printed; None where it is unclear."""
    known = {name for name in printed if name}
    fitting = [one for one in commands if one.ciphers is None or known <= one.ciphers]
    fitting = fitting or [one for one in commands if one.ciphers and known & one.ciphers]
    if not fitting or len({one.meaning for one in fitting}) > 1 or fitting[0].problem:
        return None
    if len(fitting) == 1:
        return fitting[0]
    names = tuple(dict.fromkeys(name for one in fitting for name in one.evp))
    return replace(fitting[0], evp=names, ciphers=None, block=None)


class _Line:
    """One line with `openssl speed` in it."""

    def __init__(
        self, body: str, calls: Sequence[re.Match[str]], host: str | None, *, typed: bool
    ) -> None:
        self.body, self.calls, self.host, self.typed = body, calls, host, typed
        self.cuts = [0, *(cut.end() for cut in _SEPARATOR.finditer(body))]
        self.loops = loop_variables(body)
        self.cipher_loops = {
            found["name"]
            for found in _LOOP.finditer(body)
            if all(kind_of(one.strip("\"'")) != "unknown" for one in found["values"].split())
        }
        self.repeats = _REPEATS.search(body) is not None
        long = len(self.cuts) > PARTS_LIMIT
        unknown = typed and (long or not all(map(self._is_harmless, self._others())))
        self.problem = typed and (
            self._runs_several_at_once() or (unknown and self.repeats) or long
        )
        self.apart = unknown

    def command(self, call: re.Match[str]) -> Command:
        outer, before, program = self._before(call)
        rest = self._rest(call)
        words = rest.split("#")[0].split()[:WORDS_LIMIT]
        values = {word: after for word, after in pairwise(words) if word.startswith("-")}
        evp = tuple(
            after.strip("\"'`") for word, after in pairwise(words) if word in ("-evp", "--evp")
        )
        started = [word.strip("\"'`()") for word in outer.split() + before.split()][-12:]
        elsewhere = _elsewhere(started)
        setting = (*_setting([*started, program], words), *self._comment())
        exported = " ".join(self._exported(call.start()))
        return Command(
            evp=evp,
            ciphers=_ciphers(words),
            decrypt="-decrypt" in words,
            multi="-multi" in words,
            processes=_number(values.get("-multi"), MOST_PROCESSES),
            block=_number(values.get("-bytes"), MOST_BYTES_A_BLOCK),
            aead="-aead" in words,
            elapsed="-elapsed" in words,
            kernel_engine=_KERNEL_ENGINE.search(rest) is not None,
            mask=stated_mask(f"{outer} {before} ") or stated_mask(exported),
            program=program,
            host=self.host if elsewhere is None else elsewhere or None,
            place=" ".join(started) if elsewhere == "" else "",
            engine=_engine(words),
            setting=setting,
            problem=self.problem or (self.typed and self._is_unclear(started, program, words)),
            apart=self.apart,
        )

    def _comment(self) -> Iterator[str]:
        """What a command's comment says of this time: where it ran, or how."""
        _, sign, comment = self.body.rpartition(" # ")
        if sign and not only_counts(comment):
            yield f"# {comment.strip()}"

    def _before(self, call: re.Match[str]) -> tuple[str, str, str]:
        """What starts the shell, or the machine, that a command is quoted for; what starts the
        command there; the program with its path.
        """
        start = call.start("name")
        quote = _open_quote(self.body, start)
        cuts = [cut for cut in self.cuts if cut <= start]
        if quote is None:
            before, outer = self.body[cuts[-1] : start], ""
        else:
            outer = self.body[max(cut for cut in cuts if cut <= quote) : quote]
            before = self.body[max(cuts[-1], quote + 1) : start]
            if call["quote"]:  # "C:\Program Files\OpenSSL\bin\openssl.exe" speed
                return "", outer, before + call["name"]
        words = before.rsplit(None, 1)
        glued = words[-1] if words and not before[-1:].isspace() else ""
        return outer, before[: len(before) - len(glued)], (glued + call["name"]).strip("\"'`()")

    def _rest(self, call: re.Match[str]) -> str:
        """The arguments of a call."""
        ends = [one.start() for one in self.calls if one.start() > call.start()]
        separator = _SEPARATOR.search(self.body, call.end())
        end = min([*ends[:1], *([separator.start()] if separator else [])], default=None)
        return self.body[call.end() : end]

    def _exported(self, end: int) -> Iterator[str]:
        """The commands of a line, as far as there, that set variables for those behind them."""
        for start, after in pairwise([*(cut for cut in self.cuts if cut <= end), end]):
            if "export " in self.body[start:after]:
                yield self.body[start:after]

    def _others(self) -> Iterator[str]:
        """The other commands of a line, but for those that read what openssl prints."""
        ends = [*self.cuts[1:], len(self.body)]
        read = False
        for start, end in zip(self.cuts, ends, strict=True):
            sign = self.body[:start].rstrip()[-1:]
            piped = sign == "|" and not self.body[:start].rstrip().endswith("||")
            part = _SEPARATOR.sub("", self.body[start:end])
            ours = any(start <= call.start("name") < end for call in self.calls)
            read = ours or (read and piped) or part.split()[:1] == ["done"]
            if not read:
                yield part

    def _is_harmless(self, part: str) -> bool:
        part = part.strip(" \"'`){}")
        sets = re.match(r"(?:\w+=\S*|cd(?:\s.*)?|(?:export|unset)\s.*)$", part)
        if _LOOP.match(part) or (sets and not _uses(part, self.loops)):
            return True
        return changes_nothing(part)

    def _runs_several_at_once(self) -> bool:
        signs = [found["sign"] for found in _SEPARATOR.finditer(self.body.lstrip("& "))]
        return "&" in signs

    def _is_unclear(self, started: Sequence[str], program: str, words: Sequence[str]) -> bool:
        """Whether anything of a typed command is not known to leave alone what is measured."""
        if any("$" in word for word in started) or _uses(program, self.loops):
            return True
        if not _starts_plainly(_starters(started)):
            return True
        for before, word in pairwise(["", *words]):
            word = word.replace("--", "-", 1) if word.startswith("--") else word
            if word.startswith("-") and len(word) > 1 and before not in _WITH_VALUE:
                if word.strip("\"'`)") not in _WITH_VALUE | _FLAGS:
                    return True
            elif (
                "$" in word
                and before not in _PRINTED
                and word.strip("\"'${}()") not in self.cipher_loops
            ):
                return True
        return False


def _uses(word: str, variables: frozenset[str]) -> bool:
    return any(name in variables for name in re.findall(r"\$\{?(\w+)", word))


def _open_quote(body: str, end: int) -> int | None:
    """Where the quotation begins that a place of a line is in."""
    opened: int | None = None
    for found in re.finditer(r"(?<!\w)[\"']|[\"'](?!\w)", body[:end]):
        if opened is None:
            opened = found.start()
        elif body[opened] == found[0]:
            opened = None
    return opened


def _starts_plainly(words: Sequence[str]) -> bool:
    """Whether the words before a program only say how it is started."""
    expected = False
    for word in words:
        if not word or _STARTER.fullmatch(word):
            expected = True
        elif not (expected and _STARTER_ARGUMENT.fullmatch(word)):
            return False
    return True


def _ciphers(words: Sequence[str]) -> frozenset[str] | None:
    """The ciphers that a command names; None if it measures others, too."""
    names = set()
    for before, word in pairwise(["", *_REDIRECTION.sub(" ", " ".join(words)).split()]):
        if word.startswith("-") or (before in _WITH_VALUE and before != "-evp"):
            continue
        name = canonical_cipher(word.strip("\"'`)"))
        if name is None:
            return None
        names.add(name)
    return frozenset(names) or None


def _setting(before: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command that make its figures others than those of a plain one."""
    started = [word for word in before if word not in _NO_SETTING and not _MASKS.match(word)]
    told = [
        f"{word} {after}" if word in ("-engine", "-provider", "-propquery") else word
        for word, after in pairwise([*words, ""])
        if word.startswith("-") and word not in _NO_SETTING
    ]
    return (*started, *sorted(told))


def _engine(words: Sequence[str]) -> str:
    return next((f"engine {after}" for word, after in pairwise(words) if word == "-engine"), "")


def _elsewhere(words: Sequence[str]) -> str | None:
    """Where words before the program have it run: through ssh, in a container."""
    programs = [word.rsplit("/", 1)[-1] for word in words]
    if "ssh" in programs:
        hosts = _operands(words[programs.index("ssh") + 1 :])
        return hosts[0].rpartition("@")[2][:100] if hosts else ""
    return "" if OTHER_MACHINES.intersection(programs) else None


def _operands(words: Sequence[str]) -> list[str]:
    """The arguments of ssh without its options: a host, and what is started there."""
    return [
        word
        for before, word in pairwise(["", *words])
        if not (word.startswith("-") or (before[:1] == "-" and before[-1] in _SSH_WITH_VALUE))
    ]


def _starters(words: Sequence[str]) -> list[str]:
    """The words before a program without those that say on which machine it runs."""
    programs = [word.rsplit("/", 1)[-1] for word in words]
    at = next((at for at, one in enumerate(programs) if one in {"ssh", *OTHER_MACHINES}), None)
    if at is None:
        return list(words)
    there = _operands(words[at + 1 :])[1:] if programs[at] == "ssh" else []
    return [*words[:at], *there]


def _number(word: str | None, most: int) -> int | None:
    """A number of an option; None for one that no run was ever made with."""
    number = int(word) if word and re.fullmatch(r"[1-9]\d{0,8}", word) else None
    return number if number is not None and number <= most else None
