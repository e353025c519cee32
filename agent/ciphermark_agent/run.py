"""One run: discover, measure, build the document."""

import argparse
import contextlib
import difflib
import os
import platform
import pwd
import re
import socket
import uuid
from typing import Any, List, Optional, Sequence, Set, Tuple, Union

from ciphermark_agent import __version__
from ciphermark_agent.children import SSHD_MISSING, SSHD_PLACES, find_program, ignore_signals
from ciphermark_agent.common import (
    DEFAULT_MAC,
    FOREIGN_LIMIT,
    SCHEMA,
    Interrupted,
    Json,
    Progress,
    UsageError,
    in_words,
    reading,
    utc_now,
)
from ciphermark_agent.conditions import (
    MachineState,
    condition,
    conditions_of_run,
    cpus_for_pinning,
    machine_state,
    wait_until_quiet,
)
from ciphermark_agent.machine import environment, machine_id
from ciphermark_agent.openssl import (
    MASKED_CIPHERS,
    OPENSSL_KNOWN,
    OPENSSL_OLD_QUICK,
    OPENSSL_QUICK,
    SpeedAbilities,
    mask_variable,
    speed_abilities,
)
from ciphermark_agent.plans import OpensslPlan, SshPlan, openssl_work
from ciphermark_agent.ssh_protocol import (
    SSH_BASELINES,
    SSH_OLD_CIPHERS,
    offered_ciphers,
    offered_macs,
    ssh_channels,
)
from ciphermark_agent.ssh_server import PrivateServer, RemoteHost, SshEnd
from ciphermark_agent.tries import Series, Skipped, disturbed

TAG_KEY_LIMIT = 50
# Members of the document whose values are no free text, so that no name can be in them.
VOCABULARY = re.compile(
    "schema|run_id|name|version|id|started_at|finished_at|model|vendor|board|architecture|flags|"
    "governor|virtualization|container|depth|tool|cipher|operation|method|acceleration|kind|mac|"
    "kex|compression|source|timing|derived_from|code|default_cipher"
)
NOBODY = ("root", "localhost", "openssl", "openssh", "libressl", "ssh", "sshd", "linux")
HOME_PATH = re.compile(r"(/(?:home|Users)/)[^/\s:;,=\"'<>()]+")


def own_names(targets: Sequence[str]) -> Set[str]:
    """Account and host names of this machine, and of the far ends."""
    names = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")}
    with contextlib.suppress(KeyError):
        names.add(pwd.getpwuid(os.getuid()).pw_name)
    for host in (socket.gethostname(), platform.node()):
        names.update((host, host.split(".")[0]))
    for address in targets:
        names.update([address] + re.split(r"[@:/\[\]]", re.sub("^ssh://", "", address)))
    return {name for name in names if len(name) > 1 and not name.isdigit()} - set(NOBODY)


def own_homes() -> Set[str]:
    """Home directories of this account, wherever they are."""
    homes = {os.path.expanduser("~")}
    with contextlib.suppress(KeyError):
        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    homes.update([os.path.realpath(home) for home in homes])
    return {home.rstrip("/") for home in homes if os.path.isabs(home)} - {"", "/root"}


