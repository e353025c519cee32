"""Shell commands in a text: which of them sends through ssh, and what the others change."""

import re
from dataclasses import replace

from parsers.ssh.commands.calls import SHELL, calls, looks_typed, program_of, transferring
from parsers.ssh.commands.command import Command
from parsers.ssh.commands.masks import acceleration_said, sets_mask
from parsers.ssh.commands.pipelines import (
    READS,
    WRITES,
    changes_nothing,
    goes_elsewhere,
    loop_variables,
    only_counts,
    prints_variable,
    runs_several,
    varying,
)
from parsers.ssh.commands.prompts import prompt_of, typed_at
from parsers.ssh.commands.transfer_commands import transfer_command
from parsers.ssh.dd_lines import amount_of, megabyte_meant
from parsers.ssh.names import CipherName, cipher_name
from parsers.ssh.time_blocks import times_loop, times_other

_CONTINUES = re.compile(r"^\s{0,8}(?:for|foreach|while|repeat|do|then|pipe|quote)> ")
"""Of zsh, before the further lines of a command."""
_LISTS_CIPHERS = re.compile(r"(?<![$]\()(?<!\w)ssh\s+-Q\s?c")
_LOOP = re.compile(r"\$\(|\bfor\s|\bin\s+`")
_PIPED_TO = re.compile(r"\|\s*(?:sudo\s+|time\s+)?[a-z./]", re.I)
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
_PV = re.compile(r"(?<![\w./-])pv\b")


def command_of(text: str) -> Command | None:
    """What a line says as a command, None where it is none."""
    text = _CONTINUES.sub("", text) if "> " in text[:20] else text
    prompt = prompt_of(text)
    body = text[prompt.end() :] if prompt else text
    host = prompt["host"] if prompt and "host" in prompt.re.groupindex else None
    traced = prompt is not None and prompt[0].lstrip().startswith("+")
    changes_ssh = _CHANGES_SSH.match(body) is not None or _writes_configuration(body)
    call, is_several = (None, False) if changes_ssh else transferring(body)
    if call is not None and (prompt or looks_typed(body, call)):
        typed = prompt is not None and not traced
        command = transfer_command(body, call, host, is_several=is_several, typed=typed)
        return replace(
            command,
            typed=prompt is not None,
            traced=traced,
            times_loop=times_loop(body),
            times_other=times_other(body[: call.start()], body[call.end() :]),
            pv_ends=len(_PV.findall(body)) > 1,
            wording=_wording(body, command.cipher),
            prompt=typed_at(prompt),
            program=program_of(body),
        )
    lists_ciphers = _lists_ciphers(body)
    if not (prompt or lists_ciphers or SHELL.match(body)):
        return None
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
        names="before" if prints_variable(body) else "",
        waits=_WAITS.match(body) is not None,
        changes_ssh=changes_ssh,
        wording=_wording(body, None) + " -C" * len(_PACKS.findall(body)),
        prompt=typed_at(prompt),
        keeps=keeps,
        sets_mask=sets_mask(body),
        program=program_of(body),
        elsewhere=prompt is not None and not keeps and goes_elsewhere(body),
        several=not keeps and runs_several(body),
        loops=loop_variables(body),
        varies=frozenset() if keeps else varying(body),
    )


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
    return next(calls(body), None) is None and _LOOKS.match(body) is None


def _lists_ciphers(body: str) -> bool:
    """Whether ssh is asked for its ciphers, other than for a loop over them."""
    return "-Q" in body and bool(_LISTS_CIPHERS.search(body)) and not _LOOP.search(body)


def _moves_bytes(body: str) -> bool:
    """Whether a command without ssh says where its bytes go: into a file, to another program."""
    if not READS.search(body):
        return False
    return bool(WRITES.search(body) or _PIPED_TO.search(body))
