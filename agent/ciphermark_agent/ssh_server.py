"""The far ends of ssh: a private sshd on loopback, or a real host."""

import contextlib
import fcntl
import glob
import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
import uuid
from typing import Any, Dict, Iterator, List, Optional

from ciphermark_agent import children, ssh_protocol
from ciphermark_agent.children import become_subreaper, read_text, run_tool
from ciphermark_agent.common import MIB, WORK_PREFIX, Json, TryFailed, cut, one_line
from ciphermark_agent.machine import parse_ssh_library, parse_ssh_version
from ciphermark_agent.ssh_connection import (
    REMOTE_WARM_UP_SECONDS,
    WARM_UP_SECONDS,
    Transfer,
    Usage,
)
from ciphermark_agent.ssh_protocol import HOST_ALIAS, Channel, Negotiated, version_number


def sweep_stale_folders() -> None:
    """Remove what an agent of ours left that was killed with SIGKILL."""
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), WORK_PREFIX + "*")):
        with contextlib.suppress(OSError):
            status = os.lstat(folder)
            ours = status.st_uid == os.getuid() and stat.S_ISDIR(status.st_mode)
            if ours and os.path.exists(os.path.join(folder, "owner")):
                with locked(folder):  # its agent is gone
                    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Meanwhile no other agent locks it; BlockingIOError where one does already."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


class SshEnd:
    """The far end of ssh connections, and the folder with their logs."""

    target: Json = {"kind": "loopback", "name": None}
    label = ""  # what the user calls a remote one
    warm_up_seconds = WARM_UP_SECONDS
    pilots = 2  # of each channel

    def __init__(self, ssh: str) -> None:
        self.ssh = ssh
        self.folder = "FOLDER"  # until there is one
        self.holding = contextlib.ExitStack()
        self.marker = uuid.uuid4().hex[:12]
        self.inherits_orphans = become_subreaper()
        self.version: Optional[str] = None
        self.library: Optional[str] = None
        self.negotiated = Negotiated(None, None, None, None)  # of the latest connection
        self.connection_cpu = 0.0  # seconds of the client for one that carries nothing
        self.client_env: Dict[str, str] = {}

    def __enter__(self) -> Any:
        try:
            self.folder = tempfile.mkdtemp(prefix=WORK_PREFIX)
        except OSError as error:
            raise TryFailed("no temporary directory can be made: %s" % error)
        # Locked, then marked: the kernel frees it however we end, for `sweep_stale_folders`.
        self.holding.enter_context(locked(self.folder))
        self.write("owner", "")
        return self

    def __exit__(self, *_: object) -> None:
        self.holding.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, text: str) -> None:
        if children.shown is not None:
            children.shown.append("# %s:" % self.path(name))
            children.shown.extend("#   " + line for line in text.splitlines())
            return
        with open(self.path(name), "w") as file:
            file.write(text)

    def read(self, name: str) -> str:
        return read_text(self.path(name)) or ""

    def command(self, channel: Channel, port: int) -> List[str]:
        raise NotImplementedError  # each kind of server has its own

    def prepare(self) -> None:
        """What is needed before the first connection; TryFailed says why it is not there."""

    def first_connection(self) -> Negotiated:
        """A connection that carries nothing; returns the default algorithms."""
        self.connection_cpu = self.zero_connect().client_cpu
        if self.version is None:  # the banner leaves the patch level out
            banners = re.findall(r"remote software version (\S.*)", self.read("ssh.log"))
            self.version = cut(banners[-1]) if banners else None
        return self.negotiated

    def zero_connect(self) -> Usage:
        with Transfer(self, Channel(None), subprocess.DEVNULL, None) as transfer:
            transfer.wait_for("R")
            return transfer.finish()


