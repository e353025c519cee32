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
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple, Union

from ciphermark_agent import __version__, common, conditions, openssl, ssh_protocol
from ciphermark_agent.children import PACKAGES, SSHD_PLACES, find_program, ignore_signals
from ciphermark_agent.common import Json, UsageError, reading
from ciphermark_agent.machine import environment, machine_id
from ciphermark_agent.plans import Context, OpensslPlan, SshPlan, openssl_rounds
from ciphermark_agent.ssh_server import PrivateServer, RemoteHost, SshEnd
from ciphermark_agent.tries import Series, Skipped, disturbed

SSHD_MISSING = (
    "ssh is not measured: no sshd was found (looked in PATH, %s): install %s, or give the path of "
    "one with --sshd (on Debian and Ubuntu `make run` of Ciphermark unpacks one by itself)"
) % (", ".join(SSHD_PLACES), PACKAGES["sshd"])
TAG_KEY_LIMIT = 50
# Members of the document whose values are no free text, so that no name can be in them.
VOCABULARY = re.compile(
    "schema|run_id|name|version|id|started_at|finished_at|model|vendor|board|architecture|flags|"
    "governor|virtualization|container|depth|tool|cipher|operation|method|acceleration|kind|mac|"
    "kex|compression|timing|derived_from|code|default_cipher"
)
NOBODY = ("root", "localhost", "openssl", "openssh", "libressl", "ssh", "sshd", "linux", "/root")
HOME_PATH = re.compile(r"(/(?:home|Users)/)[^/\s:;,=\"'<>()]+")


def own_names(targets: Sequence[str]) -> Set[str]:
    """Account, home directories and host names of this machine, and names of the far ends."""
    names = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")}
    homes = {os.path.expanduser("~")}
    with contextlib.suppress(KeyError):
        account = pwd.getpwuid(os.getuid())
        names.add(account.pw_name)
        homes.add(account.pw_dir)
    for host in (socket.gethostname(), platform.node()):
        names.update((host, host.split(".")[0]))
    for address in targets:
        names.update([address] + re.split(r"[@:/\[\]]", re.sub("^ssh://", "", address)))
    for home in filter(os.path.isabs, homes):
        names.update((home.rstrip("/"), os.path.realpath(home).rstrip("/")))
    return {name for name in names if len(name) > 1 and not name.isdigit()} - set(NOBODY)


def without_names(value: Any, names: Set[str], member: str = "") -> Any:
    """The value with home directories and these names left out of every free text in it."""
    if isinstance(value, dict) and member == "tags":  # whose keys are the user's own
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


Plan = Union[SshPlan, OpensslPlan]