def without_names(value: Any, names: Set[str], member: str = "") -> Any:
    """The value with home directories and these names left out of every free text in it.

    A name that begins with a slash is the path of a directory.
    """
    if isinstance(value, dict) and member == "tags":
        return {
            without_names(key, names)[:TAG_KEY_LIMIT]: without_names(text, names)
            for key, text in value.items()
        }
    if isinstance(value, dict):
        return {name: without_names(inner, names, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_names(one, names, member) for one in value]
    if not isinstance(value, str) or VOCABULARY.fullmatch(member):
        return value
    text = HOME_PATH.sub(r"\1NAME", value)
    for name in sorted(names, key=len, reverse=True):
        before = "" if name.startswith("/") else "(?<![a-z0-9])"
        text = re.sub("(?i)%s%s(?![a-z0-9])" % (before, re.escape(name)), "NAME", text)
    return text


def host_name(options: argparse.Namespace, run_id: str) -> str:
    if options.anonymous:
        return "anonymous-" + run_id[:8]
    return (options.name or socket.gethostname() or "unnamed")[:200]


Plan = Union[SshPlan, OpensslPlan]


class Run:
    """One execution of the agent: collects what becomes the run document."""

    def __init__(self, options: argparse.Namespace, progress: Progress) -> None:
        self.options = options
        self.progress = progress
        self.run_id = str(uuid.uuid4())
        self.started_at = utc_now()
        self.skipped = Skipped()
        self.series: List[Series] = []
        self.openssh: Json = {}
        self.pinned_cpus: Optional[Tuple[int, int]] = None
        self.ssh = find_program("ssh", options.ssh)
        self.sshd = find_program("sshd", options.sshd, SSHD_PLACES)
        self.openssl = find_program("openssl", options.openssl)
        self.able = SpeedAbilities(False, False)
        self.mask: Optional[Tuple[str, str]] = None
        self.interrupted: Optional[Interrupted] = None
        self.offered: List[str] = []

    # Discovery

    def ssh_ciphers(self) -> List[str]:
        """The ciphers to measure with ssh; notes why there are none."""
        if "ssh" not in self.options.tools:
            return []
        if self.ssh is None:
            self.progress.note("ssh is not measured: no ssh was found in PATH (give --ssh PATH)")
            return []
        self.offered = offered_ciphers(self.ssh)
        self.skip_missing_ciphers(self.offered)
        chosen = [name for name in self.offered if self.wanted(name)]
        if self.sshd is None and chosen and not self.options.targets:
            self.progress.note("ssh is not measured: " + SSHD_MISSING)
            for cipher in chosen:
                self.skipped.add("ssh", cipher, "no sshd on this machine")
            return []
        return chosen

    def wanted(self, cipher: str) -> bool:
        return self.options.ciphers is None or cipher in self.options.ciphers

    def skip_missing_ciphers(self, offered: Sequence[str]) -> None:
        asked = [name for name in self.options.ciphers or () if name in SSH_OLD_CIPHERS]
        for cipher in asked or SSH_BASELINES:
            if cipher not in offered and self.wanted(cipher):
                self.skipped.add("ssh", cipher, "this OpenSSH does not offer it")

    def openssl_ciphers(self) -> List[str]:
        """The ciphers to measure with openssl; fewer for versions that take 15 s for each."""
        if "openssl" not in self.options.tools:
            return []
        if self.openssl is None:
            text = "openssl is not measured: none was found in PATH (give --openssl PATH)"
            self.progress.note(text)
            return []
        if self.options.ciphers is not None:
            return [name for name in OPENSSL_KNOWN if name in self.options.ciphers]
        if self.options.depth.name == "thorough":
            return list(OPENSSL_KNOWN)
        if self.able.seconds or self.options.depth.name == "standard":
            return list(OPENSSL_QUICK)
        for cipher in OPENSSL_QUICK:
            if cipher not in OPENSSL_OLD_QUICK:
                reason = (
                    "this openssl speed has no -seconds and takes 15 s a cipher: not in a quick run"
                )
                self.skipped.add("openssl", cipher, reason)
        return list(OPENSSL_OLD_QUICK)

    def masked_ciphers(self, ciphers: Sequence[str]) -> List[str]:
        """Ciphers to repeat with the AES hardware turned off."""
        chosen = [name for name in MASKED_CIPHERS if name in ciphers]
        slow = not self.able.seconds and self.options.depth.name == "quick"
        if not self.options.mask or slow:
            return []
        if self.mask is None:
            for cipher in chosen:
                reason = "no way is known to turn the AES hardware of %s off"
                reason %= platform.machine() or "this machine"
                self.skipped.add("openssl", cipher, reason, "masked")
            return []
        return chosen

    def check_cipher_names(self) -> None:
        """A name that neither tool knows is a mistake worth stopping for."""
        known = list(OPENSSL_KNOWN + SSH_OLD_CIPHERS)
        if self.ssh and any(name not in known for name in self.options.ciphers or ()):
            known += offered_ciphers(self.ssh)
        for name in self.options.ciphers or ():
            if name not in known:
                longer = [one for one in known if one.startswith(name)]
                near = " or ".join(longer or difflib.get_close_matches(name, known))
                words = (
                    "did you mean %s?" % near if near else "see `ssh -Q cipher` for those of ssh"
                )
                openssl = ", ".join(OPENSSL_KNOWN)
                raise UsageError("unknown cipher %s; %s (openssl: %s)" % (name, words, openssl))
        macs = offered_macs(self.ssh) if self.ssh and self.options.macs else []
        for name in self.options.macs:
            if macs and name not in macs + [DEFAULT_MAC]:
                text = "--macs: this ssh does not know %s; it knows %s, and %s is its own choice"
                raise UsageError(text % (name, ", ".join(macs), DEFAULT_MAC))

    def environment(self) -> Json:
        found = environment(self.ssh, self.openssl)
        self.openssh = found["openssh"]  # completed by what sshd says
        settings, flags = found["openssl"]["cpu_settings"], found["cpu"]["flags"]
        self.mask = mask_variable(platform.machine(), settings, flags)
        if self.openssl and "openssl" in self.options.tools:
            self.able = speed_abilities(self.openssl)
        return found

    # Measuring

    def measure(self) -> Json:
        """Everything; returns the run document, whose measurements may be empty."""
        self.check_cipher_names()
        environment = self.environment()
        ssh_ciphers = self.ssh_ciphers()
        openssl_ciphers = self.openssl_ciphers()
        plans = self.plans(ssh_ciphers, openssl_ciphers)
        self.announce(plans, len(ssh_ciphers), len(openssl_ciphers))
        limit, note = self.options.depth.wait_seconds, self.progress.note
        foreign = reading(lambda: wait_until_quiet(limit, note), None)
        before = reading(machine_state, MachineState(None, None, None))
        if foreign is not None and foreign <= FOREIGN_LIMIT:
            self.pinned_cpus = reading(cpus_for_pinning, None)
        try:
            for plan in plans:
                if isinstance(plan, SshPlan) and not plan.server.label:
                    plan.cpus = self.pinned_cpus
                plan.run()
            ignore_signals()  # from here on there is a run to lose
        except Interrupted as signalled:
            self.interrupted = signalled
        for plan in plans:
            self.series += plan.results(self.interrupted is not None)
            if isinstance(plan, SshPlan):
                self.note_server(plan)
        self.progress.finish()
        governed = environment["cpu"]["governor"]
        found = reading(
            lambda: conditions_of_run(
                foreign, before, machine_state(), self.disturbed_tries(), governed
            ),
            [],
        )
        if self.interrupted:
            text = "a signal (%d) ended the run before all was measured" % self.interrupted.signum
            found.append(condition("interrupted", text))
        return self.document(environment, found)

    def remote_ends(self) -> List[Tuple[str, str]]:
        """The address of each target, and what the document calls it."""
        targets = self.options.targets
        if self.options.anonymous:
            return [(address, "remote %d" % (at + 1)) for at, address in enumerate(targets)]
        return [(address, address) for address in targets]

    def plans(self, ssh: Sequence[str], openssl: Sequence[str]) -> List[Plan]:
        """What is to be measured with each far end, and with openssl."""
        options = self.options
        rest = (options.depth, self.skipped, self.progress)
        plans: List[Plan] = []
        if ssh:
            channels = ssh_channels(ssh, options.macs, options.compression)
            remote = self.remote_ends()
            ends: List[SshEnd] = [
                RemoteHost(self.ssh or "", address, shown) for address, shown in remote
            ]
            plans += [SshPlan(end, channels, *rest) for end in ends or [self.private_server()]]
        if openssl:
            masked = self.masked_ciphers(openssl)
            work = openssl_work(options.depth, self.able, openssl, masked, options.threads)
            plans.append(OpensslPlan(self.openssl or "", self.able, work, self.mask, *rest))
        return plans

    def announce(self, plans: Sequence[Plan], ssh: int, openssl: int) -> None:
        """Print the estimate and give the progress line its plan."""
        depth = self.options.depth
        for plan in plans:
            self.progress.plan(*plan.cost())
        if plans:
            text = "Measuring %d ssh and %d openssl ciphers (%s); this takes %s %s."
            about = "about" if depth.stable is None else "at most about"
            words = in_words(self.progress.planned)
            self.progress.note(text % (ssh, openssl, depth.name, about, words))

    def private_server(self) -> SshEnd:
        ssh = self.ssh or ""
        macs = offered_macs(ssh) if self.options.macs else []
        return PrivateServer(ssh, self.sshd or "", self.offered, macs)

    def note_server(self, plan: SshPlan) -> None:
        """Keep what was learned about sshd; its version only where there is a single target."""
        if len(self.options.targets) < 2:
            self.openssh["server"] = plan.server.version
        if not plan.server.label:
            self.openssh["server_library"] = plan.server.library
            default = self.openssh["default_cipher"] or plan.default_cipher
            self.openssh["default_cipher"] = default

    def disturbed_tries(self) -> Tuple[int, int]:
        samples = [sample for series in self.series for sample in series.samples]
        return sum(1 for sample in samples if disturbed(sample)), len(samples)

    def document(self, environment: Json, conditions: List[Json]) -> Json:
        options = self.options
        document: Json = {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "agent": {"name": "ciphermark-agent", "version": __version__},
            "started_at": self.started_at,
            "finished_at": utc_now(),
            "host": {
                "name": host_name(options, self.run_id),
                "machine_id": None if options.anonymous else machine_id(),
                "named": options.name is not None and not options.anonymous,
            },
            "tags": dict(options.tags),
            "settings": {
                "depth": options.depth.name,
                "tries": options.depth.tries,
                "pinned_cpus": list(self.pinned_cpus) if self.pinned_cpus else None,
            },
            "environment": environment,
            "conditions": conditions,
            "measurements": [series.document() for series in self.series],
            "skipped": self.skipped.document(),
        }
        if not options.anonymous:
            return document
        names = own_names(options.targets) - {environment["os"]["id"] or ""} | own_homes()
        return dict(without_names(document, names))