class PrivateServer(SshEnd):
    """Keys, configuration and programs for connections to a private sshd."""

    def __init__(self, ssh: str, sshd: str) -> None:
        super().__init__(ssh)
        self.sshd = sshd
        self.use_pam = False
        self.user = ""

    def command(self, channel: Channel, port: int) -> List[str]:
        return ssh_protocol.client_command(
            self.ssh, self.folder, self.user, port, channel, self.marker
        )

    def server_command(self, channel: Channel) -> List[str]:
        command = [self.sshd, "-i", "-e", "-f", self.path("sshd_config")]
        return command + channel.server_options(version_number(self.version))

    def explain(self, received: str) -> str:
        """Why a connection gave no figure; `received` is what the far side printed."""
        logs = self.read("ssh.log"), self.read("sshd.log")
        return ssh_protocol.explain_failure(*logs, received)

    def prepare(self) -> None:
        """Make keys and a configuration that this sshd accepts; TryFailed says why not."""
        try:
            self.user = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            raise TryFailed("user id %d has no account in the passwd file" % os.getuid())
        said = run_tool([self.sshd, "-?"]).err
        self.version, self.library = parse_ssh_version(said), parse_ssh_library(said)
        self.make_key("host_key")
        self.make_key("user_key")
        self.write("known_hosts", "%s %s" % (HOST_ALIAS, self.read("host_key.pub")))
        limits = 'from="127.0.0.1",no-pty,no-port-forwarding,no-agent-forwarding,no-X11-forwarding '
        self.write("authorized_keys", limits + self.read("user_key.pub"))
        self.configure()

    def make_key(self, name: str) -> None:
        """ed25519, or RSA where that is not allowed (FIPS)."""
        beside = os.path.join(os.path.dirname(self.ssh), "ssh-keygen")
        keygen = beside if os.access(beside, os.X_OK) else "ssh-keygen"
        command = [keygen, "-q", "-N", "", "-C", HOST_ALIAS, "-f", self.path(name), "-t"]
        answer = run_tool(command + ["ed25519"])
        if answer.status != 0:
            answer = run_tool(command + ["rsa", "-b", "3072"])
        if answer.status != 0:
            raise TryFailed("ssh-keygen failed: " + one_line(answer.err))

    def configure(self) -> None:
        """Write sshd_config, and the directory that it wants as root (made at each boot)."""
        version = version_number(self.version)
        text = ssh_protocol.sshd_configuration(self.folder, version, self.use_pam)
        self.write("sshd_config", text)
        check = [self.sshd, "-t", "-f", self.path("sshd_config")]
        answer = run_tool(check)
        missing = re.search(r"Missing privilege separation directory: (\S+)", answer.err)
        if missing:
            with contextlib.suppress(OSError):  # then sshd says that it is still missing
                os.mkdir(missing.group(1), 0o755)
            answer = run_tool(check)
        if "Privilege separation user" in answer.err:
            raise TryFailed(
                "as root this sshd needs an account named sshd; install "
                "openssh-server, or run the agent as an ordinary user"
            )
        if answer.status != 0:
            raise TryFailed("%s: %s" % (self.sshd, one_line(answer.err)))

    def zero_connect(self) -> Usage:
        try:
            return super().zero_connect()
        except TryFailed:
            if self.use_pam or "account is locked" not in self.read("sshd.log"):
                raise
        self.use_pam = True
        self.configure()
        return self.zero_connect()


REMOTE_FAILURES = (
    (
        "Permission denied",
        "the login was refused, and BatchMode asks for no password: set up a key",
    ),
    (
        "Host key verification failed",
        "its host key is not known: connect once by hand and accept it",
    ),
    ("Unknown cipher type", "this ssh does not know it"),
)


class RemoteHost(SshEnd):
    """A real remote end, reached as the user reaches it: with the user's own configuration."""

    warm_up_seconds = REMOTE_WARM_UP_SECONDS
    pilots = 1  # the client's CPU seconds hardly scatter

    def __init__(self, ssh: str, address: str, shown: str) -> None:
        super().__init__(ssh)
        self.address = address
        self.client_version = version_number(None)
        self.inherits_orphans = False  # its CPU time cannot be told from here
        self.label = shown
        if "SSH_AUTH_SOCK" in os.environ:  # the user's ssh agent, of no use to a private sshd
            self.client_env["SSH_AUTH_SOCK"] = os.environ["SSH_AUTH_SOCK"]
        self.target = {"kind": "remote", "name": shown}

    def prepare(self) -> None:
        self.client_version = version_number(run_tool([self.ssh, "-V"]).err)

    def command(self, channel: Channel, port: int) -> List[str]:
        return ssh_protocol.remote_client_command(
            self.ssh, self.address, channel, self.marker, self.client_version
        )

    def explain(self, received: str) -> str:
        """Why it refused, in words; what would name the host only if the run may."""
        log = self.read("ssh.log")
        if os.path.getsize(self.path("ssh.log")) >= children.LOG_BYTES:
            return "the far end made ssh write a log of %d MiB" % (children.LOG_BYTES // MIB)
        offer = re.search(r"no matching (\S+) found\. Their offer: (\S+)", log)
        if offer:
            return "the remote sshd refuses this %s (it offers %.500s)" % offer.groups()
        for sign, words in REMOTE_FAILURES:
            if sign in log:
                return words
        return one_line(log) if self.label == self.address else "the connection failed"
