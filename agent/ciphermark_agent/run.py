import argparse
import contextlib
import os
import platform
import pwd
import re
import socket
import uuid
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple, Union

from ciphermark_agent import __version__, common, conditions, openssl, ssh_server
from ciphermark_agent.children import SSHD_PLACES, find_program, ignore_signals
from ciphermark_agent.common import Json, TryFailed, UsageError, reading
from ciphermark_agent.environment import default_cipher, environment, machine_id
from ciphermark_agent.openssl import OpensslPlan
from ciphermark_agent.ssh_server import PrivateServer, RemoteHost
from ciphermark_agent.ssh_tries import SshPlan
from ciphermark_agent.tries import Series, Skipped, disturbed

# Why a tool is skipped, and the remedy.
MISSING = {
    "ssh": ("ssh not found", ". Install openssh-client or use --ssh PATH."),
    "openssl": ("openssl not found", ". Install openssl or use --openssl PATH."),
    "sshd": ("sshd not found", ". Install openssh-server or use --sshd PATH."),
}
# Members of the document with text from other programs or the user.
FREE_TEXT = "reason detail built_on platform options compiler kernel tags client server".split()
ToolPlan = Union[SshPlan, OpensslPlan]
COMMON_NAMES = set("root localhost openssl openssh libressl ssh sshd linux /root".split())
HOME_PATH = re.compile(r"(/(?:home|Users)/)[^/\s:;,=\"'<>()]+")


