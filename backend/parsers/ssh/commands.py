"""Shell commands in a text: which cipher they ask for, of which host, for how many bytes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

from documents.types import Acceleration
from parsers.ssh.dd_lines import amount_of, amount_said
from parsers.ssh.names import CipherName, cipher_name, mac_name
from parsers.ssh.pipelines import (
    changes_nothing,
    goes_elsewhere,
    is_fed_plainly,
    is_job,
    is_known_setting,
    is_read_plainly,
    is_received_plainly,
    loop_variables,
    only_counts,
    rsync_options,
    runs_jobs,
    syncs_plainly,
    takes_value,
    varying,
)
from parsers.ssh.time_blocks import times_loop, times_other
from parsers.ssh.units import Megabyte

_PROMPT = re.compile(
    r"^\s{0,8}(?:\([\w.-]{1,40}\) )?(?!\S+@(?:openssh|ssh|lysator)\.\w)"
    r"(?:\[?(?P<user>[\w.-]{1,40})@(?P<host>[\w.-]{1,80})"
    r"(?:[ :][^\]$#%>]{0,80})?\]?\s?[$#%>] |[$%] |PS [A-Z]:[^>]{0,80}> |\++ "
    r"|[\w.-]{1,40}[:~]{1,2}\S{0,60}[$#] |(?:[\w.-]{1,40}:|\[)[~/]\S{0,60} # )"
)
_BARE_PROMPT = re.compile(
    r"^\s{0,8}(?:(?:[A-Za-z][\w.-]{0,39}|[~/]\S{0,60}\s?)(?P<sign>[$#%>])|(?P<root>#))\s+"
    r"(?=[a-z./~\\])"
)
"""A prompt with no more than a host or a folder; such a line may as well be prose or a title."""
_CONTINUES = re.compile(r"^\s{0,8}(?:for|foreach|while|repeat|do|then|pipe|quote)> ")
"""Of zsh, before the further lines of a command."""
_CALL = re.compile(
    r"(?<![\w.@=~:/-])(?:[\w.~-]*/[\w./~-]*)?(?P<program>ssh|scp|sftp|dbclient|tlssh)(?=\s+\S)"
)
_SHELL = re.compile(
    r"^\s*(?:alias\s+\w+=|wait\s*$|for\s+\w+\s+in\b|for\s*\(|foreach\s|while\b.*\bdo\b|do\b|done\b|echo\s|printf\s|export\s"
    r"|unset\s|time\s+\S"
    r"|sudo\s|\w+=(?:\S*[^:\s])?\s*$|#!/|if\s+\[|fi$|then$|else$|sleep\s|dd\s+\w+=|cat\s+/"
    r"|head\s+-c|awk\s|grep\s|pv\s|yes\s*\|"
    r"|openssl\s|\|(?!.*\|\s*$)|\}|\{|2?>)"
)
_CIPHERS_OPTION = re.compile(r"Ciphers?[= ](\S+)", re.I)
_MACS_OPTION = re.compile(r"MACs[= ](\S+)", re.I)
_COMPRESSION_OPTION = re.compile(r"Compression[= ]yes", re.I)
_MASK = re.compile(r"OPENSSL_(?P<cpu>ia32|arm)cap\s?[= ]\s?[\"'“”]?(?P<value>[^\s\"'“”;]{0,200})")
_MASK_NUMBER = re.compile(r"(~?)(0x[0-9a-f]{1,16}|0)(?![0-9a-z])", re.I)
_UNMASK = re.compile(r"\bunset\s+OPENSSL_(?:ia32|arm)cap")
_SETS_MASK = re.compile(
    r"\s*(?:(?:export|setenv|set -x|unset)\s+)?OPENSSL_(?:ia32|arm)cap(?:[= ]\S*)?\s*"
)
"""A command that sets or removes the mask for those that follow, and does nothing else."""
_DIVISION = re.compile(r"(?<![\w.])(\d{1,12})\s?/\s?\$")
_LOCAL = re.compile(
    r"(?:localhost(?:\.localdomain|[46])?|ip6-localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|0)$"
)
_WORD = re.compile(
    r"(?<=-o)[\"'][^\"']{1,200}[\"']|(?<=-o )[\"'][^\"']{1,200}[\"']"
    r"|[\"'“”‘’]?[^\s\"'“”‘’;|<>]+[\"'“”‘’]?|[|;<>]|[\"'“”‘’]"
)
_WORD_LIMIT = 60
_SIGNS = ("$", "#", "%", ">")
_WHO = re.compile(r"^\W*([\w.-]+(?:@[\w.-]+)?)")
_QUOTES = "\"'“”‘’\\"
_LISTS_CIPHERS = re.compile(r"(?<![$]\()(?<!\w)ssh\s+-Q\s?c")
_LOOP = re.compile(r"\$\(|\bfor\s|\bin\s+`")
_READS = re.compile(r"\bif=(?!/dev/stdin)|\bcat\s+/\w|\bhead\s+-c\s?\w+\s+/\w|\byes\b")
_WRITES = re.compile(r"\bof=(?!/dev/stdout)|(?<![\d&<])>\s?[\w/$]|\|\s*(?:nc|netcat|ncat|socat)\b")
_PIPED_TO = re.compile(r"\|\s*(?:sudo\s+|time\s+)?[a-z./]", re.I)
_LIMITED = re.compile(
    r"\bs(?:cp|ftp)\b[^|;&]*\s-l\s?\d|\s--bwlimit\b|\bpv\b[^|;&]*\s(?:-\w*L|--rate-limit)"
    r"|\bmbuffer\b[^|;&]*\s-\w*[rR]|(?<![\w./-])(?:cpulimit|trickle|throttle)\s"
)
"""A command with a bandwidth limit."""
_DD = re.compile(r"\bdd\b(?=[ \"'“”\\])(?!.*(?:status=no|(?:2|&)>\s?(?!&)\S))")
"""In a part of a pipeline: a dd whose summary is shown."""
_DISK = re.compile(
    r"/(?<=[\s=<>\"']/)(?<!2>/)(?<!2> /)(?<!-i /)"
    r"(?:dev/(?!zero|null|full|u?random|std|fd/|shm/|tty)|mnt/|media/|Volumes/)"
)
"""A disk or what is mounted, which may be slower than the cipher."""
_FED = re.compile(r"\|\s*(?:\w+=\S+\s+)*(?:time\s+|\\time\s+)?\S*$")
"""Before a call: its input is a pipe."""
_WORDING_LIMIT = 2_000
_NO_SETTING = re.compile(
    r"[\"'“”‘’\\]|\btime\b|\s-o\s?(?:Ciphers?|Compression)[= ]\S*|\s-[cC](?!\S)"
)
_PACKS = re.compile(r"\s-C(?!\S)")
_WAITS = re.compile(r"\s*(?:wait|fg)\b")
_CHANGES_SSH = re.compile(
    r"\s*(?:alias\s+(?:ssh|scp|sftp|rsync|dd|pv|cat)=|function\s+ssh\b|ssh\s?\(\))"
)
_CONFIGURATION = re.compile(r"\.ssh/\S*config|\bsshd?_config\b|/etc/ssh/")
_LOOKS = re.compile(
    r"\s*(?:sudo\s+)?(?:cat|less|more|e?grep|head|tail|ls|stat|file|diff|awk)\s[^>]*$"
)
_SEVERAL_FILES = re.compile(
    r"\s*(?:cat|type|more|head|tail)\s+(?:-\S+\s+)*[^\s|;<>&-]\S*\s+[^\s|;<>&-]"
)
_RSYNC_HOST = re.compile(r"\s(?:[\w.-]{1,40}@)?(\[[\da-f:]{2,40}\]|[\w.-]{1,200}):(?!//)", re.I)
_PROGRAM_FIRST = re.compile(r"(?:ssh|scp|sftp|dbclient)\s+-")
_SEPARATORS = re.compile(r"[;|&]+")
_PRINTS_VARIABLE = re.compile(
    r"(?:^|[;&({]|\b(?:do|then)\b)\s*(?:[12]?>&2\s*)?(?:echo|printf)\b[^;|&]*\$\{?[A-Za-z_]"
)
_PV = re.compile(r"(?<![\w./-])pv\b")
_LIBRARIES = re.compile(r"\b(?:LD|DYLD)_\w+=\S*|\b(?:OPENSSL_(?:CONF|MODULES)|PATH)=\S*")
_PROGRAMS = ("ssh", "scp", "sftp", "dbclient")
AES_BIT = 57
"""Of OPENSSL_ia32cap: the AES instructions."""


Problem = Literal["limited", "columns_unclear", "command_unclear"]


@dataclass(frozen=True)
class Command:
    """What one command line says of the transfers that follow it.

    `cipher` is None where it names none (`by_variable`: a loop, or `default`: ssh's own choice).
    `ssh` is false for a command that sends nothing through SSH.
    """

    ssh: bool
    cipher: CipherName | None = None
    by_variable: bool = False
    mac: str | None = None
    compression: bool = False
    target_kind: Literal["loopback", "remote"] | None = None
    """None where it does not say."""
    target_name: str | None = None
    far: str | None = None
    """The other machine by words above it."""
    amount: int | None = None
    says_amount: int | None = None
    """Bytes that a remark beside it or the heading above states."""
    both_ends: bool = False
    """Whether dd runs at both ends: two summaries for one transfer."""
    masks: Acceleration | None = None
    """Whether it turns hardware AES off, where it speaks of that."""
    typed: bool = False
    """Whether it stands behind a prompt: it was run, once."""
    traced: bool = False
    """Whether a shell with `set -x` printed it: each part of a pipeline by itself."""
    host: str | None = None
    lists_ciphers: bool = False
    apart: bool = False
    """Whether it moves bytes by itself, and none of them through SSH."""
    far_end: bool = False
    """Whether it does so on the far side of a connection."""
    dd_apart: bool = False
    """Whether dd on the same line makes a file: its summary is not the transfer's."""
    names: Literal["", "before", "after"] = ""
    """Where a script prints the cipher's name, as far as it says; "before" without ssh."""
    says_mb: Megabyte | None = None
    """What the printed "MB/s" must mean, from a division of a number by a time."""
    problem: Problem | None = None
    """Why no rate below it is a cipher's: somebody set how fast it may be, or it is several, or
    something in the command is not known.
    """
    job: bool = False
    """Whether it was left to run in the background."""
    waits: bool = False
    """Whether it waits for what runs there, or only speaks to it."""
    changes_ssh: bool = False
    """Whether it gives ssh another meaning from here on."""
    unclear: bool = False
    """Whether it names a cipher that is not known, or several."""
    wording: str = ""
    """All of it but the cipher: figures of commands that differ in it are no tries."""
    prompt: str = ""
    """User, machine and sign of the prompt that it was typed at."""
    keeps: bool = False
    """Whether it is known to change nothing: what is measured below it is as it was above."""
    sets_mask: bool = False
    """Whether it sets the mask for the commands that follow, or removes it."""
    times_loop: bool = False
    """Whether `time` measures all transfers of a loop at once."""
    times_other: bool = False
    """Whether `time` measures something else than this one transfer, or more."""
    pv_ends: bool = False
    """Whether pv shows the transfer at both ends."""
    login: bool = False
    """Whether it opens a shell on another machine."""
    program: str | None = None
    """What says which ssh it calls, or with which libraries: "" for the usual one."""
    elsewhere: bool = False
    """Whether it has something run on another machine, or shows what was measured anywhere."""
    several: bool = False
    """Whether it may show lists of several machines or settings, one below the other."""
    loops: frozenset[str] = frozenset()
    """Variables of loops that begin in it."""
    varies: frozenset[str] = frozenset()
    """Variables that may change more than the cipher."""


@dataclass
class _Arguments:
    ciphers: list[str] = field(default_factory=list)
    macs: list[str] = field(default_factory=list)
    compression: bool = False
    target: str | None = None
    end: int = 0
    """Where the options and the target end."""
    unknown: bool = False
    """Whether an option, or a second far host, may change what is measured."""


def prompt_host(text: str) -> str | None:
    """The machine that a shell's prompt names."""
    found = _PROMPT.match(text)
    return found["host"] if found else None


def command_of(text: str) -> Command | None:
    """What a line says as a command, None where it is none."""
    text = _CONTINUES.sub("", text) if "> " in text[:20] else text
    prompt = _PROMPT.match(text if text[-1:] not in _SIGNS else text + " ") or _bare_prompt(text)
    body = text[prompt.end() :] if prompt else text
    host = prompt["host"] if prompt and "host" in prompt.re.groupindex else None
    traced = prompt is not None and prompt[0].lstrip().startswith("+")
    changes_ssh = _CHANGES_SSH.match(body) is not None or _writes_configuration(body)
    call, is_several = (None, False) if changes_ssh else _transferring(body)
    if call is not None and (prompt or _looks_typed(body, call)):
        typed = prompt is not None and not traced
        command = _ssh_command(body, call, host, is_several=is_several, typed=typed)
        return replace(
            command,
            typed=prompt is not None,
            traced=traced,
            times_loop=times_loop(body),
            times_other=times_other(body[: call.start()], body[call.end() :]),
            pv_ends=len(_PV.findall(body)) > 1,
            wording=_wording(body, command.cipher),
            prompt=_prompt_of(prompt),
            program=_program_of(body),
        )
    lists_ciphers = _lists_ciphers(body)
    if prompt or lists_ciphers or _SHELL.match(body):
        keeps = changes_nothing(body)
        return Command(
            ssh=False,
            host=host,
            typed=prompt is not None,
            traced=traced,
            times_loop=times_loop(body),
            amount=amount_of(body),
            says_mb=megabyte_meant(body),
            by_variable="$" in body,
            lists_ciphers=lists_ciphers,
            apart=call is None and _moves_bytes(body),
            masks=acceleration_said(body),
            names="before" if _PRINTS_VARIABLE.search(body) else "",
            waits=_WAITS.match(body) is not None,
            changes_ssh=changes_ssh,
            wording=_wording(body, None) + " -C" * len(_PACKS.findall(body)),
            prompt=_prompt_of(prompt),
            keeps=keeps,
            sets_mask=_SETS_MASK.fullmatch(body) is not None,
            program=_program_of(body),
            elsewhere=prompt is not None and not keeps and goes_elsewhere(body),
            several=not keeps and _runs_several(body),
            loops=loop_variables(body),
            varies=frozenset() if keeps else varying(body),
        )
    return None


def _prompt_of(prompt: re.Match[str] | None) -> str:
    """A prompt without the folder."""
    if prompt is None:
        return ""
    shown = prompt[0].strip()
    return " ".join([*_WHO.findall(shown)[:2], shown[-1:]])


def _wording(body: str, cipher: CipherName | None) -> str:
    """A command without the cipher's name and what only measures or quotes."""
    call, sign, comment = body.partition(" #")
    # A comment may say where, or how, the command ran this time.
    body = call if only_counts(comment) else f"{call}{sign}{comment}"
    rest = body.replace(cipher.label, "") if cipher else body
    words = _NO_SETTING.sub(" ", rest[:_WORDING_LIMIT]).split()
    return " ".join(word for word in words if not cipher_name(word.strip(",;")))


def _writes_configuration(body: str) -> bool:
    """Whether a command may change what ssh reads before each connection."""
    if not ("config" in body or "/etc/ssh" in body) or not _CONFIGURATION.search(body):
        return False
    return next(_calls(body), None) is None and _LOOKS.match(body) is None


def _runs_several(body: str) -> bool:
    """Whether a command line runs commands that differ, or one for each value of a variable."""
    loops = loop_variables(body)
    if loops:
        return bool(loops & varying(body))
    commands = (
        {part.strip() for part in _SEPARATORS.split(body)} if ";" in body or "&&" in body else ()
    )
    active = [one for one in commands if not changes_nothing(one)]
    return len(active) > 1 or _SEVERAL_FILES.match(body) is not None


def _bare_prompt(text: str) -> re.Match[str] | None:
    """ "nas$ dd ...", "# dd ...": a prompt where a command follows that is no title.

    "# ssh -c aes128-ctr" may as well be a heading, and is read as one.
    """
    found = _BARE_PROMPT.match(text)
    if found is None:
        return None
    body = text[found.end() :]
    is_shell = _SHELL.match(body) is not None
    if found["root"]:
        return found if is_shell and next(_calls(body), None) is None else None
    return found if is_shell or found["sign"] == "$" or _PROGRAM_FIRST.match(body) else None


def _lists_ciphers(body: str) -> bool:
    """Whether ssh is asked for its ciphers, other than for a loop over them."""
    return "-Q" in body and bool(_LISTS_CIPHERS.search(body)) and not _LOOP.search(body)


def _moves_bytes(body: str) -> bool:
    """Whether a command without ssh says where its bytes go: into a file, to another program."""
    if not _READS.search(body):
        return False
    return bool(_WRITES.search(body) or _PIPED_TO.search(body))


def _calls(body: str) -> Iterator[re.Match[str]]:
    return _CALL.finditer(body) if any(name in body for name in _PROGRAMS) else iter(())


def _program_of(body: str) -> str | None:
    """The path of the first ssh and the libraries set before it; None where none is called."""
    call = next(_calls(body), None)
    if call is None:
        return None
    path = call[0].removesuffix(call["program"])
    return " ".join([path, *_LIBRARIES.findall(body[: call.start()])]).strip()


def _is_call(body: str, call: re.Match[str]) -> bool:
    rest = body[call.end() : call.end() + 12].lstrip()
    return not re.match(r"-[VQG]\b|[:=(]|cipher|speed|key", rest)


def _looks_typed(body: str, call: re.Match[str]) -> bool:
    """A command rather than a sentence about ssh: options, a pipe, or a shell's words."""
    rest = body[call.end() : call.end() + 60]
    return bool(
        re.match(r"\s+-[\w]", rest)
        or _FED.search(body[max(0, call.start() - 80) : call.start()])
        or _SHELL.match(body)
        or (not body[: call.start()].strip() and re.match(r"\s+\S+@\S+", rest))
    )


def _transferring(body: str) -> tuple[re.Match[str] | None, bool]:
    """The first call of ssh that moves bytes, else the first; whether another moves some, too."""
    calls = [one for one in _calls(body) if _is_call(body, one)]
    if len(calls) < 2:
        return next(iter(calls), None), False
    ends = [*(one.start() for one in calls[1:]), len(body)]
    moving = [one for one, end in zip(calls, ends, strict=True) if _moves_through(body, one, end)]
    return (moving or calls)[0], len(moving) > 1


def _moves_through(body: str, call: re.Match[str], end: int) -> bool:
    """Whether a call of ssh, as far as the next, has something to send or to fetch."""
    arguments = body[call.end() : end]
    is_copy = call["program"] in ("scp", "sftp")
    is_fed = _FED.search(body[max(0, call.start() - 80) : call.start()]) or "<" in arguments
    return bool(is_copy or is_fed or _READS.search(arguments))


def _ssh_command(
    body: str, call: re.Match[str], host: str | None, *, is_several: bool, typed: bool
) -> Command:
    program, arguments = call["program"], body[call.end() :]
    said = _arguments(arguments, program)
    far, after = _remote_command(arguments[said.end :])
    problem: Problem | None = None
    varies = varying(body)
    stays_there = _stays_there(far)
    if _LIMITED.search(body):
        problem = "limited"
    elif is_several or varies & loop_variables(body):
        problem = "columns_unclear"
    elif said.unknown or not (stays_there or _is_plain(body, call, far, after, typed=typed)):
        problem = "command_unclear"
    if problem or stays_there:
        variable = any("$" in name for name in said.ciphers)
        return Command(
            ssh=False, host=host, by_variable=variable, apart=True, far_end=True, problem=problem
        )
    names = [name for text in said.ciphers for name in text.split(",")]
    before = body[: call.start()]
    quote = body[call.start() - 1 : call.start()]  # rsync -e "ssh ..." SOURCE HOST:TARGET
    quoted = quote in ("'", '"')
    is_fed = "<" in arguments or _FED.search(before[-80:]) or program in ("scp", "sftp")
    login = not (is_fed or quoted or far.strip() or (said.ciphers and not typed))
    if login and not said.ciphers:
        return Command(ssh=False, host=host, login=True)
    target = _rsync_host(arguments, quote) if quoted else _host_of(said.target)
    remote = target is not None and not _LOCAL.fullmatch(target)
    here: Literal["loopback"] | None = "loopback" if target else None
    names_after = _PRINTS_VARIABLE.search(body, call.end()) is not None
    return Command(
        ssh=True,
        cipher=cipher_name(names[0]) if len(names) == 1 else None,
        by_variable=any("$" in name for name in names) or "for " in before,
        unclear=any("$" not in name for name in names),
        mac=mac_name(said.macs[0]) if len(said.macs) == 1 else None,
        compression=said.compression,
        target_kind="remote" if remote else here,
        # In a sentence any word may follow the cipher.
        target_name=target if remote and (typed or is_fed or quoted or far.strip()) else None,
        amount=amount_of(body),
        says_amount=amount_said(body.partition(" #")[2]),
        both_ends=len([one for one in body.split("|") if _DD.search(one)]) > 1,
        masks=acceleration_said(body),
        host=host,
        dd_apart=_makes_file(before),
        names="before" if _PRINTS_VARIABLE.search(before) else "after" if names_after else "",
        says_mb=megabyte_meant(body),
        job=is_job(body),
        login=login,
        varies=varies,
    )


def _is_plain(body: str, call: re.Match[str], far: str, after: str, *, typed: bool) -> bool:
    """Whether a command line does no more than send bytes through one connection."""
    before, quote = body[: call.start()], body[call.start() - 1 : call.start()]
    options = rsync_options(before)
    if runs_jobs(body) or _DISK.search(body):
        return False
    if options is not None:
        operands = body[call.end() :]
        if quote in ("'", '"'):
            operands = operands.partition(quote)[2]
        return syncs_plainly(options) and syncs_plainly(operands)
    if not is_fed_plainly(before, typed=typed):
        return False
    if call["program"] in ("scp", "sftp"):
        return True
    return (not far.strip() or is_received_plainly(far)) and is_read_plainly(after)


def _remote_command(after: str) -> tuple[str, str]:
    """The command that ssh runs on the other side (empty: none), and what follows it."""
    after = after.lstrip()
    quote, inside = after[:1], after[1:]
    if quote in ("'", '"'):
        far, _, rest = inside.partition(quote)
        return far, rest
    far = re.split(r"[|;<>&]", after, maxsplit=1)[0]
    return far, after[len(far) :]


def _stays_there(remote: str) -> bool:
    """Whether the remote command both makes the bytes and puts them away."""
    return bool(_READS.search(remote) and _WRITES.search(remote))


def _makes_file(before: str) -> bool:
    """Whether dd, before ssh on the line, writes what it reads into a file."""
    return any(
        re.search(r"\bdd\b", part) and "if=" in part and re.search(r"\bof=(?!/dev/stdout)", part)
        for part in _SEPARATORS.split(before)
    )


def _arguments(text: str, program: str) -> _Arguments:
    """The options and the first operand; words behind them are the remote command."""
    said = _Arguments()
    words = islice(_WORD.finditer(text), _WORD_LIMIT)
    for word in words:
        bare = word[0].strip(_QUOTES)
        if word[0] in ("|", ";", "<", ">"):
            break
        if bare.startswith("[-"):  # an option that was not always there
            continue
        if bare.startswith("-") and len(bare) > 1:
            said.end = word.end()
            _option(bare, words, said, program)
        elif program == "scp" and (":" not in bare or bare[1:3] == ":\\"):
            continue
        elif said.target is None and bare:
            said.target, said.end = bare, word.end()
        elif program == "scp":
            said.unknown |= _host_of(bare) != _host_of(said.target)
        elif bare:
            break
    return said


def _option(word: str, words: Iterator[re.Match[str]], said: _Arguments, program: str) -> None:
    """One word of options: flags, of which the last may take a value, glued or apart."""
    for index, flag in enumerate(word[1:], start=1):
        if flag == "C":
            said.compression = True
        takes = takes_value(program, flag)
        if takes is None:
            said.unknown = True
        if takes:
            value = word[index + 1 :]
            if not value and (found := next(words, None)):
                value, said.end = found[0], found.end()
            _value(flag, value.strip(_QUOTES), said)
            return


def _value(flag: str, value: str, said: _Arguments) -> None:
    if flag == "c":
        said.ciphers.append(value)
    elif flag == "m":
        said.macs.append(value)
    elif flag == "o":
        if found := _CIPHERS_OPTION.match(value):
            said.ciphers.append(found[1])
        elif found := _MACS_OPTION.match(value):
            said.macs.append(found[1])
        elif _COMPRESSION_OPTION.match(value):
            said.compression = True
        elif not is_known_setting(value):
            said.unknown = True


def _host_of(target: str | None) -> str | None:
    """The host of user@host or host:path; None for a variable."""
    if not target or "$" in target or target in ("&&", "&"):
        return None
    host = target.rsplit("@", 1)[-1].removeprefix("ssh://")
    if not host.startswith("[") and host.count(":") == 1:
        host = host.split(":")[0]
    return host if re.fullmatch(r"[\w.:\[\]-]{1,200}", host) else None


def _rsync_host(arguments: str, quote: str) -> str | None:
    """The host among the operands behind the quoted ssh command."""
    found = _RSYNC_HOST.search(arguments.partition(quote)[2])
    return found[1] if found else None


def acceleration_said(text: str) -> Acceleration | None:
    """Whether a mask on the line turns hardware AES off; None where it has no mask."""
    if "cap" not in text:
        return None
    found = None if _UNMASK.search(text) else _MASK.search(text)
    if found is None:
        return "default" if _UNMASK.search(text) else None
    number = _MASK_NUMBER.match(found["value"])
    if number is None:
        is_default = not found["value"] or found["value"][0] == ":"
        return "masked" if "$" in found["value"] else "default" if is_default else None
    mask = int(number[2], 16)
    if found["cpu"].lower() == "arm":
        return None if mask else "masked"
    return "masked" if bool(mask >> AES_BIT & 1) == (number[1] == "~") else "default"


_MEGABYTES: Mapping[float, Megabyte] = {1024.0**2: "MiB", 1000.0**2: "MB"}


def megabyte_meant(command: str) -> Megabyte | None:
    """From `dd bs=1M count=100 ... awk '{print 100/$2}'`: the division's unit, if it is clear."""
    amount, division = amount_of(command), _DIVISION.search(command)
    if amount is None or division is None or int(division[1]) == 0:
        return None
    ratio = amount / int(division[1])
    return _MEGABYTES.get(ratio)
