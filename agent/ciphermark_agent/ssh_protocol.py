"""What is asked of ssh and sshd, and what they answer: commands, configuration, logs."""

import collections
import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

from ciphermark_agent.children import run_tool
from ciphermark_agent.common import DEFAULT_MAC, one_line

HOST_ALIAS = "ciphermark"
SSH_BASELINES = ("arcfour", "blowfish-cbc", "3des-cbc")
# For a client without `ssh -Q` (before 6.3).
SSH_OLD_CIPHERS = tuple(
    "3des-cbc aes128-cbc aes192-cbc aes256-cbc aes128-ctr aes192-ctr aes256-ctr "
    "arcfour arcfour128 arcfour256 blowfish-cbc cast128-cbc".split()
)
CIPHER_NAME = re.compile(r"[a-z0-9][a-z0-9@._/+-]{0,99}$")
CIPHERS_LIMIT = 200  # of one ssh; each is measured twice


def version_number(text: Optional[str]) -> Tuple[int, int]:
    """(9, 2) of OpenSSH_9.2p1; unknown counts as new."""
    match = re.search(r"OpenSSH_([0-9]{1,4})\.([0-9]{1,4})", text or "")
    return (int(match.group(1)), int(match.group(2))) if match else (99, 0)


class Channel(NamedTuple):
    """What an ssh connection is asked for; None leaves the choice to the client."""

    cipher: Optional[str]
    mac: Optional[str] = None
    compression: bool = False

    def in_words(self) -> str:
        return ((self.cipher or "client's choice") + " " + self.beyond_cipher()).strip()

    def beyond_cipher(self) -> str:
        words = ["with " + self.mac] if self.mac else []
        return " ".join(words + ["compressed"] * self.compression)

    def options(self) -> List[str]:
        """Options of ssh that ask for it."""
        words = ["-o", "Compression=%s" % ("yes" if self.compression else "no")]
        words += ["-c", self.cipher] if self.cipher else []
        return words + (["-m", self.mac] if self.mac else [])

    def server_options(self, version: Tuple[int, int]) -> List[str]:
        """Options of an sshd that lets it in: a stock one refuses many a cipher and MAC."""
        also = "+" if version >= (7, 0) else ""
        words = ["-o", "Ciphers=" + also + self.cipher] if self.cipher else []
        return words + (["-o", "MACs=" + also + self.mac] if self.mac else [])

    def difference(self, used: "Negotiated") -> Optional[str]:
        """In words, what was negotiated instead of what was asked for."""
        for asked, got in ((self.cipher, used.cipher), (self.mac, used.mac)):
            if asked is not None and got != asked:
                return "%s instead of %s" % (got, asked)
        if self.compression != (used.compression not in (None, "none")):
            return "compression %s" % used.compression
        return None


def ssh_channels(ciphers: Sequence[str], macs: Sequence[str], compression: bool) -> List[Channel]:
    """Every combination that makes a difference."""
    channels = []
    for cipher in ciphers:
        authenticates = "gcm" in cipher or "poly1305" in cipher  # by itself: it uses no MAC
        for mac in (not authenticates and macs) or [DEFAULT_MAC]:
            name = None if mac == DEFAULT_MAC else mac
            for packed in (False, True)[: 1 + compression]:
                channels.append(Channel(cipher, name, packed))
    return channels


def sshd_configuration(folder: str, version: Tuple[int, int], use_pam: bool) -> str:
    """sshd_config of the private server: only our key is let in."""
    lines = [
        "HostKey %s/host_key" % folder,
        "AuthorizedKeysFile %s/authorized_keys" % folder,
        "StrictModes no",  # the folder may lie below a group-writable one
        "UsePAM %s" % ("yes" if use_pam else "no"),
        "PidFile none",
        "PasswordAuthentication no",
        "PermitRootLogin without-password",
        "PrintMotd no",
        "LogLevel INFO",  # to our own file; tells of locked accounts
        "UseDNS no",
    ]
    if version < (7, 5):
        lines.append("UsePrivilegeSeparation no")  # needed by a server that is not root
    if version >= (6, 9):
        lines.append("PermitUserRC no")
    if version >= (7, 8):
        # bash reads ~/.bashrc when it is started by sshd at shell level 0; this is level 1.
        lines.append("SetEnv SHLVL=1")
    return "\n".join(lines) + "\n"


