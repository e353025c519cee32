import contextlib
import fcntl
import glob
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import uuid
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ciphermark_agent import children
from ciphermark_agent.children import become_subreaper, read_text, run_tool
from ciphermark_agent.common import MIB, Json, TryFailed, cut, explain, one_line
from ciphermark_agent.conditions import locked
from ciphermark_agent.environment import parse_ssh_version
from ciphermark_agent.ssh_connection import Channel, Negotiated, Transfer, Usage

WORK_PREFIX = "ciphermark-agent-"
HOST_ALIAS = "ciphermark"
DEFAULT_MAC = "default"  # in --macs: the client's choice
SSH_BASELINES = ("arcfour", "blowfish-cbc", "3des-cbc")
# Ciphers that OpenSSH has removed or may remove; --ciphers accepts them on every host.
SSH_OLD_CIPHERS = (*SSH_BASELINES, "arcfour128", "arcfour256", "cast128-cbc")
CIPHER_NAME = re.compile(r"[a-z0-9][a-z0-9@._/+-]{0,99}$")
CIPHERS_LIMIT = 200  # per ssh; each is measured twice
FAILURES = (
    ("no matching cipher", "refused by this sshd"),
    ("Unknown cipher type", "unknown to this ssh"),
    ("cipher spec", "unknown to this sshd"),
    ("mac spec", "MAC unknown to this sshd"),
    ("account is locked", "the account is locked, and this sshd rejects locked accounts"),
    ("account is currently not available", "the account has no login shell"),
    ("This account is not available", "the account has no login shell"),
    ("setgroups: Operation not permitted", "sshd requires a real user, not this container's root"),
    ("No user exists for uid", "this user ID has no account in the passwd file"),
    ("Privilege separation user", "sshd requires an account named sshd; install openssh-server"),
)
REMOTE_FAILURES = (
    ("Permission denied", "login refused; set up a key without a passphrase"),
    ("Host key verif", "unknown host key; connect once with ssh and accept it"),
    *FAILURES,
)
# Parsed here because ssh rejects IPv6 addresses in URLs, and before 7.7 all URLs.
SSH_ADDRESS = re.compile(
    r"ssh://(?:([^\s@/-][^\s@/]*)@)?(\[[0-9a-fA-F:.]+\]|[^\s@:/[\]-][^\s@:/[\]]*)(?::([0-9]{1,5}))?/?$"
)


def address_words(address: str) -> List[str]:
    match = SSH_ADDRESS.match(address)
    if match is None:
        return [address]
    user, host, port = match.groups()
    words = ["-l", user] if user else []
    return words + (["-p", port] if port else []) + [host.strip("[]")]


def version_number(text: Optional[str]) -> Tuple[int, int]:
    match = re.search(r"OpenSSH_([0-9]{1,4})\.([0-9]{1,4})", text or "")
    return (int(match.group(1)), int(match.group(2))) if match else (99, 0)


def offered_ciphers(ssh: str) -> List[str]:
    answer = run_tool([ssh, "-Q", "cipher"])
    lines = [line.strip().lower() for line in answer.out.splitlines()]
    names = list(dict.fromkeys(filter(CIPHER_NAME.match, lines)))
    if answer.status != 0 or not names:
        otherwise = "ssh -Q cipher failed: " + one_line(answer.err)
        raise TryFailed(explain(answer.err, FAILURES, otherwise))
    return names[:CIPHERS_LIMIT]


def ssh_channels(ciphers: Sequence[str], macs: Sequence[str], compression: bool) -> List[Channel]:
    channels = []
    for cipher in ciphers:
        authenticates = "gcm" in cipher or "poly1305" in cipher  # without a MAC
        for mac in (not authenticates and macs) or [DEFAULT_MAC]:
            plain = Channel(cipher, None if mac == DEFAULT_MAC else mac)
            channels += [plain, plain._replace(compression=True)][: 1 + compression]
    return channels


def sweep_stale_folders() -> None:
    """Remove the temporary folders of killed agents. Running agents hold a lock on their folder."""
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), WORK_PREFIX + "*/")):
        with contextlib.suppress(OSError):
            if os.lstat(folder.rstrip("/")).st_uid == os.getuid():
                with locked(folder, fcntl.LOCK_NB):
                    shutil.rmtree(folder.rstrip("/"), ignore_errors=True)


