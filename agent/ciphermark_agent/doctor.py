"""`doctor`: what can be measured here, and what would enable the rest."""

import argparse
import json
import os
import platform
from typing import List, Optional

from ciphermark_agent import children, common, delivery
from ciphermark_agent import openssl as speed
from ciphermark_agent.children import PACKAGES, SSHD_PLACES, find_program, run_tool
from ciphermark_agent.common import Json, TryFailed, UsageError
from ciphermark_agent.conditions import cpus_for_pinning, read_cpu_times
from ciphermark_agent.environment import parse_openssl_version, parse_ssh_version
from ciphermark_agent.settings import upload_site
from ciphermark_agent.ssh_server import (
    SSH_BASELINES,
    PrivateServer,
    offered_ciphers,
    sweep_stale_folders,
)
from ciphermark_agent.upload import foresee_refusal


class Findings:
    """Capabilities, tried rather than guessed: whether each is there, what would enable it."""

    def __init__(self) -> None:
        self.found: List[Json] = []

    def add(self, name: str, able: bool, detail: str, remedy: str = "") -> None:
        remedy = "" if able else remedy
        self.found.append({"name": name, "able": able, "detail": detail, "remedy": remedy})

    def program(self, name: str, path: Optional[str], version: Optional[str]) -> None:
        found = "%s (%s)" % (path, version) if version else path
        self.add(name, path is not None, found or "not found in PATH", "install " + PACKAGES[name])

    def private_server(self, ssh: str, sshd: str) -> None:
        """A connection to a private sshd, and the baselines that this ssh has."""
        offered = offered_ciphers(ssh)
        detail, able = "%d ciphers" % len(offered), True
        try:
            with PrivateServer(ssh, sshd) as server:
                server.prepare()
                server.zero_connect()
        except TryFailed as error:
            detail, able = str(error), False
        remedy = "see the reason; as an ordinary user fewer things are needed than as root"
        self.add("ssh to a private sshd", able, detail, remedy)
        absent = [name for name in SSH_BASELINES if name not in offered]
        detail = "this OpenSSH has no " + ", ".join(absent) if absent else ", ".join(SSH_BASELINES)
        remedy = "give an older build with --ssh and --sshd (OpenSSH 7.5 or earlier has them)"
        self.add("baseline ciphers of ssh", not absent, detail, remedy)

    def openssl(self, openssl: str, cpu_settings: Optional[str]) -> None:
        able = speed.speed_abilities(openssl)
        detail = "speed -seconds" if able.seconds else "this version takes 15 s a cipher"
        self.add("openssl tries of one second", able.seconds, detail, "OpenSSL 1.1.1 or later")
        detail = "rc4 answers"
        try:
            speed.openssl_try(openssl, speed.Asked("rc4"), 1, able)
        except TryFailed as error:
            detail = "rc4: %s" % error
        remedy = "install its legacy provider" if able.providers else "install another openssl"
        self.add("baseline ciphers of openssl", detail == "rc4 answers", detail, remedy)
        mask = speed.mask_variable(platform.machine(), cpu_settings)
        self.add("AES hardware turned off", bool(mask), "=".join(mask or ["no mask is known"]))

    def machine(self) -> None:
        able = read_cpu_times() is not None
        detail = "/proc/stat" if able else "/proc/stat cannot be read"
        self.add("other processes watched", able, detail, "run it on Linux with /proc mounted")
        able = children.PRCTL is not None
        detail = "prctl" if able else "needs prctl of Linux, by Python's ctypes"
        self.add("CPU seconds of the server", able, detail, "a Python with ctypes, on Linux")
        cpus = cpus_for_pinning()
        detail = "CPU %d and %d" % cpus if cpus else "there are not two cores for this process"
        self.add("ssh and sshd on a core each", cpus is not None, detail)

    def spool(self) -> None:
        """Whether a run that cannot be uploaded can be kept; makes no folder for that."""
        folder = existing = delivery.spool_folder()
        while not os.path.exists(existing):
            existing = os.path.dirname(existing)
        able = os.path.isdir(existing) and os.access(existing, os.W_OK)
        waiting = len(delivery.spooled_runs())
        detail = "%s, %s waiting" % (folder, common.counted(waiting, "run"))
        detail += " (send: %s upload)" % common.own_file() if waiting else ""
        detail = detail if able else "%s: cannot be written" % folder
        self.add("spool", able, detail, "give XDG_STATE_HOME a folder that can be written")

    def upload(self, arguments: argparse.Namespace) -> None:
        """Whether the server would take a run, where one is configured."""
        try:
            site = upload_site(arguments)
        except UsageError as error:
            self.add("upload", False, str(error), "correct the option or the agent.ini")
            return
        if site is not None:
            fault = foresee_refusal(site)
            remedy = "see that {0} opens from here; make a token at {0}/tokens/".format(site.server)
            self.add("upload", not fault, (fault or site.server).split("\n")[0], remedy)


def doctor_findings(arguments: argparse.Namespace) -> List[Json]:
    findings = Findings()
    ssh = find_program("ssh", arguments.ssh)
    sshd = find_program("sshd", arguments.sshd, SSHD_PLACES)
    openssl = find_program("openssl", arguments.openssl)
    findings.add("Python", True, platform.python_version())
    version = parse_ssh_version(run_tool([ssh, "-V"]).err if ssh else "")[0]
    findings.program("ssh", ssh, version)
    findings.program("sshd", sshd, None)
    if ssh and sshd:
        findings.private_server(ssh, sshd)
    built = parse_openssl_version(run_tool([openssl, "version", "-a"]).out if openssl else "")
    findings.program("openssl", openssl, built["version_text"])
    if openssl:
        findings.openssl(openssl, built["cpu_settings"])
    findings.machine()
    findings.spool()
    findings.upload(arguments)
    return findings.found


def command_doctor(arguments: argparse.Namespace) -> int:
    """Exit code 3 when nothing at all could be measured, as `run` would end."""
    sweep_stale_folders()
    with children.starting_children():
        found = doctor_findings(arguments)
    able = {one["name"] for one in found if one["able"]}
    measures = bool(able & {"ssh to a private sshd", "openssl"})
    text = json.dumps({"measures": measures, "findings": found}, indent=2)
    if not arguments.json:
        lines = []
        for one in found:
            lines.append(
                "%-4s %s: %s" % ("yes" if one["able"] else "no", one["name"], one["detail"])
            )
            lines += ["     to do: " + one["remedy"]] if one["remedy"] else []
        text = common.printable("\n".join(lines))
    code = common.show(text)
    return code if measures else common.EXIT_NOTHING
