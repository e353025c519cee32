import json
from pathlib import Path

import pytest

from tests.agent import whole as agent
from tests.agent.running import FAST_OPENSSL, RunAgent, of_openssl, sound, write_program

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
