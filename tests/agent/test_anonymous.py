"""--anonymous: no account name and no host name in any text of the document."""

import json
import platform
import pwd
import socket
from pathlib import Path

import pytest

from tests.agent import whole as agent
from tests.agent.running import FAST_OPENSSL, RunAgent, of_openssl, sound, write_program
from tests.agent.test_run import SSH

TELLING = """\
OpenSSL 3.0.19 27 Jan 2026
built on: Fri Apr  3 12:29:32 2026 UTC by alice@nas.example.org
platform: linux-x86_64
options:  bn(64,64) prefix=/home/alice/ssl
compiler: gcc -fPIC -I/home/bob/src -I/Users/carol/src -DHOST=nas -Wall -O3
CPUINFO: OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab"""

AS_ALICE = """
import pwd, socket
class Alice: pw_name = 'alice'; pw_dir = '/home/alice'
agent.pwd.getpwuid = lambda uid: Alice
agent.socket.gethostname = lambda: 'nas.example.org'
"""


def words_of_openssl(folder: Path, version: str, reason: str) -> tuple[str, ...]:
    """An anonymous run, in which openssl says this of itself and why it cannot do rc4."""
    code = FAST_OPENSSL.replace("print('OpenSSL 3.0.19 27 Jan 2026')", f"print({version!r})")
    code = f"import sys\nif 'rc4' in sys.argv: sys.exit({reason!r})\n{code}"
    fake = write_program(folder / "openssl", code)
    return ("run", "--anonymous", *of_openssl(fake, "rc4,aes-128-gcm"), "--no-mask")


def test_no_text_of_an_anonymous_run_names_account_or_host(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    words = words_of_openssl(tmp_path, TELLING, "alice@nas: /home/alice/rc4")
    env = {"USER": "alice", "OPENSSL_ia32cap": "~0x0 # of alice"}
    tags = ("--tag", "kept=by Alice", "--tag", "rack=b2")
    document = sound(run_agent(*words, *tags, before=AS_ALICE, env=env))
    text = json.dumps(document).lower()
    for name in ("alice", "nas", "bob", "carol", "example.org"):
        assert name not in text, text
    openssl = document["environment"]["openssl"]
    assert openssl["version_text"] == "OpenSSL 3.0.19 27 Jan 2026"
    assert openssl["compiler"].startswith("gcc -fPIC -I/home/NAME/src -I/Users/NAME/src -DHOST=")
    assert openssl["compiler"].endswith(" -Wall -O3")
    assert document["tags"]["rack"] == "b2"
    assert document["environment"]["cpu"]["flags"] == agent.cpu_environment()["flags"]


def test_a_target_is_not_named_in_any_reason(run_agent: RunAgent) -> None:
    done = run_agent(
        "run", "--anonymous", "--ssh", SSH, "--target", "bob@secret.invalid:22", "--tries", "1",
        "--ciphers", "aes128-ctr,rc4",
    )  # fmt: skip
    document = json.loads(done.out)
    text = json.dumps(document).lower()
    assert document["skipped"]
    assert "bob" not in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("text", "kept"),
    (
        ("User alice not allowed: /home/alice/.ssh", "User NAME not allowed: /home/NAME/.ssh"),
        ("alice@nas:~", "NAME@NAME:~"),
        ("malice, nasty, canas", "malice, nasty, canas"),
        ("/var/home/x.y/z", "/var/home/NAME/z"),
        ("NAS.Example.Org refused", "NAME refused"),
        ("Linux 6.1-alice", "Linux 6.1-NAME"),
    ),
)
def test_whole_names_and_home_directories_are_left_out(text: str, kept: str) -> None:
    names = {"alice", "nas", "nas.example.org"}
    assert agent.without_names({"reason": text}, names) == {"reason": kept}


def test_what_is_no_free_text_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host called aes128-ctr, an account called debian: facts are not names."""
    fact = {"tool": "ssh", "cipher": "aes128-ctr", "id": "debian", "flags": ["aes"], "n": 3}
    assert agent.without_names(fact, {"aes128-ctr", "aes", "debian", "ssh"}) == fact
    assert agent.without_names("a b", set()) == "a b"
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd(("root",) * 7))
    for name in ("USER", "LOGNAME", "SUDO_USER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    monkeypatch.setattr(platform, "node", lambda: "localhost")
    monkeypatch.setenv("HOME", "/root")
    assert agent.own_names(["bob@10.0.0.1:22"]) == {"bob@10.0.0.1:22", "bob", "10.0.0.1"}


def test_a_home_elsewhere_and_the_names_of_tags_tell_nobody(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    home = "/srv/people/zq-home"
    telling = "OpenSSL 3.0.19 27 Jan 2026\ncompiler: gcc -I/srv/people/zq-home/inc -O3"
    words = words_of_openssl(tmp_path, telling, f"{home}/rc4")
    tags = ("--tag", f"alice.{'x' * 44}=1", "--tag", f"where={home}/bench")
    before = AS_ALICE.replace("/home/alice", home)
    document = sound(run_agent(*words, *tags, before=before, env={"HOME": home}))
    text = json.dumps(document)
    assert "zq-home" not in text
    assert "alice" not in text
    assert document["environment"]["openssl"]["compiler"] == "gcc -INAME/inc -O3"
    assert document["tags"] == {f"NAME.{'x' * 44}": "1", "where": "NAME/bench"}
