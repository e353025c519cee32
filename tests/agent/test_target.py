import re
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent import whole as agent
from tests.agent.running import ONCE, RunAgent, sound, write_program

SSH = shutil.which("ssh") or "ssh"


class Remote:
    """Act as a remote host: start an sshd for each connection to a local port."""

    def __init__(self, server: agent.PrivateServer) -> None:
        self.server = server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            connection = self.listener.accept()[0]
            with connection:
                if connection.recv(1, socket.MSG_PEEK) == b"":
                    return
                self.answer(connection)

    def answer(self, connection: socket.socket) -> None:
        server = self.server
        child = agent.start(
            server.server_command(agent.Channel(None)),
            stdin=connection.fileno(),
            stdout=connection.fileno(),
        )
        child.wait()
        agent._children.pop(child.pid)

    def close(self) -> None:
        socket.create_connection(("127.0.0.1", self.port)).close()
        self.thread.join()
        self.listener.close()


@pytest.fixture(scope="module")
def remote(sshd: str) -> Iterator[Remote]:
    with agent.PrivateServer(SSH, sshd) as server:
        server.prepare()
        server.write("sshd_config", server.read("sshd_config") + "Ciphers aes128-ctr\n")
        far = Remote(server)
        yield far
        far.close()


@pytest.fixture
def configured_ssh(remote: Remote, tmp_path: Path) -> str:
    folder = remote.server.folder
    config = tmp_path / "config"
    config.write_text(
        f"Host far\n HostName 127.0.0.1\n Port {remote.port}\n User {remote.server.user}\n"
        f" IdentityFile {folder}/user_key\n IdentitiesOnly yes\n HostKeyAlias {agent.HOST_ALIAS}\n"
        f" UserKnownHostsFile {folder}/known_hosts\n RemoteCommand hostname\n"
        f" PermitLocalCommand yes\n LocalCommand touch {tmp_path}/local-command\n"
        f"Host stranger\n HostName 127.0.0.1\n Port {remote.port}\n UserKnownHostsFile /dev/null\n"
        " StrictHostKeyChecking yes\n"
    )
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores, and ssh would too\n"
        f"os.execv({SSH!r}, ['ssh', '-F', {str(config)!r}] + sys.argv[1:])"
    )
    return write_program(tmp_path / "ssh", code)


def words(ssh: str, *targets: str) -> list[str]:
    asked = [word for target in targets for word in ("--target", target)]
    tiny = ("--tools", "ssh", "--ciphers", "aes128-ctr,3des-cbc", "--tries", "1", "--seconds")
    return ["run", "--ssh", ssh, *asked, *tiny, "0.1"]


# 256 MiB take a measurable CPU time even on a busy host.
MUCH = ONCE + "agent.sized_mib = lambda *_: 256; agent.STEADY_MIN_BYTES = 256 * agent.MIB"


def test_a_remote_end_is_measured_and_what_it_refuses_is_told(
    run_agent: RunAgent, configured_ssh: str, tmp_path: Path
) -> None:
    done = run_agent(*words(configured_ssh, "far", "stranger"), before=MUCH)
    document = sound(done)
    assert not (tmp_path / "local-command").exists()
    assert {measurement["method"] for measurement in document["measurements"]} == {
        "pipeline",
        "steady",
    }
    for measurement in document["measurements"]:
        assert measurement["cipher"] == measurement["negotiated"]["cipher"] == "aes128-ctr"
        assert measurement["target"] == {"kind": "remote", "name": "far"}
        assert measurement["server"].startswith("OpenSSH_")
        assert not measurement["pinned"]
        assert measurement["samples"][0]["client_cpu_seconds"] > 0
        assert measurement["samples"][0]["server_cpu_seconds"] is None
    reasons = [(entry["cipher"], entry["reason"]) for entry in document["skipped"]]
    refused = "far: the remote sshd rejects this cipher (it offers aes128-ctr)"
    assert ("3des-cbc", refused) in reasons
    unknown = "unknown host key; connect once with ssh and accept it"
    assert ("aes128-ctr", "stranger: " + unknown) in reasons
    assert "Skipping ssh to stranger: " + unknown in done.err


def test_an_unreachable_remote_end_leaves_openssl(run_agent: RunAgent) -> None:
    done = run_agent(
        "run", "--target", "nobody@127.0.0.1:9", "--ciphers", "aes128-ctr,rc4", "--tries", "1",
        "--ssh", SSH,
    )  # fmt: skip
    document = sound(done)
    assert {measurement["tool"] for measurement in document["measurements"]} == {"openssl"}
    assert "Skipping ssh to nobody@127.0.0.1:9" in done.err
    assert "resolve" in done.err


WATCHED = """
import os, sys
def told(folder, remove=agent.shutil.rmtree, **options):
    print('log bytes', os.path.getsize(folder + '/ssh.log'), file=sys.stderr)
    print(agent.read_text('/proc/self/status'), file=sys.stderr)
    remove(folder, **options)
agent.shutil.rmtree = told
"""
# Endless output ends the transfer after 3 s instead of 20 s.
HASTY = "agent.Transfer.wait_for.__defaults__ = (3.0,)"


@pytest.mark.parametrize("stream", (">&2", ""), ids=("its errors", "its output"))
def test_an_endless_flood_of_a_remote_end_fills_neither_disk_nor_memory(
    run_agent: RunAgent, remote: Remote, configured_ssh: str, stream: str
) -> None:
    # The remote host floods ssh's log file or ssh's output.
    config = Path(remote.server.path("sshd_config"))
    before = config.read_text()
    config.write_text(f"{before}ForceCommand yes 'kex: algorithm: {'x' * 5000}' {stream}\n")
    done = run_agent(*words(configured_ssh, "far"), before=WATCHED + ("" if stream else HASTY))
    config.write_text(before)
    assert done.code == 3
    said = dict(re.findall(r"(log bytes|VmHWM):?\s+(\d+)", done.err))
    assert 0 < int(said["log bytes"]) <= agent.LOG_BYTES
    assert int(said["VmHWM"]) < 60_000
    assert max(map(len, done.err.splitlines())) < 1000
    if stream:
        assert "Skipping ssh to far: the remote host made ssh log more than 8 MiB" in done.err


def test_a_jump_hosts_own_algorithms_are_not_taken_for_those_of_the_target() -> None:
    log = (
        "debug1: kex: client->server cipher: aes256-ctr MAC: hmac-sha1 compression: none\n"
        "debug1: kex: client->server cipher: aes128-ctr MAC: hmac-md5 compression: none\n"
    )
    assert agent.parse_negotiated(log).cipher == "aes128-ctr"


@pytest.mark.parametrize("target", ("", "-oProxyCommand=x", "two words"))
def test_what_ssh_would_take_for_an_option_is_no_target(run_agent: RunAgent, target: str) -> None:
    done = run_agent("run", f"--target={target}")
    assert done.code == 2
    assert "must be USER@HOST" in done.err
