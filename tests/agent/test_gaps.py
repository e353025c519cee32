from pathlib import Path

import pytest

from tests.agent.running import (
    FAST_OPENSSL,
    STAND_IN,
    RunAgent,
    of_openssl,
    sound,
    write_program,
)

FAILS_ONCE = """
import glob, os, sys
if '-evp' in sys.argv:
    tried = len(glob.glob(%(folder)r + '/tried*'))
    open(%(folder)r + '/tried%%d' %% tried, 'w').close()
    if tried == %(number)d: sys.exit('out of luck')
"""


@pytest.mark.parametrize("number", (0, 1, 2))
def test_one_failed_try_costs_no_other_and_a_second_one_says_the_reason(
    run_agent: RunAgent, tmp_path: Path, number: int
) -> None:
    facts = {"folder": str(tmp_path), "number": number}
    fake = write_program(tmp_path / "openssl", FAILS_ONCE % facts + FAST_OPENSSL)
    document = sound(run_agent("run", *of_openssl(fake, tries=3)))
    assert (
        sum(len(measurement["samples"]) for measurement in document["measurements"]) == 3
    )  # of four
    assert document["skipped"] == []
    broken = "import sys\nif '-evp' in sys.argv: sys.exit('out of luck')\n"
    fake = write_program(tmp_path / "broken", broken + FAST_OPENSSL)
    done = run_agent("run", *of_openssl(fake, tries=3))
    assert done.code == 3
    assert "rc4: openssl speed failed: out of luck" in done.err


def test_every_ssh_cipher_that_was_asked_for_and_is_not_offered_is_named(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    ssh = write_program(
        tmp_path / "ssh",
        "import sys\n"
        "if '-V' in sys.argv: sys.exit(print('OpenSSH_9.2p1', file=sys.stderr))\n"
        "if 'cipher' in sys.argv: print('aes128-ctr')",
    )
    asked = "cast128-cbc,arcfour,arcfour256,rc4"
    words = ("run", "--ssh", ssh, "--openssl", STAND_IN, "--ciphers", asked, "--tries", "1")
    document = sound(run_agent(*words))
    named = {(entry["cipher"], entry["reason"]) for entry in document["skipped"]}
    words_of = "this OpenSSH does not offer it"
    assert named == {(name, words_of) for name in ("cast128-cbc", "arcfour", "arcfour256")}