def client_command(
    ssh: str, folder: str, user: str, port: int, channel: Channel, token: str
) -> List[str]:
    """The ssh command of every connection; without a cipher, the client's own choice."""
    options = (
        "IdentitiesOnly=yes BatchMode=yes StrictHostKeyChecking=yes HostKeyAlias=%s "
        "UserKnownHostsFile=%s/known_hosts GlobalKnownHostsFile=/dev/null ControlMaster=no "
        "ControlPath=none PreferredAuthentications=publickey"
    ) % (HOST_ALIAS, folder)
    command = [ssh, "-F", "/dev/null", "-v", "-T", "-a", "-x", "-i", folder + "/user_key"]
    command += ["-p", str(port), "-l", user] + option_words(options) + channel.options()
    return command + ["127.0.0.1", remote_command(token)]


def remote_client_command(
    ssh: str, address: str, channel: Channel, token: str, version: Tuple[int, int]
) -> List[str]:
    """ssh with the user's configuration, except for what would spoil a measurement.

    No shared connection, no prompt, no terminal, no LocalCommand, and no RemoteCommand (since
    7.6) beside ours.
    """
    options = (
        "BatchMode=yes ControlMaster=no ControlPath=none ClearAllForwardings=yes "
        "PermitLocalCommand=no"
    )
    if version >= (7, 6):
        options += " RemoteCommand=none"
    command = [ssh, "-v", "-T", "-a", "-x"] + option_words(options)
    return command + channel.options() + [address, remote_command(token)]


def option_words(options: str) -> List[str]:
    return [word for option in options.split() for word in ("-o", option)]


def remote_command(token: str) -> str:
    """Says when the stream may start and when all of it has arrived.

    The token keeps what a login shell may print from being taken for a marker.
    """
    return "printf R%s; cat >/dev/null; printf D%s" % (token, token)


class Negotiated(NamedTuple):
    """What client and server agreed on, by the client's own log."""

    cipher: Optional[str]
    mac: Optional[str]
    kex: Optional[str]
    compression: Optional[str]


NAME = r"(\S{1,100})"  # as long as the run document takes: a far end may write what it likes
NEW_KEX_LINE = re.compile(r"kex: client->server cipher: %s MAC: %s compression: %s" % ((NAME,) * 3))
OLD_KEX_LINE = re.compile(r"kex: client->server %s %s %s" % ((NAME,) * 3))


def parse_negotiated(log: str) -> Negotiated:
    """Algorithms from `ssh -v`; AEAD ciphers have no MAC of their own (`<implicit>`).

    The last ones: with ProxyJump the log begins with those of the host in between.
    """
    kex = (re.findall(r"kex: algorithm: " + NAME, log) or [None])[-1]
    found = NEW_KEX_LINE.findall(log) or OLD_KEX_LINE.findall(log)
    if not found:
        return Negotiated(None, None, kex, None)
    cipher, mac, compression = found[-1]
    return Negotiated(cipher.lower(), None if mac.startswith("<") else mac, kex, compression)


FAILURES = (
    ("no matching cipher", "this sshd refuses it"),
    ("Unknown cipher type", "this ssh does not know it"),
    ("cipher spec", "this sshd does not know it"),
    ("mac spec", "this sshd does not know its MAC"),
    ("account is locked", "the account is locked, and this sshd lets no locked account in"),
    ("account is currently not available", "the account has no login shell"),
    ("This account is not available", "the account has no login shell"),
    ("setgroups: Operation not permitted", "sshd needs a real user, not this container's root"),
    ("No user exists for uid", "this user id has no account in the passwd file"),
)


def explain_failure(ssh_log: str, sshd_log: str, received: str) -> str:
    """Why a connection gave no figure, in words; `received` is what the far side printed."""
    logs = "\n".join((ssh_log, sshd_log, received))
    for sign, words in FAILURES:
        if sign in logs:
            return words
    if "Permission denied" in logs:
        return "sshd refused the temporary key: " + one_line(sshd_log)
    return "%s (sshd: %s)" % (one_line(ssh_log), one_line(sshd_log))


def offered_ciphers(ssh: str) -> List[str]:
    """What the client can do: `ssh -Q cipher`, or a fixed list for clients without that."""
    answer = run_tool([ssh, "-Q", "cipher"])
    lines = [line.strip().lower() for line in answer.out.splitlines()]
    names = list(collections.OrderedDict.fromkeys(filter(CIPHER_NAME.match, lines)))
    return names[:CIPHERS_LIMIT] if answer.status == 0 and names else list(SSH_OLD_CIPHERS)
