"""What is missing in a run, or cannot be true, is said with its reason."""

import json
from pathlib import Path

import pytest

from documents.validation import validate_run_document
from tests.agent.running import FAST_OPENSSL, RunAgent, write_program

FAILS_ONCE = """
import glob, os, sys
if '-evp' in sys.argv and %(when)s:
    tried = len(glob.glob(%(folder)r + '/tried*'))
    open(%(folder)r + '/tried%%d' %% tried, 'w').close()
    if tried == %(number)d: sys.exit('out of luck')
"""


@pytest.mark.parametrize(
    ("when", "number", "said"),
    (
        ("'16384' in sys.argv", 1, {"at 16384 bytes: 1 of 3 tries"}),
        ("'16384' in sys.argv", 2, {"at 16384 bytes: 2 of 3 tries"}),
        (
            "True",
            1,
            {"at 16384 bytes: 1 of 3 tries", "at 16384 bytes: 0 of 3 tries", "at 8192 bytes: 0"},
        ),
    ),
)
def test_a_failed_try_of_openssl_is_said(
    run_agent: RunAgent, tmp_path: Path, when: str, number: int, said: set[str]
) -> None:
    facts = {"when": when, "folder": str(tmp_path), "number": number}
    fake = write_program(tmp_path / "openssl", FAILS_ONCE % facts + FAST_OPENSSL)
    words = ("run", "--tools", "openssl", "--openssl", fake, "--ciphers", "rc4", "--tries", "3")
    document = json.loads(run_agent(*words).out)
    assert validate_run_document(document) == []
    reasons = [entry["reason"] for entry in document["skipped"]]
    assert reasons
    for reason in reasons:
        assert reason.endswith("tries, then it was given up: openssl speed failed: out of luck")
        assert any(reason.startswith(start) for start in said), reason
    missing = 4 - sum(len(one["samples"]) for one in document["measurements"])
    counted = [reason.split(": ")[1].split(" tries")[0].split(" of ") for reason in reasons]
    assert missing == sum(int(wanted) - int(had) for had, wanted in counted)


@pytest.mark.parametrize(("blocks", "seconds"), ((10**5, "0.0000001"), (10**13, "1.000000")))
def test_a_rate_that_no_machine_has_is_no_figure(
    run_agent: RunAgent, tmp_path: Path, blocks: int, seconds: str
) -> None:
    answer = f"if 'RC4' == name: count, lasted = {blocks}, '{seconds}'"
    code = FAST_OPENSSL.replace("for size", f"lasted = '1.000000'\n{answer}\nfor size", 1)
    code = code.replace("%d:%s:1.000000", "%d:%s:%s").replace(
        "(name, size, count, name)", "(name, size, count, name, lasted)"
    )
    fake = write_program(tmp_path / "openssl", code)
    words = ("run", "--tools", "openssl", "--openssl", fake, "--ciphers", "rc4,bf-cbc")
    document = json.loads(run_agent(*words, "--tries", "1").out)
    assert {one["cipher"] for one in document["measurements"]} == {"bf-cbc"}
    (entry,) = document["skipped"]
    assert entry["cipher"] == "rc4"
    assert "openssl speed answered an impossible rate: " in entry["reason"]


def test_every_ssh_cipher_that_was_asked_for_and_is_not_offered_is_named(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    ssh = write_program(
        tmp_path / "ssh",
        "import sys\n"
        "if '-V' in sys.argv: sys.exit(print('OpenSSH_9.2p1', file=sys.stderr))\n"
        "if 'cipher' in sys.argv: print('aes128-ctr')",
    )
    fake = write_program(tmp_path / "openssl", FAST_OPENSSL)
    asked = "cast128-cbc,arcfour,arcfour256,rc4"
    words = ("run", "--ssh", ssh, "--openssl", fake, "--ciphers", asked, "--tries", "1")
    document = json.loads(run_agent(*words).out)
    named = {(entry["cipher"], entry["reason"]) for entry in document["skipped"]}
    words_of = "this OpenSSH does not offer it"
    assert named == {(name, words_of) for name in ("cast128-cbc", "arcfour", "arcfour256")}