def own_names() -> Set[str]:
    host, home = socket.gethostname(), os.path.expanduser("~")
    names = {host, host.split(".")[0], home, os.path.realpath(home)}
    names.update(os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER"))
    with contextlib.suppress(KeyError):
        account = pwd.getpwuid(os.getuid())
        names.update((account.pw_name, account.pw_dir))
    return {name for name in names if len(name) > 1 and not name.isdigit()} - COMMON_NAMES


def without_names(value: Any, names: Set[str], member: str = "") -> Any:
    """In the members `FREE_TEXT`, replace `names`, and user names in home paths, with NAME."""
    if isinstance(value, dict):
        inside = {key: "tags" if member == "tags" else key for key in value}
        return {key: without_names(value[key], names, inside[key]) for key in value}
    if isinstance(value, list):
        return [without_names(inner, names, member) for inner in value]
    if not isinstance(value, str) or member not in FREE_TEXT:
        return value
    text = HOME_PATH.sub(r"\1NAME", value)
    for name in sorted(names, key=len, reverse=True):
        before = "" if name.startswith("/") else "(?<![a-z0-9])"
        text = re.sub(f"(?i){before}{re.escape(name)}(?![a-z0-9])", "NAME", text)
    return text


class Run:
    def __init__(self, options: argparse.Namespace, progress: common.Progress) -> None:
        self.options = options
        self.progress = progress
        self.run_id = str(uuid.uuid4())
        self.started_at = common.utc_now()
        self.skipped = Skipped()
        self.series: List[Series] = []
        self.pinned_cpus: Optional[Tuple[int, int]] = None
        self.ssh = find_program("ssh", options.ssh)
        self.sshd = find_program("sshd", options.sshd, SSHD_PLACES)
        self.openssl = find_program("openssl", options.openssl)
        self.inspected = openssl.Openssl(self.openssl or "openssl")
        self.interrupted: Optional[common.Interrupted] = None

    def has_tools(self) -> bool:
        ssh = "ssh" in self.options.tools and self.ssh and (self.sshd or self.options.targets)
        return bool(ssh or ("openssl" in self.options.tools and self.openssl))

    def skip(self, tool: str, reason: str, remedy: str = "") -> List[str]:
        names = self.options.ciphers or ()
        own = [name for name in names if (name in openssl.OPENSSL_KNOWN) == (tool == "openssl")]
        if tool in self.options.tools and (own or not names):
            for cipher in own or [None]:
                self.skipped.add(tool, cipher, reason)
            self.progress.note("Skipping %s (%s)%s" % (tool, reason, remedy))
        return []

    def wanted(self, ciphers: Sequence[str]) -> List[str]:
        names = self.options.ciphers
        return [name for name in ciphers if names is None or name in names]

    def ssh_ciphers(self) -> List[str]:
        """Return the ciphers to measure with ssh. Raise `UsageError` for an unknown cipher."""
        if self.ssh is None:
            return self.skip("ssh", *MISSING["ssh"])
        try:
            offered = ssh_server.offered_ciphers(self.ssh)
        except TryFailed as error:
            return self.skip("ssh", str(error))
        known = {*offered, *openssl.OPENSSL_KNOWN, *ssh_server.SSH_OLD_CIPHERS}
        for name in self.options.ciphers or ():
            if name not in known:
                near = [other for other in sorted(known) if other.startswith(name[:-1] or name)]
                hint = "did you mean %s?" % " or ".join(near) if near else "see `ssh -Q cipher`"
                others = ", ".join(openssl.OPENSSL_KNOWN)
                raise UsageError(f"unknown cipher {name}; {hint}\nopenssl ciphers: {others}")
        if "ssh" not in self.options.tools:
            return []
        if self.sshd is None and not self.options.targets and self.wanted(offered):
            return self.skip("ssh", *MISSING["sshd"])
        named = self.options.ciphers is not None
        former = ssh_server.SSH_OLD_CIPHERS if named else ssh_server.SSH_BASELINES
        for cipher in self.wanted([name for name in former if name not in offered]):
            self.skipped.add("ssh", cipher, "this OpenSSH does not offer it")
        return self.wanted(offered)

    def openssl_ciphers(self) -> List[str]:
        if "openssl" not in self.options.tools:
            return []
        if self.openssl is None:
            return self.skip("openssl", *MISSING["openssl"])
        try:
            self.inspected = openssl.inspect_openssl(self.openssl)
        except TryFailed as error:
            self.openssl = None  # the program hangs
            return self.skip("openssl", str(error))
        every = self.options.ciphers is not None or self.options.depth.name == "thorough"
        return self.wanted(openssl.OPENSSL_KNOWN if every else openssl.OPENSSL_QUICK)

    def environment(self) -> Json:
        facts = environment(self.ssh, self.openssl)
        if self.ssh:
            facts["openssh"]["default_cipher"], fault = default_cipher(self.ssh)
            if fault:
                self.skipped.add("ssh", None, "default cipher unknown: " + fault)
        mask = openssl.mask_variable(platform.machine(), facts["openssl"]["cpu_settings"])
        self.inspected = self.inspected._replace(mask=mask)
        return facts

    def plans(self, ssh: Sequence[str], openssl_ciphers: Sequence[str]) -> List[ToolPlan]:
        options = self.options
        context = (options.depth, self.skipped, self.progress)
        plans: List[ToolPlan] = []
        if ssh:
            channels = ssh_server.ssh_channels(ssh, options.macs, options.compression)
            for number, target in enumerate(options.targets):
                label = "remote %d" % (number + 1) if options.anonymous else target
                host = RemoteHost(self.ssh or "", target, label)
                plans.append(SshPlan(host, channels, *context))
            if not plans:
                loopback = PrivateServer(self.ssh or "", self.sshd or "")
                plans.append(SshPlan(loopback, channels, *context))
        if openssl_ciphers:
            wanted = openssl.MASKED_CIPHERS if options.mask else ()
            masked = [name for name in wanted if name in openssl_ciphers]
            if self.inspected.mask is None:
                reason = "cannot disable AES hardware on this CPU"
                for cipher in masked:
                    self.skipped.add("openssl", cipher, reason, "masked")
                masked = []
            plans.append(OpensslPlan(self.inspected, openssl_ciphers, masked, *context))
        return plans

    def measure(self) -> Json:
        ciphers = self.ssh_ciphers(), self.openssl_ciphers()
        environment = self.environment()
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
            ignore_signals()  # from here on, a signal would lose the run
        except common.Interrupted as signalled:
            self.interrupted = signalled
        for plan in plans:
            self.series += plan.results()
            if isinstance(plan, SshPlan) and len(self.options.targets) < 2:
                server = plan.server
                environment["openssh"].update(server=server.version, server_library=server.library)
        self.progress.finish()
        tries = [disturbed(sample) for series in self.series for sample in series.samples]
        facts = (foreign, before, (sum(tries), len(tries)))
        doubts = reading(lambda: dict(conditions.conditions_of_run(*facts)), {})
        if self.interrupted:
            number = self.interrupted.args[0]
            doubts["interrupted"] = "signal %d ended the run early" % number
        return self.document(environment, doubts)

    def announce(self, plans: Sequence[ToolPlan], ssh: int, openssl: int) -> None:
        for plan in plans:
            self.progress.plan(*plan.cost())
        depth, minutes = self.options.depth, divmod(round(self.progress.planned), 60)
        about = "about" if depth.stable is None else "at most about"
        text = "Measuring %d ssh and %d openssl ciphers (%s). This takes %s %d min %d s."
        if plans:
            self.progress.note(text % (ssh, openssl, depth.name, about, *minutes))

    def document(self, environment: Json, doubts: Dict[str, str]) -> Json:
        options, host = self.options, socket.gethostname()[:200]
        document: Json = {
            "schema": common.SCHEMA,
            "run_id": self.run_id,
            "agent": {"name": "ciphermark-agent", "version": __version__},
            "started_at": self.started_at,
            "finished_at": common.utc_now(),
            "host": {"name": options.name or host or "unnamed", "machine_id": machine_id()},
            "tags": dict(options.tags),
            "settings": {
                "depth": options.depth.name,
                "tries": options.depth.tries,
                "pinned_cpus": list(self.pinned_cpus) if self.pinned_cpus else None,
            },
            "environment": environment,
            "conditions": [{"code": code, "detail": text} for code, text in doubts.items()],
            "measurements": [{**series.facts, "samples": series.samples} for series in self.series],
            "skipped": list(self.skipped.entries.values()),
        }
        if not options.anonymous:
            return document
        document["host"] = {"name": "anonymous-" + self.run_id[:8], "machine_id": None}
        names = own_names() - {environment["os"].get("id")}
        return dict(without_names(document, names))
