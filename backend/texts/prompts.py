import re

from texts.ciphers import is_other_algorithm, openssl_cipher, ssh_cipher

KEYWORDS = "do|then|else|{"
STARTERS = (
    f"{KEYWORDS}|while|until|if|elif|!|sudo|doas|time|gtime|env|command|exec|nohup|nice|ionice"
    "|busybox|toybox|taskset|chrt|numactl|stdbuf|timeout|caffeinate|repeat|sshpass|winpty|xargs|parallel|trickle|cpulimit"
)
LOOKERS = "lscpu|uname|uptime|free|nproc|dmesg|done|fi|end|}"
SOURCES = "dd|cat|head|tail|yes|buffer|mbuffer|pv|tar|zfs"
PROGRAMS = (
    f"{LOOKERS}|{SOURCES}|ssh|hpnssh|ansible|scp|hpnscp|sftp|rsync|dbclient|sh|ash|bash|dash|ksh|zsh|eval|for"
    "|read|foreach|hyperfine|echo|printf|export|unset|set|setenv|nc|socat|iperf|iperf3|hdparm|fio|awk|gawk|sed"
    "|grep|egrep|ls|rm|cd|wget|curl|apt|make|sync|seq|wait|sleep|cpupower|sysctl|cryptsetup|bc|tee"
    "|sort|watch|mount|mkdir|modprobe|truncate|fallocate|gzip|pigz|zstd|lz4|throttle"
)
_SIGN = re.compile(r"[$#%>➜]")
_SURE_PROMPT = re.compile(r"""(?x)\s{0,8}(?:(?:\([\w.-]{1,40}\)\ ?|\[?\d\d:\d\d(?::\d\d)?\]?\ ){0,2}
    (?:[~/]\S{0,60}\ )?\[?[\w.+\\-]{1,40}@(?!(?:open|lib)?ssh\.|lysator)([\w.-]{1,80})
    (?:\ MINGW\d\d)?(?:\[[^\]\s]{1,60}\])?(?:[ :]\ ?[~/.A-Za-z][^\s\]$#%>]{0,80})?
    (?:\ \([^()\s]{1,40}\))?\]?\ ?[$#%>](?:\s|$)
    |([\w.-]{2,60})(?::(?!//)[~/]\S{0,80}?\ ?[\$\#>]|:[~/\w.-]{1,60}\ [\w.-]{1,40}\$
    |\ [~/]\S{0,60}\ [$%])(?:\s|$)|➜\s{1,3}\S{1,60}(?:\ git:\(\S{1,60}\))?(?:\ ✗)?\s
    |([\w.-]{1,60})\ \|\ (?:CHANGED|SUCCESS)\ ?\|\ rc=0\ >>
    |foreach\?\ |PS\ (?:[A-Z]:|/|~)[^>]{0,120}>|[A-Za-z]:\\[^>]{0,120}>
    |(?:\[[~/][^\s\]]{0,80}\]\ ?[$\#]|[~/]\S{0,80}?(?:\ ?\$|[\#%]))(?:\s|$)
    |\$(?:\s+(?!\d)|$|(?=(?:openssl|ssh|dd|time)\ )))""")
_DOUBTFUL_PROMPT = re.compile(r"""(?x)\s{0,8}
    (?:-?(?P<host>[A-Za-z][\w.-]{0,40})[$\#%>]|[~/]\S{0,80}?(?:\ [\#%]|>)|[\#%])(?:\s|$)""")
_NO_HOST = re.compile(r"(?:ba|z|k|da|t?c)?sh(?:-[\d.]+)?|for|while|d?quote|pipe|then|do|s?ftp")
_BEGINNING = re.compile(rf"""(?x)[\s({{!&]*(?:\w{{1,60}}=(?:"[^"]*"|'[^']*'|[^\s"']*)\s+){{0,5}}
    (?:OPENSSL_\w+=|\w{{1,60}}=["']?[$`(]|\$env:|\$\{{?\w{{0,40}}SSL|(?:[\w.~/\\:-]{{0,200}}[/\\])?
    (?:(?:{PROGRAMS}|{STARTERS})(?![^\s;|&)])|[\w.-]{{0,40}}ssl[\w.-]{{0,40}}\s+[a-z]))""")
_SHELL_SIGN = re.compile(r"""(?x)(?<!\S)(?:-{1,2}[A-Za-z]|[~.]{0,2}/\w|["'].+["'])|\w=\S|[$`][\w({]
    |OPENSSL_|^foreach\s|>\s?[/&\w]
    |[|;&]\s?(?:do|sudo|time|ssh|dd|cat|pv|nc|head|tee|e?grep|tail|awk|sort|done|while)\b""")
_LOOKS = re.compile(rf"(?:{KEYWORDS}|{LOOKERS})(?:\s?[;|>&].*|\s[-2].*)?")
_SPEED = re.compile(r"ssl(?:(?!ssl)\S)*\s+speed(?![\w:])", re.I)
_KNOWN = frozenset(f"{PROGRAMS}|{STARTERS}|openssl|speed|in|aes|des|camellia|md".split("|"))


def split_prompt(text: str) -> tuple[str | None, str] | None:
    """Split a line into shell prompt and command. Return None for a line without a prompt."""
    if not _SIGN.search(text[:250]):
        return None
    if match := _SURE_PROMPT.match(text):
        return next(filter(None, match.groups()), None), text[match.end() :].strip()
    if not (match := _DOUBTFUL_PROMPT.match(text)):
        return None
    command, host = text[match.end() :].strip(), match["host"]
    if not (is_typed(command) or re.match(r"[.~]{0,2}/\w", command) or (host and not command)):
        return None
    return (None if host and _NO_HOST.fullmatch(host) else host), command


def is_typed(text: str) -> bool:
    if not _BEGINNING.match(text):
        return False
    if _LOOKS.fullmatch(text):
        return True
    words = re.split(r"[\s()|;&:]+", text)
    if re.search(r"(?<!\S)[^\s$()|;&:]+[,?](?!\S)", re.sub(r"'[^']*'", "", text)):
        return False  # a sentence
    unknown = [word for word in words if len(word) > 1 and word.isalpha() and not _is_known(word)]
    is_speed = "speed" in text.lower() and _SPEED.search(text) is not None
    if not _SHELL_SIGN.search(text):
        return is_speed and not unknown
    return len(unknown) <= (1 if is_speed else 2) + text.count("|") + text.count(";")


def _is_known(word: str) -> bool:
    return word in _KNOWN or bool(
        openssl_cipher(word) or ssh_cipher(word) or is_other_algorithm(word)
    )