class SshEnd:
    target: Json = {"kind": "loopback", "name": None}
    label = ""  # the user's name for a remote host
    warm_up_seconds = 0.3
    pilots = 2  # of each channel

    def __init__(self, ssh: str) -> None:
        self.ssh = ssh
        self.folder = "FOLDER"  # in a dry run
        self.lock = contextlib.ExitStack()
        self.marker = uuid.uuid4().hex[:12]
        self.inherits_orphans = become_subreaper()
        self.version: Optional[str] = None
        self.library: Optional[str] = None
        self.negotiated = Negotiated()  # of the latest connection
        self.connection_cpu = 0.0  # client CPU seconds of an empty connection
        self.client_env: Dict[str, str] = {}

    def __enter__(self) -> Any:
        self.folder = tempfile.mkdtemp(prefix=WORK_PREFIX)
        self.lock.enter_context(locked(self.folder, fcntl.LOCK_NB))
        return self

    def __exit__(self, *_: object) -> None:
        self.lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, text: str) -> None:
        if children.shown is not None:
            lines = text.splitlines()
            children.shown += ["# %s:" % self.path(name), *("#   " + line for line in lines)]
            return
        with open(self.path(name), "w") as file:
            file.write(text)

    def read(self, name: str) -> str:
        return read_text(self.path(name)) or ""

    def client_words(self, port: str) -> Tuple[List[str], str, List[str]]:
        raise NotImplementedError

    def command(self, channel: Channel, port: str) -> List[str]:
        # The remote command reports when it can receive and when it has received everything. The
        # marker distinguishes these reports from a login shell's output.
        first, options, address = self.client_words(port)
        words = [self.ssh, *first, "-v", "-T", "-a", "-x"]
        for option in options.split():
            words += ["-o", option]
        script = "printf R{0}; cat >/dev/null; printf D{0}".format(self.marker)
        return [*words, *channel.options(), *address, script]

    def first_connection(self) -> None:
        self.connection_cpu = self.empty_connection().client_cpu
        if self.version is None:  # the banner lacks the patch level
            banners = re.findall(r"remote software version (\S.*)", self.read("ssh.log"))
            self.version = cut(banners[-1]) if banners else None

    def empty_connection(self) -> Usage:
        with Transfer(self, Channel(None), subprocess.DEVNULL, None) as transfer:
            transfer.wait_for("R")
            return transfer.finish()


def sshd_configuration(folder: str, version: Tuple[int, int], use_pam: bool) -> str:
    lines = [
        "HostKey %s/host_key" % folder,
        "AuthorizedKeysFile %s/authorized_keys" % folder,
        "StrictModes no",  # a parent folder may be group-writable
        "UsePAM %s" % ("yes" if use_pam else "no"),
        "PidFile none",
        "PasswordAuthentication no",
        "PermitRootLogin without-password",
        "PermitUserRC no",
        "PrintMotd no",
        "LogLevel INFO",  # reports locked accounts
        "UseDNS no",
    ]
    # Required for an sshd that does not run as root.
    lines += ["UsePrivilegeSeparation no"] if version < (7, 5) else []
    # Started by sshd at shell level 0, bash would read ~/.bashrc; this sets level 1.
    lines += ["SetEnv SHLVL=1"] if version >= (7, 8) else []
    return "\n".join(lines) + "\n"


