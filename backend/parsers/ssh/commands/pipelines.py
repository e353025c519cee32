"""Whether a command line only sends bytes through one connection of ssh.

Everything in it must be known to change nothing: a program in the pipe may compress, limit or
double what is sent, an option may add a connection or another cipher.
"""

import re

_SHELL_WORDS = r"[\"'`(){}!\s]*"
_VALUE = r"(?:\"[^\"]*\"|'[^']*'|[^\s\"']+)"
_STARTERS = (
    rf"(?:{_SHELL_WORDS}(?:\w+=(?:{_VALUE})?|\d?[<>]\s?{_VALUE}|env|command|exec|nohup"
    rf"|(?:[\w/]*/|\\)?g?time(?:\s+-(?:[pvlhq]+|[fo]\s?{_VALUE})(?=\s))*"
    rf"|sudo(?:\s+-(?:[EHSn]+|u\s?\w+)(?=\s))*|nice(?:\s+-n?\s?-?\d+)?|ionice(?:\s+-[cn]\s?\d)*"
    rf"|taskset(?:\s+-\w*c\w*)?\s+[\da-fx,-]+|sshpass\s+(?:-e|-[pf]\s?{_VALUE})"
    r"|(?:[\w/]*/)?(?:ba|z|da|k)?sh\s+-\w*c)(?:\s+|(?<=c)(?=[\"'])))*"
)
"""What starts a program and changes nothing of what it does."""
_PV = (
    r"pv(?![\w.-])(?!.*\s-(?!(?:[petrabTfnqcWSkIl08]*(?:[sNDiHwFBA]\S*)?|-(?:progress|timer|eta"
    r"|rate|average-rate|bytes|force|numeric|quiet|cursor|wait|size|name|interval|buffer-size"
    r"|stop-at-size)(?:=\S+)?)(?=[\s\"')]|$)))"
)
"""pv with no option but those that change what it shows, and how much it reads at once."""
_SOURCES = (
    rf"(?:[\w./~-]*/)?(?:{_PV}|(?:dd|cat|head|tail|yes|buffer|tee|tr|wc)(?![\w.-])"
    r"|mbuffer(?!.*\s-\w*[rR])|openssl\s+rand\b|tar\s+-?c[vfpP]*\s(?!.*\s(?:-[zjJaIZ]|--[a-z]*z)))"
)
"""What makes bytes or hands them on as they are."""
_FILTERS = (
    r"(?:[\w./~-]*/)?(?:[efz]?grep|[gmn]?awk|sed|cut|sort|uniq|column|tr|bc|echo|printf|perl"
    r"|python\d?|xargs|while|read|ts|paste|md5sum|sha\d{1,3}sum|:|sync|set)(?![\w.-])"
)
"""What reads the messages of a transfer, or stands beside it."""
READS = re.compile(r"\bif=(?!/dev/stdin)|\bcat\s+/\w|\bhead\s+-c\s?\w+\s+/\w|\byes\b")
"""A command that makes bytes or reads them from a file."""
WRITES = re.compile(r"\bof=(?!/dev/stdout)|(?<![\d&<])>\s?[\w/$]|\|\s*(?:nc|netcat|ncat|socat)\b")
"""A command that puts bytes into a file or hands them to the network."""
SEPARATORS = re.compile(r"[;|&]+")
_SOURCE = re.compile(_STARTERS + _SHELL_WORDS + _SOURCES)
_STARTED = re.compile(_STARTERS + _SHELL_WORDS)
_SINK = re.compile(_STARTERS + _SHELL_WORDS + rf"(?:{_SOURCES}|{_FILTERS})")
_NAMES_SOURCE = re.compile(r"(?:^|.*[\s\"'(])" + _SOURCES)
_BEFORE_PIPELINE = re.compile(r".*(?:;|&&|\|\||[$<>]?\(|`|\{\s|\b(?:do|then|else)\s)", re.S)
_PARTS = re.compile(r"\|&?")
_FAR_PARTS = re.compile(r"[|;]|&&")
_AFTER_PIPELINE = re.compile(r";|&|\|\||\bdone\b")
_RSYNC = re.compile(r"(?:^|.*[\s/])rsync\s+(?P<options>.*?)(?:-\w*e|--rsh)[= ]?\s*$", re.S)
_RSYNC_OPTION = re.compile(
    r"-(?:[avPhrtWqHAXlpogDuixS46]*e?|-(?:progress|stats|archive|verbose|human-readable|inplace"
    r"|whole-file|no-[a-z-]+|partial|info=\S+|ignore-times|times|recursive|links|perms|owner|group"
    r"|delete[a-z-]*|numeric-ids|rsh))"
)
_JOBS = re.compile(r"(?<![&>\d<|\\])&(?![&>\d])|\bparallel\s|\bxargs\b.*\s-\w*P|\bcoproc\b|[<>]\(")
_JOB = re.compile(r"(?<![&|>])&\s*$")
_LOOP = re.compile(r"\b(?:done|do)\b|\bparallel\s|\bxargs\b")

