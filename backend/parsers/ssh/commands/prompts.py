"""A shell's prompt at the start of a line."""

import re

from parsers.ssh.commands.calls import SHELL, calls

_PROMPT = re.compile(
    r"^\s{0,8}(?:\([\w.-]{1,40}\) )?(?!\S+@(?:openssh|ssh|lysator)\.\w)"
    r"(?:\[?(?P<user>[\w.-]{1,40})@(?P<host>[\w.-]{1,80})"
    r"(?:[ :][^\]$#%>]{0,80})?\]?\s?[$#%>] |[$%] |(?:PS )?[A-Z]:\\[^>]{0,80}> ?|\++ "
    r"|[\w.-]{1,40}[:~]{1,2}\S{0,60}[$#] |(?:[\w.-]{1,40}:|\[)[~/]\S{0,60} # )"
)
_BARE_PROMPT = re.compile(
    r"^\s{0,8}(?:(?:[A-Za-z][\w.-]{0,39}|[~/]\S{0,60}\s?)(?P<sign>[$#%>])|(?P<root>#))\s+"
    r"(?=[a-z./~\\])"
)
"""A prompt with no more than a host or a folder; such a line may as well be prose or a title."""
_SIGNS = ("$", "#", "%", ">")
_WHO = re.compile(r"^\W*([\w.-]+(?:@[\w.-]+)?)")
_PROGRAM_FIRST = re.compile(r"(?:ssh|scp|sftp|dbclient)\s+-")


def prompt_of(text: str) -> re.Match[str] | None:
    """The prompt of a line, with the group "host" where its form names one."""
    return _PROMPT.match(text if text[-1:] not in _SIGNS else text + " ") or _bare_prompt(text)


def _bare_prompt(text: str) -> re.Match[str] | None:
    """ "nas$ dd ...", "# dd ...": a prompt where a command follows that is no title.

    "# ssh -c aes128-ctr" may as well be a heading, and is read as one.
    """
    found = _BARE_PROMPT.match(text)
    if found is None:
        return None
    body = text[found.end() :]
    is_shell = SHELL.match(body) is not None
    if found["root"]:
        return found if is_shell and next(calls(body), None) is None else None
    return found if is_shell or found["sign"] == "$" or _PROGRAM_FIRST.match(body) else None


def typed_at(prompt: re.Match[str] | None) -> str:
    """A prompt without the folder."""
    if prompt is None:
        return ""
    shown = prompt[0].strip()
    return " ".join([*_WHO.findall(shown)[:2], shown[-1:]])