class PrivateServer(SshEnd):
    def __init__(self, ssh: str, sshd: str) -> None:
        super().__init__(ssh)
        self.sshd = sshd
        self.use_pam = False
        self.user = ""

    def client_words(self, port: str) -> Tuple[List[str], str, List[str]]:
        first = ["-F", "/dev/null", "-i", self.path("user_key"), "-p", port, "-l", self.user]
        options = "IdentitiesOnly=yes BatchMode=yes StrictHostKeyChecking=yes ControlMaster=no"
        options += " ControlPath=none PreferredAuthentications=publickey"
        options += " GlobalKnownHostsFile=/dev/null UserKnownHostsFile=" + self.path("known_hosts")
        return first, options + " HostKeyAlias=" + HOST_ALIAS, ["127.0.0.1"]

    def server_command(self, channel: Channel) -> List[str]:
        command = [self.sshd, "-i", "-e", "-f", self.path("sshd_config")]
        return command + channel.server_options()

    def explain(self, received: str) -> str:
        logs = [self.read("ssh.log"), self.read("sshd.log")]
        ssh_line, sshd_line = map(one_line, logs)
        refused = ("Permission denied", "sshd refused the temporary key: " + sshd_line)
        otherwise = f"{ssh_line} (sshd: {sshd_line})"
        return explain("\n".join([*logs, received]), [*FAILURES, refused], otherwise)

    def prepare(self) -> None:
        try:
            self.user = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            raise TryFailed("user ID %d has no account in the passwd file" % os.getuid())
        self.version, self.library = parse_ssh_version(run_tool([self.sshd, "-?"]).err)
        self.make_key("host_key")
        self.make_key("user_key")
        self.write("known_hosts", "%s %s" % (HOST_ALIAS, self.read("host_key.pub")))
        limits = 'from="127.0.0.1",no-pty,no-port-forwarding,no-agent-forwarding,no-X11-forwarding '
        self.write("authorized_keys", limits + self.read("user_key.pub"))
        self.configure()

    def make_key(self, name: str) -> None:
        beside = os.path.join(os.path.dirname(self.ssh), "ssh-keygen")
        keygen = beside if os.access(beside, os.X_OK) else "ssh-keygen"
        command = [keygen, "-q", "-N", "", "-C", HOST_ALIAS, "-f", self.path(name), "-t"]
        for kind in (["ed25519"], ["rsa", "-b", "3072"]):  # FIPS mode forbids Ed25519
            answer = run_tool(command + kind)
            if answer.status == 0:
                return
        raise TryFailed("ssh-keygen failed: " + one_line(answer.err))

    def configure(self) -> None:
        version = version_number(self.version)
        self.write("sshd_config", sshd_configuration(self.folder, version, self.use_pam))
        check = [self.sshd, "-t", "-f", self.path("sshd_config")]
        answer = run_tool(check)
        missing = re.search(r"Missing privilege separation directory: (\S+)", answer.err)
        if missing:
            with contextlib.suppress(OSError):  # sshd then reports it again
                os.mkdir(missing.group(1), 0o755)
            answer = run_tool(check)
        if answer.status != 0:
            raise TryFailed(explain(answer.err, FAILURES, f"{self.sshd}: {one_line(answer.err)}"))

    def empty_connection(self) -> Usage:
        try:
            return super().empty_connection()
        except TryFailed:
            if self.use_pam or "account is locked" not in self.read("sshd.log"):
                raise
        self.use_pam = True  # PAM accepts a locked account
        self.configure()
        return super().empty_connection()


class RemoteHost(SshEnd):
    warm_up_seconds = 2.0  # the TCP window opens slowly over a network
    pilots = 1  # the client's CPU seconds hardly vary

    def __init__(self, ssh: str, address: str, label: str) -> None:
        super().__init__(ssh)
        self.address, self.label = address, label
        self.client_version = version_number(None)
        self.inherits_orphans = False  # the remote CPU time cannot be measured
        if "SSH_AUTH_SOCK" in os.environ:
            self.client_env["SSH_AUTH_SOCK"] = os.environ["SSH_AUTH_SOCK"]
        self.target = {"kind": "remote", "name": label}

    def prepare(self) -> None:
        self.client_version = version_number(run_tool([self.ssh, "-V"]).err)

    def client_words(self, port: str) -> Tuple[List[str], str, List[str]]:
        # Override only the parts of the user's configuration that would affect the results.
        options = "BatchMode=yes ControlMaster=no ControlPath=none ClearAllForwardings=yes"
        options += " PermitLocalCommand=no"
        options += " RemoteCommand=none" if self.client_version >= (7, 6) else ""
        return [], options, address_words(self.address)

    def explain(self, received: str) -> str:
        log = self.read("ssh.log")
        if os.path.getsize(self.path("ssh.log")) >= children.LOG_BYTES:
            return "the remote host made ssh log more than %d MiB" % (children.LOG_BYTES // MIB)
        offer = re.search(r"no matching (\S+) found\. Their offer: (\S+)", log)
        if offer:
            return "the remote sshd rejects this %s (it offers %.500s)" % offer.groups()
        named = self.label == self.address  # an anonymous run omits the log line
        line = re.sub("ssh: connect to host(.+): (.+)", r"cannot connect to\1 (\2)", one_line(log))
        return explain(log, REMOTE_FAILURES, line if named else "the connection failed")