_IDLE = re.compile(
    r"(?:(?:sudo|time|while|!)\s+)*(?:#.*|:|true|done|do|fi|end|then|else|if\s+\[.*|for\s+\w+\s+in\b.*"
    r"|(?:echo|printf|sleep|wait|fg|sync|clear|pwd|history|uptime|free|df|du|ls|ps|top|w|who|read"
    r"|man|file|stat|which|uname|lscpu|lsblk|lsb_release|nproc|arch|id|whoami|dmesg|sensors)"
    r"(?:\s.*)?|date(?:\s+\+.*)?|hostname(?:\s+-\w+)?|openssl\s+version.*|ssh\s+-[QV].*"
    r"|(?:cat|head|tail|e?grep|awk)\s(?:.*\s)?/(?:proc|sys|etc)/\S+"
    r"|(?:rm|mkdir|mktemp)(?:\s+(?:-\w+|(?:/tmp/|/dev/shm/|/var/tmp/)?[\w-][\w.*-]*))*"
    r"|dd(?:\s+(?:if=/dev/(?:zero|u?random)|(?:bs|count|iflag|status)=\S+))*|yes|cat|pv"
    r"|head\s+-c\s?\w+\s+/dev/\w+|(?:e?grep|awk|tail|head)\s.*copied.*)?"
)
"""A command that only looks, waits, prints or tidies up."""
OTHER_MACHINES = frozenset(
    re.findall(
        r"[\w-]+",
        "docker podman kubectl lxc lxc-attach incus pct chroot adb vagrant nsenter machinectl"
        " systemd-nspawn wsl proot jexec virsh telnet ssh mosh rsh minicom picocom",
    )
)
"""Programs that run another one in another system: a container has libraries of its own."""
_SHOWS_FILES = re.compile(
    r"(?:sudo\s+)?(?:cat|type|more|less|bat|head|tail|grep|paste|diff|gc|Get-Content)\s(?P<files>.*)"
)
_SEVERAL_FILES = re.compile(
    r"\s*(?:cat|type|more|head|tail)\s+(?:-\S+\s+)*[^\s|;<>&-]\S*\s+[^\s|;<>&-]"
)
_PRINTS_VARIABLE = re.compile(
    r"(?:^|[;&({]|\b(?:do|then)\b)\s*(?:[12]?>&2\s*)?(?:echo|printf)\b[^;|&]*\$\{?[A-Za-z_]"
)
_COUNTS = re.compile(r"\W*(?:(?:run|try|test|pass|round|attempt)\W{0,2})?(?:\d{1,3}\W*)?", re.I)
_QUIET = re.compile(r"\s*(?:[\d&]?>\s?(?:/dev/null|&\d)|<\s?/dev/(?:null|zero))")
_COMMANDS = re.compile(r"&&|\|\||[;|&(){}]|\b(?:do|then|else)\b")
_LOOPS = re.compile(r"\b(?:for\s+(\w+)\s+in|foreach\s+(\w+)|while\s+read\s+(?:-r\s+)?(\w+))\b")
_NAMES_ALONE = re.compile(
    r"\b(?:echo|printf)\b[^;|&]*|(?:of=|>\s?|:|tee\s+|-N\s?)[^\s;|&]+|\|\s*(?:g?awk|sed|e?grep)\b[^|]*"
)
"""Where a variable is printed, or is part of the name of a new file or of a display."""
_CIPHER_VARIABLE = re.compile(r"(?:-\w*c|Ciphers?[= ])\s?[\"']?\$\{?(\w+)")
_VARIABLE = re.compile(r"\$\{?(\w+)")


def is_job(body: str) -> bool:
    """Whether a command line leaves one command to run in the background."""
    return "&" in body and _JOB.search(body) is not None and _LOOP.search(body) is None