class Run:
    """One execution of the agent: collects what becomes the run document."""

    def __init__(self, options: argparse.Namespace, progress: common.Progress) -> None:
        self.options = options
        self.progress = progress
        self.run_id = str(uuid.uuid4())
        self.started_at = common.utc_now()
        self.skipped = Skipped()
        self.series: List[Series] = []
        self.openssh: Json = {}
        self.pinned_cpus: Optional[Tuple[int, int]] = None
        self.ssh = find_program("ssh", options.ssh)
        self.sshd = find_program("sshd", options.sshd, SSHD_PLACES)
        self.openssl = find_program("openssl", options.openssl)
        self.able = openssl.SpeedAbilities(False, False)
        self.mask: Optional[Tuple[str, str]] = None
        self.interrupted: Optional[common.Interrupted] = None

    # Discovery

    def environment(self) -> Json:
        found = environment(self.ssh, self.openssl)
        self.openssh = found["openssh"]  # completed by what sshd says
        settings = found["openssl"]["cpu_settings"]
        self.mask = openssl.mask_variable(platform.machine(), settings)
        if self.openssl and "openssl" in self.options.tools:
            self.able = openssl.speed_abilities(self.openssl)
        return found

    def check_cipher_names(self) -> None:
        """A name that neither tool knows is a mistake worth stopping for."""
        known = list(openssl.OPENSSL_KNOWN + ssh_protocol.SSH_OLD_CIPHERS)
        if self.ssh and any(name not in known for name in self.options.ciphers or ()):
            known += ssh_protocol.offered_ciphers(self.ssh)
        for name in self.options.ciphers or ():
            if name not in known:
                longer = [one for one in known if one.startswith(name)]
                near = " or ".join(longer or difflib.get_close_matches(name, known))
                hint = "did you mean %s?" % near if near else "see `ssh -Q cipher` for those of ssh"
                words = (name, hint, ", ".join(openssl.OPENSSL_KNOWN))
                raise UsageError("unknown cipher %s; %s (openssl: %s)" % words)

    def wanted(self, ciphers: Sequence[str]) -> List[str]:
        asked = self.options.ciphers
        return [name for name in ciphers if asked is None or name in asked]

    def ssh_ciphers(self) -> List[str]:
        """The ciphers to measure with ssh; notes why there are none."""
        if "ssh" not in self.options.tools:
            return []
        if self.ssh is None:
            self.progress.note("ssh is not measured: no ssh was found in PATH (give --ssh PATH)")
            return []
        offered = ssh_protocol.offered_ciphers(self.ssh)
        asked = [one for one in self.options.ciphers or () if one in ssh_protocol.SSH_OLD_CIPHERS]
        for cipher in self.wanted(asked or ssh_protocol.SSH_BASELINES):
            if cipher not in offered:
                self.skipped.add("ssh", cipher, "this OpenSSH does not offer it")
        chosen = self.wanted(offered)
        if self.sshd is None and chosen and not self.options.targets:
            self.progress.note(SSHD_MISSING)
            for cipher in chosen:
                self.skipped.add("ssh", cipher, "no sshd on this machine")
            return []
        return chosen

    def openssl_ciphers(self) -> List[str]:
        if "openssl" not in self.options.tools:
            return []
        if self.openssl is None:
            text = "openssl is not measured: none was found in PATH (give --openssl PATH)"
            self.progress.note(text)
            return []
        every = self.options.ciphers is not None or self.options.depth.name == "thorough"
        return self.wanted(openssl.OPENSSL_KNOWN if every else openssl.OPENSSL_QUICK)

    def masked_ciphers(self, ciphers: Sequence[str]) -> List[str]:
        """Ciphers to repeat with the AES hardware turned off."""
        chosen = [name for name in openssl.MASKED_CIPHERS if name in ciphers and self.options.mask]
        if self.mask is None:
            reason = "no way is known to turn the AES hardware of %s off"
            reason %= platform.machine() or "this machine"
            for cipher in chosen:
                self.skipped.add("openssl", cipher, reason, "masked")
            return []
        return chosen

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
        foreign = reading(lambda: conditions.wait_until_quiet(limit, note), None)
        unread = conditions.MachineState(None, None, None)
        before = reading(conditions.machine_state, unread)
        if foreign is not None and foreign <= common.FOREIGN_LIMIT:
            self.pinned_cpus = reading(conditions.cpus_for_pinning, None)
        try:
            for plan in plans:
                if isinstance(plan, SshPlan) and not plan.server.label:
                    plan.cpus = self.pinned_cpus
                plan.run()
            ignore_signals()  # from here on there is a run to lose
        except common.Interrupted as signalled:
            self.interrupted = signalled
        for plan in plans:
            self.series += plan.results()
            if isinstance(plan, SshPlan):
                self.note_server(plan)
        self.progress.finish()
        samples = [sample for series in self.series for sample in series.samples]
        disturbances = len(list(filter(disturbed, samples))), len(samples)
        governor = environment["cpu"]["governor"]
        found: List[Json] = reading(
            lambda: conditions.conditions_of_run(
                foreign, before, conditions.machine_state(), disturbances, governor
            ),
            [],
        )
        if self.interrupted:
            text = "a signal (%d) ended the run before all was measured" % self.interrupted.signum
            found.append(conditions.condition("interrupted", text))
        return self.document(environment, found)

    def plans(self, ssh: Sequence[str], openssl_ciphers: Sequence[str]) -> List[Plan]:
        """What is to be measured with each far end, and with openssl."""
        options = self.options
        context = Context(options.depth, self.skipped, self.progress)
        plans: List[Plan] = []
        if ssh:
            channels = ssh_protocol.ssh_channels(ssh, options.macs, options.compression)
            plans += [SshPlan(end, channels, context) for end in self.far_ends()]
        if openssl_ciphers:
            masked = self.masked_ciphers(openssl_ciphers)
            rounds = openssl_rounds(
                options.depth, self.able, openssl_ciphers, masked, options.threads
            )
            plans.append(OpensslPlan(self.openssl or "", self.able, rounds, self.mask, context))
        return plans

    def far_ends(self) -> List[SshEnd]:
        """The targets, which an anonymous document calls by numbers; without any, our own sshd."""
        ssh, targets = self.ssh or "", self.options.targets
        if not targets:
            return [PrivateServer(ssh, self.sshd or "")]
        shown = targets
        if self.options.anonymous:
            shown = ["remote %d" % (at + 1) for at in range(len(targets))]
        return [RemoteHost(ssh, *both) for both in zip(targets, shown)]

    def announce(self, plans: Sequence[Plan], ssh: int, openssl: int) -> None:
        """Print the estimate and give the progress line its plan."""
        depth = self.options.depth
        for plan in plans:
            self.progress.plan(*plan.cost())
        if plans:
            text = "Measuring %d ssh and %d openssl ciphers (%s); this takes %s %s."
            about = "about" if depth.stable is None else "at most about"
            words = common.in_words(self.progress.planned)
            self.progress.note(text % (ssh, openssl, depth.name, about, words))

    def note_server(self, plan: SshPlan) -> None:
        """Keep what was learned about sshd; its version only where there is a single target."""
        if len(self.options.targets) < 2:
            self.openssh["server"] = plan.server.version
        if not plan.server.label:
            self.openssh["server_library"] = plan.server.library
            default = self.openssh["default_cipher"] or plan.default_cipher
            self.openssh["default_cipher"] = default

    def document(self, environment: Json, found: List[Json]) -> Json:
        options = self.options
        own_name = options.name or socket.gethostname() or "unnamed"
        document: Dict[str, Any] = {
            "schema": common.SCHEMA,
            "run_id": self.run_id,
            "agent": {"name": "ciphermark-agent", "version": __version__},
            "started_at": self.started_at,
            "finished_at": common.utc_now(),
            "host": {
                "name": own_name[:200],
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
            "conditions": found,
            "measurements": [series.document() for series in self.series],
            "skipped": self.skipped.document(),
        }
        if not options.anonymous:
            return document
        document["host"]["name"] = "anonymous-" + self.run_id[:8]
        names = own_names(options.targets) - {environment["os"]["id"] or ""}
        return dict(without_names(document, names))
