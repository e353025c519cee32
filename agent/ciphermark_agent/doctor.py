"""`doctor`: what can be measured here, and what would enable the rest."""

import argparse
import json
import os
import platform
from typing import List, NamedTuple, Optional

from ciphermark_agent import children, common, spool
from ciphermark_agent import openssl as speed
from ciphermark_agent.children import PACKAGES, SSHD_PLACES, find_program, run_tool
from ciphermark_agent.common import Json, TryFailed, UsageError
from ciphermark_agent.conditions import cpus_for_pinning, read_cpu_times
from ciphermark_agent.machine import parse_openssl_version, parse_ssh_version
from ciphermark_agent.settings import upload_site
from ciphermark_agent.ssh_protocol import SSH_BASELINES, offered_ciphers
from ciphermark_agent.ssh_server import PrivateServer, sweep_stale_folders
from ciphermark_agent.upload import foresee_refusal


class Finding(NamedTuple):
    """One capability: whether it is there, what was found, what would enable it."""

    name: str
    able: bool
    detail: str
    remedy: str = ""


def doctor_findings(arguments: argparse.Namespace) -> List[Finding]:
    """Every capability, tried rather than guessed."""
    ssh = find_program("ssh", arguments.ssh)
    sshd = find_program("sshd", arguments.sshd, SSHD_PLACES)
    openssl = find_program("openssl", arguments.openssl)
    found = [
        Finding("Python", True, platform.python_version()),
        program_finding("ssh", ssh, parse_ssh_version(run_tool([ssh, "-V"]).err) if ssh else None),
        program_finding("sshd", sshd, None),
    ]
    if ssh and sshd:
        found += private_server_findings(ssh, sshd)
    version = parse_openssl_version(run_tool([openssl, "version", "-a"]).out) if openssl else {}
    found.append(program_finding("openssl", openssl, version.get("version_text")))
    if openssl:
        found += openssl_findings(openssl, version)
    found += machine_findings() + [spool_finding()] + upload_findings(arguments)
    return [one._replace(remedy="") if one.able else one for one in found]


def program_finding(name: str, path: Optional[str], version: Optional[str]) -> Finding:
    if path is None:
        return Finding(name, False, "not found in PATH", "install " + PACKAGES[name])
    return Finding(name, True, "%s (%s)" % (path, version) if version else path)


def private_server_findings(ssh: str, sshd: str) -> List[Finding]:
    """A connection to a private sshd, and the baselines that this ssh has."""
    try:
        with PrivateServer(ssh, sshd) as server:
            server.prepare()
            server.zero_connect()
    except TryFailed as error:
        remedy = "see the reason; as an ordinary user fewer things are needed than as root"
        return [Finding("ssh to a private sshd", False, str(error), remedy)]
    offered = offered_ciphers(ssh)
    absent = [name for name in SSH_BASELINES if name not in offered]
    remedy = "give an older build with --ssh and --sshd (OpenSSH 7.5 or earlier has them)"
    words = "this OpenSSH has no " + ", ".join(absent) if absent else ", ".join(SSH_BASELINES)
    return [
        Finding("ssh to a private sshd", True, "%d ciphers" % len(offered)),
        Finding("baseline ciphers of ssh", not absent, words, remedy),
    ]


def openssl_findings(openssl: str, version: Json) -> List[Finding]:
    able = speed.speed_abilities(openssl)
    words = "speed -seconds" if able.seconds else "this version takes 15 s a cipher"
    fault = ""
    try:
        speed.openssl_try(openssl, speed.Asked("rc4"), 1, able)
    except TryFailed as error:
        fault = "rc4: %s" % error
    remedy = "install its legacy provider" if able.providers else "install another openssl"
    mask = speed.mask_variable(platform.machine(), version.get("cpu_settings"))
    masked = "=".join(mask) if mask else "no mask is known"
    return [
        Finding("openssl tries of one second", able.seconds, words, "OpenSSL 1.1.1 or later"),
        Finding("baseline ciphers of openssl", not fault, fault or "rc4 answers", remedy),
        Finding("AES hardware turned off", mask is not None, masked),
    ]


def machine_findings() -> List[Finding]:
    watched = read_cpu_times() is not None
    cpus = cpus_for_pinning()
    stat = "/proc/stat" if watched else "/proc/stat cannot be read"
    able = bool(children.LIBC)
    prctl = "prctl" if able else "needs prctl of Linux, by Python's ctypes"
    cores = "CPU %d and %d" % cpus if cpus else "there are not two cores for this process"
    return [
        Finding("other processes watched", watched, stat, "run it on Linux with /proc mounted"),
        Finding("CPU seconds of the server", able, prctl, "a Python with ctypes, on Linux"),
        Finding("ssh and sshd on a core each", cpus is not None, cores),
    ]


def spool_finding() -> Finding:
    """Whether a run that cannot be uploaded can be kept; makes no folder for that."""
    folder = existing = spool.spool_folder()
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing) or not os.access(existing, os.W_OK):
        remedy = "give XDG_STATE_HOME a folder that can be written"
        return Finding("spool", False, "%s: cannot be written" % folder, remedy)
    waiting = len(spool.spooled_runs())
    runs = "1 run" if waiting == 1 else "%d runs" % waiting
    words = " (send: %s upload)" % common.own_file() if waiting else ""
    return Finding("spool", True, "%s, %s waiting%s" % (folder, runs, words))


def upload_findings(arguments: argparse.Namespace) -> List[Finding]:
    """Whether the server would take a run, where one is configured."""
    try:
        site = upload_site(arguments)
    except UsageError as error:
        return [Finding("upload", False, str(error), "correct the option or the agent.ini")]
    if site is None:
        return []
    refusal = foresee_refusal(site)
    remedy = "see that {0} opens from here; make a token at {0}/tokens/".format(site.server)
    return [Finding("upload", not refusal, (refusal or site.server).split("\n")[0], remedy)]


def command_doctor(arguments: argparse.Namespace) -> int:
    """Exit code 3 when nothing at all could be measured, as `run` would end."""
    children.catch_signals()
    sweep_stale_folders()
    try:
        found = doctor_findings(arguments)
    finally:
        children.ignore_signals()
        children.end_children()
    able = {finding.name for finding in found if finding.able}
    measures = bool(able & {"ssh to a private sshd", "openssl"})
    lines = []
    for finding in found:
        lines.append("%-4s %s: %s" % ("yes" if finding.able else "no", *finding[::2]))
        if finding.remedy:
            lines.append("     to do: " + finding.remedy)
    text = common.printable("\n".join(lines))
    if arguments.json:
        facts = {"measures": measures, "findings": [finding._asdict() for finding in found]}
        text = json.dumps(facts, indent=2)
    code = common.show(text)
    return code if measures else common.EXIT_NOTHING