def runs_jobs(body: str) -> bool:
    """Whether several commands may run at once, or a program reads what another one sends."""
    signs = "&" in body or "(" in body or "parallel" in body or "xargs" in body or "coproc" in body
    if not signs or is_job(body):
        return False
    return _JOBS.search(body) is not None


def is_fed_plainly(before: str, *, typed: bool) -> bool:
    """Whether nothing before a call of ssh on its line changes what it sends.

    Without a prompt words may stand before the first program.
    """
    start = _BEFORE_PIPELINE.match(before)
    *sources, started = _PARTS.split(before[start.end() :] if start else before)
    if not sources and not typed and not start:
        return True
    known = (_SOURCE if typed or start or number else _NAMES_SOURCE for number in range(9))
    return _STARTED.fullmatch(started) is not None and all(
        pattern.match(source) for pattern, source in zip(known, sources, strict=False)
    )


def changes_nothing(body: str) -> bool:
    """Whether each command of a line is known to change no machine, setting or version."""
    rest = _QUIET.sub("", body)
    if ">" in rest or "`" in rest:
        return False
    return all(_IDLE.fullmatch(one.strip()) for one in _COMMANDS.split(rest))


def shows_several_files(body: str) -> bool:
    """Whether a command may show what was measured on several machines."""
    found = _SHOWS_FILES.match(body)
    names = [word for word in found["files"].split() if word[0] != "-"] if found else []
    return len(names) > 1 or any(sign in body for sign in "*?;&")


def goes_elsewhere(body: str) -> bool:
    """Whether a command has something run in another system, or shows several files."""
    programs = (part.split()[:3] for part in _COMMANDS.split(body) if part.strip())
    first = {word.rsplit("/", 1)[-1] for words in programs for word in words}
    return not OTHER_MACHINES.isdisjoint(first) or bool(
        _SHOWS_FILES.match(body) and shows_several_files(body)
    )


def loop_variables(body: str) -> frozenset[str]:
    """The variables of the loops that a line begins."""
    if not ("for" in body or "while " in body):
        return frozenset()
    return frozenset(one for found in _LOOPS.findall(body) for one in found if one)


def varying(body: str) -> frozenset[str]:
    """The variables of a command that may say more than the cipher or a new file's name."""
    if "$" not in body:
        return frozenset()
    used = _VARIABLE.findall(_NAMES_ALONE.sub("", body))
    return frozenset(used).difference(_CIPHER_VARIABLE.findall(body))


def rsync_options(before: str) -> str | None:
    """What stands between rsync and `-e` or `--rsh` before a call of ssh; None without rsync."""
    found = _RSYNC.match(before.rstrip("\"'")) if "rsync" in before else None
    return found["options"] if found else None


def syncs_plainly(words: str) -> bool:
    """Whether all of rsync's options are known to send a file as it is."""
    options = (word for word in words.split() if word.startswith("-"))
    return all(_RSYNC_OPTION.fullmatch(word) for word in options)


def is_received_plainly(far: str) -> bool:
    """Whether the command on the far side takes or makes bytes, and nothing in it is unknown."""
    parts = _FAR_PARTS.split(far)
    known = all(_SINK.match(part) for part in parts if part.strip(" '\"()"))
    return known and any(_SOURCE.match(part) for part in parts)


def is_read_plainly(after: str) -> bool:
    """Whether what follows ssh in its pipe only takes the bytes or reads its messages."""
    pipeline = _AFTER_PIPELINE.split(after.replace(">&", ">"), maxsplit=1)[0]
    return all(_SINK.match(part) for part in _PARTS.split(pipeline)[1:])


def only_counts(comment: str) -> bool:
    """Whether a comment behind a command says no more than which try it is."""
    return _COUNTS.fullmatch(comment) is not None


def runs_several(body: str) -> bool:
    """Whether a command line runs commands that differ, or one for each value of a variable."""
    loops = loop_variables(body)
    if loops:
        return bool(loops & varying(body))
    commands = (
        {part.strip() for part in SEPARATORS.split(body)} if ";" in body or "&&" in body else ()
    )
    active = [one for one in commands if not changes_nothing(one)]
    return len(active) > 1 or _SEVERAL_FILES.match(body) is not None


def prints_variable(text: str, start: int = 0) -> bool:
    """Whether a script, from `start` on, prints a variable: it may be the cipher's name."""
    return _PRINTS_VARIABLE.search(text, start) is not None
