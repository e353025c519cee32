import re
from pathlib import Path

import pytest

from tests.agent import whole as agent
from tests.agent.running import (
    FAST_OPENSSL,
    QUICK_RUN,
    STAND_IN,
    RunAgent,
    of_openssl,
    reasons,
    sound,
    write_program,
)

DIGITS = "9" * 400
MANY = "9" * 5000  # more digits than Python converts to a number


def answering(line: str, out: str = "+H:16384\\n+F:25:RC4:1000.00") -> str:
    return (
        f"import sys\nif 'rc4' in sys.argv:\n"
        f"    print({line!r}.replace('~', chr(10)), file=sys.stderr)\n"
        f"    sys.exit(print('{out}'))\n" + FAST_OPENSSL
    )


DT = "+DT:RC4:1:16384~"


@pytest.mark.parametrize(
    "line",
    (
        DT + "+R:123:RC4:abc",
        DT + f"+R:{DIGITS}:RC4:1.000000",
        DT + f"+R:{MANY}:RC4:1.000000",
        DT + f"+R:123:RC4:{DIGITS}",
        DT + "+R:123:RC4:inf",
        DT + "+R:123:RC4:nan",
        DT + "+R:123:RC4:-1.0",
        DT + "+R:123:RC4:1e-320",
        DT + "+R:\u00b2:RC4:1.0",
        DT + "+R:\u0663\u0663:RC4:1.0",
        DT + "+R::RC4:",
        DT + "+R:1_000:RC4:1_0.0",
        f"+DT:RC4:1:{DIGITS}~+R:5:RC4:1.0",
        "+DT:RC4:1:0x~+R:5:RC4:1.0",
        "~".join(f"+DT:RC4:1:{size}~+R:5:RC4:1.0" for size in range(20000, 26000)),
        "\x00\udcff" * 3,
        "",
    ),
)
def test_an_answer_that_is_no_number_is_no_try(line: str, tmp_path: Path) -> None:
    fake = write_program(tmp_path / "openssl", answering(line.replace("\udcff", "\u00ff")))
    with pytest.raises(agent.TryFailed, match="reported no rate"):
        agent.openssl_try(agent.Openssl(fake), agent.SpeedCall("rc4"), 1)


def test_a_cipher_without_a_number_is_skipped_and_the_others_kept(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    fake = write_program(tmp_path / "openssl", answering(f"{DT}+R:{MANY}:RC4:1.000000"))
    done = run_agent(
        "run", *of_openssl(fake, "rc4,aes-128-cbc"), "--no-mask",
        env={"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    document = sound(done)
    assert {measurement["cipher"] for measurement in document["measurements"]} == {"aes-128-cbc"}
    assert "no rate" in reasons(document)["rc4"]


HOSTILE_SSH = """
import os, sys
text = {text!r}
if '-V' in sys.argv: sys.exit(print('OpenSSH_' + text + ', OpenSSL ' + text, file=sys.stderr))
if '-Q' in sys.argv: sys.exit(print('aes128-ctr\\n' + text + '\\nNO NAME\\n' + text * 3))
if '-G' in sys.argv: sys.exit(print('ciphers ' + text))
print('kex: client->server cipher: ' + text + ' MAC: ' + text, file=sys.stderr)
print('debug1: remote software version ' + text, file=sys.stderr)
sys.stdout.write(text)
sys.stdout.flush()
sys.exit({code})
"""


@pytest.mark.parametrize(
    ("text", "code"),
    ((DIGITS, 0), ("inf", 255), ("%s%n{0}", 0), ("\u00b2" * 3000, 255), ("a b:c\td", 0), ("", 255)),
)
def test_a_hostile_ssh_costs_ssh_alone(
    text: str, code: int, run_agent: RunAgent, tmp_path: Path, sshd_option: tuple[str, str]
) -> None:
    ssh = write_program(tmp_path / "ssh", HOSTILE_SSH.format(text=text, code=code))
    done = run_agent(
        "run", *sshd_option, "--ssh", ssh, "--openssl", STAND_IN, "--ciphers", "aes128-ctr,rc4",
        "--tries", "1", before="agent.TOOL_SECONDS = 3", env={"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    document = sound(done)
    assert {measurement["cipher"] for measurement in document["measurements"]} == {"rc4"}
    assert reasons(document)["aes128-ctr"]


BROKEN = """
def fail(*words, **options): raise RuntimeError('nobody thought of this')
def but_for(real, name):
    return lambda *words: fail() if name in str(words) else real(*words)
"""


FAILING = """
def failing(*words, **options):
    print("failing {0}", file=sys.stderr)
    fail()
agent.{0} = failing
"""


@pytest.mark.parametrize(
    "names",
    (
        ("cpu_environment", "virtualization", "os_environment",
         "wait_until_quiet", "machine_state"),
        ("conditions_of_run",),  # alone, because it uses the result of machine_state
    ),
)  # fmt: skip
def test_readings_that_fail_are_unknown_and_lose_no_figure(
    names: tuple[str, ...], run_agent: RunAgent
) -> None:
    done = run_agent(
        "run", *QUICK_RUN, before=BROKEN + "".join(FAILING.format(name) for name in names)
    )
    assert sound(done)["measurements"]
    assert set(re.findall("^failing (.+)$", done.err, re.M)) == set(names)
