"""One run: discover, measure, build the document."""

import argparse
import contextlib
import os
import platform
import pwd
import re
import socket
import uuid
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from ciphermark_agent import __version__, common, conditions, openssl, ssh_server
from ciphermark_agent.children import PACKAGES, SSHD_PLACES, find_program, ignore_signals
from ciphermark_agent.common import Json, UsageError, reading
from ciphermark_agent.environment import environment, machine_id
from ciphermark_agent.openssl import OpensslPlan
from ciphermark_agent.ssh_server import PrivateServer, RemoteHost, SshEnd
from ciphermark_agent.ssh_tries import SshPlan
from ciphermark_agent.tries import Plan, Series, Skipped, disturbed

SSHD_MISSING = (
    "ssh is not measured: no sshd was found (looked in PATH, %s): install %s, or give the path of "
    "one with --sshd (on Debian and Ubuntu `make run` of Ciphermark unpacks one by itself)"
) % (", ".join(SSHD_PLACES), PACKAGES["sshd"])
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
    if isinstance(value, dict):
        if member == "tags":  # whose names are the user's own
            pairs = without_names([list(pair) for pair in value.items()], names)
            return {name[:50]: text for name, text in pairs}
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
        known = {*openssl.OPENSSL_KNOWN, *ssh_server.SSH_OLD_CIPHERS}
        if self.ssh and not known.issuperset(self.options.ciphers or ()):
            known.update(ssh_server.offered_ciphers(self.ssh))
        for name in self.options.ciphers or ():
            if name not in known:
                near = [one for one in sorted(known) if one.startswith(name[:-1] or name)]
                hint = "did you mean %s?" % " or ".join(near) if near else "see `ssh -Q cipher`"
                words = (name, hint, ", ".join(openssl.OPENSSL_KNOWN))
                raise UsageError("unknown cipher %s; %s (openssl: %s)" % words)

    def wanted(self, ciphers: Sequence[str]) -> List[str]:
        asked = self.options.ciphers
        return [name for name in ciphers if asked is None or name in asked]

    def is_there(self, tool: str, path: Optional[str]) -> bool:
        """Whether to measure with this tool; notes that it is not found."""
        if tool in self.options.tools and path is None:
            text = "{0} is not measured: no {0} was found in PATH (give --{0} PATH)"
            self.progress.note(text.format(tool))
        return tool in self.options.tools and path is not None

    def ssh_ciphers(self) -> List[str]:
        """The ciphers to measure with ssh; notes why there are none."""
        if not self.is_there("ssh", self.ssh):
            return []
        offered = ssh_server.offered_ciphers(self.ssh or "")
        asked = [one for one in self.options.ciphers or () if one in ssh_server.SSH_OLD_CIPHERS]
        for cipher in self.wanted(asked or ssh_server.SSH_BASELINES):
            if cipher not in offered:
                self.skipped.add("ssh", cipher, "this OpenSSH does not offer it")
        chosen = self.wanted(offered)
        if chosen and self.sshd is None and not self.options.targets:
            self.progress.note(SSHD_MISSING)
            for cipher in chosen:
                self.skipped.add("ssh", cipher, "no sshd on this machine")
            return []
        return chosen

    def openssl_ciphers(self) -> List[str]:
        if not self.is_there("openssl", self.openssl):
            return []
        every = self.options.ciphers is not None or self.options.depth.name == "thorough"
        return self.wanted(openssl.OPENSSL_KNOWN if every else openssl.OPENSSL_QUICK)

    def masked_ciphers(self, ciphers: Sequence[str]) -> List[str]:
        """Ciphers to repeat with the AES hardware turned off."""
        chosen = [name for name in openssl.MASKED_CIPHERS if name in ciphers and self.options.mask]
        if self.mask is None:
            reason = "no way is known to turn the AES hardware of %s off"
            for cipher in chosen:
                machine = platform.machine() or "this machine"
                self.skipped.add("openssl", cipher, reason % machine, "masked")
            return []
        return chosen

    def plans(self, ssh: Sequence[str], openssl_ciphers: Sequence[str]) -> List[Plan]:
        """What is to be measured with each far end, and with openssl."""
        options = self.options
        context = (options.depth, self.skipped, self.progress)
        plans: List[Plan] = []
        if ssh:
            channels = ssh_server.ssh_channels(ssh, options.macs, options.compression)
            plans += [SshPlan(end, channels, *context) for end in self.far_ends()]
        if openssl_ciphers:
            masked = self.masked_ciphers(openssl_ciphers)
            asked = (openssl_ciphers, masked, options.threads)
            rounds = openssl.openssl_rounds(options.depth, self.able, *asked)
            plans.append(OpensslPlan(self.openssl or "", self.able, rounds, self.mask, *context))
        return plans

    def far_ends(self) -> List[SshEnd]:
        """The targets, which an anonymous document calls by numbers; without any, our own sshd."""
        ssh, targets = self.ssh or "", self.options.targets
        shown = targets
        if self.options.anonymous:
            shown = ["remote %d" % (at + 1) for at in range(len(targets))]
        remote: List[SshEnd] = [RemoteHost(ssh, *both) for both in zip(targets, shown)]
        return remote or [PrivateServer(ssh, self.sshd or "")]

    # Measuring

    def measure(self) -> Json:
        """Everything; returns the run document, whose measurements may be empty."""
        self.check_cipher_names()
        environment = self.environment()
        ciphers = self.ssh_ciphers(), self.openssl_ciphers()
        plans = self.plans(*ciphers)
        self.announce(plans, *map(len, ciphers))
        limit, note = self.options.depth.wait_seconds, self.progress.note
        foreign = reading(lambda: conditions.wait_until_quiet(limit, note), None)
        before = reading(conditions.machine_state, conditions.MachineState())
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
        governor = environment["cpu"].get("governor")

        def doubts() -> List[Json]:
            after = conditions.machine_state()
            return conditions.conditions_of_run(foreign, before, after, disturbances, governor)

        found = reading(doubts, [])
        if self.interrupted:
            text = "a signal (%d) ended the run before all was measured" % self.interrupted.signum
            found.append(conditions.condition("interrupted", text))
        return self.document(environment, found)

    def announce(self, plans: Sequence[Plan], ssh: int, openssl: int) -> None:
        """Print the estimate and give the progress line its plan."""
        depth = self.options.depth
        for plan in plans:
            self.progress.plan(*plan.cost())
        if plans:
            text = "Measuring %d ssh and %d openssl ciphers (%s); this takes %s %s."
            about = "about" if depth.stable is None else "at most about"
            words = "%d min %d s" % divmod(round(self.progress.planned), 60)
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
        document: Dict[str, Any] = {
            "schema": common.SCHEMA,
            "run_id": self.run_id,
            "agent": {"name": "ciphermark-agent", "version": __version__},
            "started_at": self.started_at,
            "finished_at": common.utc_now(),
            "host": {
                "name": (options.name or socket.gethostname() or "unnamed")[:200],
                "machine_id": None if options.anonymous else machine_id(),
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
        names = own_names(options.targets) - {environment["os"].get("id")}
        return dict(without_names(document, names))
