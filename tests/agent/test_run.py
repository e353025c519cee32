import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from cipherspeed.validation import validate_run_document
from tests.agent.canned_server import ACCEPTED, Serve, http_answer
from tests.agent.running import (
    FAST_OPENSSL,
    ONCE,
    QUICK_RUN,
    STAND_IN,
    TINY,
    RunAgent,
    configure,
    reasons,
    sound,
    write_program,
)

SSH = shutil.which("ssh") or "ssh"
CAPTURES = Path(__file__).parent / "captures"


def series(document: dict[str, Any], cipher: str) -> list[dict[str, Any]]:
    return [entry for entry in document["measurements"] if entry["cipher"] == cipher]


def ssh_series(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in document["measurements"] if entry["tool"] == "ssh"]


def rate(sample: dict[str, Any]) -> float:
    return float(sample["bytes"] / sample["seconds"])


def test_the_document_passes_the_servers_schema(tiny_run: dict[str, Any]) -> None:
    assert validate_run_document(tiny_run) == []


def test_both_methods_of_both_ciphers_are_measured(tiny_run: dict[str, Any]) -> None:
    for cipher in ("aes128-ctr", "3des-cbc"):
        found = series(tiny_run, cipher)
        assert {entry["method"] for entry in found} == {"pipeline", "steady"}
        for entry in found:
            assert entry["negotiated"]["cipher"] == cipher
            assert entry["negotiated"]["mac"]
            assert entry["negotiated"]["kex"]
            assert entry["negotiated"]["compression"] == "none"
            assert entry["target"] == {"kind": "loopback", "name": None}


def test_pipelines_move_whole_mebibytes_and_are_never_pinned(tiny_run: dict[str, Any]) -> None:
    for entry in ssh_series(tiny_run):
        if entry["method"] == "pipeline":
            assert not entry["pinned"]
            assert all(sample["bytes"] % 1048576 == 0 for sample in entry["samples"])


def test_every_try_carries_its_costs(tiny_run: dict[str, Any]) -> None:
    for entry in ssh_series(tiny_run):
        for sample in entry["samples"]:
            assert 0 < sample["setup_seconds"] < 20
            assert sample["client_cpu_seconds"] > 0
            assert sample["server_cpu_seconds"] > 0
            assert sample["foreign_cpu"] >= 0


def test_cpu_cost_of_a_byte_is_that_of_the_cipher_not_of_the_connection(
    tiny_run: dict[str, Any],
) -> None:
    # 3DES costs about the same at both ends, and many times as much as AES.
    # The tolerances are wide, because the other thread of a core can slow this thread.
    costs = {}
    for entry in ssh_series(tiny_run):
        sample = entry["samples"][0]
        client = sample["client_cpu_seconds"] / sample["bytes"]
        costs[entry["cipher"], entry["method"]] = client
        if entry["cipher"] == "3des-cbc":
            server = sample["server_cpu_seconds"] / sample["bytes"]
            assert client == pytest.approx(server, rel=0.5)
    for method in ("pipeline", "steady"):
        assert costs["3des-cbc", method] > 5 * costs["aes128-ctr", method]
    assert costs["3des-cbc", "pipeline"] == pytest.approx(costs["3des-cbc", "steady"], rel=0.5)


def test_openssl_is_measured_by_cpu_time(tiny_run: dict[str, Any]) -> None:
    for rc4 in series(tiny_run, "rc4"):
        assert rc4["timing"] == "cpu"
        assert rc4["operation"] == "encrypt"
        assert 0 < rc4["samples"][0]["seconds"] <= 1.1  # less on a busy host
        assert rate(rc4["samples"][0]) > 10e6


def test_a_mask_is_a_measurement_of_its_own_or_a_reason(tiny_run: dict[str, Any]) -> None:
    found = {
        entry["acceleration"]: entry
        for entry in series(tiny_run, "aes-128-gcm")
        if entry["block_size"] == 16384
    }
    assert "default" in found
    if "masked" in found:
        plain, masked = (rate(found[name]["samples"][0]) for name in ("default", "masked"))
        assert plain >= 1.1 * masked
        assert "OPENSSL_" in found["masked"]["mask"]
    else:
        assert "mask" in reasons(tiny_run)["aes-128-gcm"]


def test_the_environment_names_both_ends(tiny_run: dict[str, Any]) -> None:
    openssh = tiny_run["environment"]["openssh"]
    assert openssh["client"].startswith("OpenSSH_")
    assert openssh["server"].startswith("OpenSSH_")
    assert openssh["default_cipher"]
    for name in ("library", "server_library"):
        assert re.match(r"(OpenSSL|LibreSSL) \d|without OpenSSL", openssh[name])
    assert tiny_run["environment"]["openssl"]["version_text"]
    assert tiny_run["environment"]["cpu"]["threads"] == os.cpu_count()


def test_baselines_that_this_ssh_lacks_are_named(run_agent: RunAgent, tmp_path: Path) -> None:
    fake = write_program(tmp_path / "ssh", "print('aes128-ctr')")
    done = run_agent("run", "--tools", "ssh", "--ssh", fake, "--ciphers", "arcfour")
    assert done.code == 3
    assert "arcfour: this OpenSSH does not offer it" in done.err


def test_an_openssl_without_seconds_is_measured_once_at_all_its_block_sizes(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    code = (
        "import sys\n"
        "if '-help' in sys.argv: sys.exit('Error: bad option or value')\n"
        "if 'version' in sys.argv: sys.exit(print('OpenSSL 1.0.2g  1 Mar 2016'))\n"
        f"name = {str(CAPTURES)!r} + '/102-evp-' + sys.argv[-1] + '.mr.'\n"
        "sys.stdout.write(open(name + 'out').read())\n"
        "sys.stderr.write(open(name + 'err').read())"
    )
    fake = write_program(tmp_path / "openssl", code)
    document = sound(run_agent("run", "--tools", "openssl", "--openssl", fake))
    assert "aes-128-gcm" in {entry["cipher"] for entry in document["measurements"]}
    gcm = series(document, "aes-128-gcm")
    assert sorted(entry["block_size"] for entry in gcm) == [16, 64, 256, 1024, 8192]
    assert all(len(entry["samples"]) == 1 for entry in document["measurements"])
    assert document["environment"]["openssl"]["version_text"] == "OpenSSL 1.0.2g  1 Mar 2016"


def test_result_and_document_are_kept_apart(run_agent: RunAgent) -> None:
    done = run_agent("run", *QUICK_RUN, "--name", "x")
    assert sound(done)["host"]["name"] == "x"
    assert "rc4" in done.err


def test_without_sshd_openssl_is_measured_and_the_way_to_get_it_told(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    for name in ("ssh", "openssl"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    names = "aes128-ctr,rc4"
    done = run_agent(
        "run", "--ciphers", names, "--tries", "1",
        before="agent.SSHD_PLACES = ()", env={"PATH": str(tmp_path)},
    )  # fmt: skip
    document = sound(done)
    assert {entry["tool"] for entry in document["measurements"]} == {"openssl"}
    assert reasons(document)["aes128-ctr"] == "sshd not found"
    line = next(line for line in done.err.splitlines() if line.startswith("Skipping ssh"))
    assert "Install openssh-server or use --sshd PATH." in line


def test_another_cipher_than_asked_for_is_no_result(
    run_agent: RunAgent, tmp_path: Path, sshd_option: tuple[str, str]
) -> None:
    code = (
        "import os, sys\nwords = sys.argv[1:]\n"
        "if '-c' in words: words[words.index('-c') + 1] = 'aes256-ctr'\n"
        f"os.execv({SSH!r}, ['ssh'] + words)"
    )
    fake = write_program(tmp_path / "ssh", code)
    done = run_agent(
        "run", *sshd_option, *TINY, "--ciphers", "aes128-ctr", "--ssh", fake, before=ONCE,
    )  # fmt: skip
    assert done.code == 3
    assert "ssh negotiated aes256-ctr instead of aes128-ctr" in done.err


def test_a_cipher_that_sshd_does_not_know_is_skipped_with_the_reason(
    run_agent: RunAgent, tmp_path: Path, sshd_option: tuple[str, str]
) -> None:
    code = (
        "import os, sys\n"
        "words = [word.replace('nonsense-cbc', 'aes128-cbc') for word in sys.argv[1:]]\n"
        "if words == ['-Q', 'cipher']: print('nonsense-cbc\\naes128-ctr')\n"
        f"else: os.execv({SSH!r}, ['ssh'] + words)"
    )
    fake = write_program(tmp_path / "ssh", code)
    done = run_agent(
        "run",
        *sshd_option,
        *TINY,
        "--ciphers",
        "aes128-ctr,nonsense-cbc",
        "--ssh",
        fake,
        before=ONCE,
    )
    document = sound(done)
    assert {entry["cipher"] for entry in document["measurements"]} == {"aes128-ctr"}
    assert reasons(document) == {"nonsense-cbc": "unknown to this sshd"}


def test_versions_and_libraries_are_those_of_each_program(
    run_agent: RunAgent, tmp_path: Path, sshd: str
) -> None:
    # OpenSSH 7.4 prints its patch level only with its usage.
    said = {
        "ssh": ("-V", SSH, "OpenSSH_9.9p2, LibreSSL 3.3.6"),
        "sshd": ("-?", sshd, "OpenSSH_7.4p1, OpenSSL 1.0.2k-fips  26 Jan 2017"),
    }
    words = ["--openssl", STAND_IN, *TINY, "--ciphers", "aes128-ctr"]
    for name, (requested, real, answer) in said.items():
        code = f"import os, sys\nif {requested!r} in sys.argv: sys.exit({answer!r})\n"
        code += f"os.execv({real!r}, [{real!r}] + sys.argv[1:])"
        words += [f"--{name}", write_program(tmp_path / name, code)]
    done = run_agent("run", *words, before=ONCE)
    document = sound(done)
    openssh = document["environment"]["openssh"]
    assert (openssh["client"], openssh["library"]) == ("OpenSSH_9.9p2", "LibreSSL 3.3.6")
    assert openssh["server"] == "OpenSSH_7.4p1"
    assert openssh["server_library"] == "OpenSSL 1.0.2k-fips  26 Jan 2017"
    assert document["environment"]["openssl"]["version_text"].startswith("OpenSSL 3.0.19 ")


def test_a_dry_run_starts_nothing(run_agent: RunAgent, ssh: str) -> None:
    forbid = (
        "import os, subprocess\n"
        "def refuse(*words, **options): raise AssertionError(words)\n"
        "subprocess.Popen = os.fork = os.posix_spawn = os.mkdir = refuse"
    )
    done = run_agent("run", "--dry-run", before=forbid)
    assert done.code == 0, done.err
    for words in (
        f"dd if=/dev/zero bs=1048576 count=COUNT | {ssh} -F /dev/null",
        "sshd -i -e -f FOLDER/sshd_config",
        "openssl speed -mr -seconds 1 -bytes 16384 -provider legacy -provider default -evp rc4",
        "openssl speed -mr -seconds 1 -bytes 8192 -provider legacy -provider default -evp rc4",
        "OPENSSL_ia32cap=",
    ):
        assert words in done.out


@pytest.mark.parametrize(
    ("answer", "said"),
    (
        (ACCEPTED, "ok      upload: http://127.0.0.1:"),
        (http_answer(401, {}), "(status 401): the token is unknown, expired or revoked"),
    ),
)
def test_a_dry_run_says_first_what_can_be_measured_and_how_to_change_that(
    run_agent: RunAgent, serve: Serve, sshd: str, tmp_path: Path, answer: bytes, said: str
) -> None:
    configure(tmp_path, f"server = {serve(answer).url}\ntoken = cmk_x")
    words = ("run", "--dry-run", "--sshd", sshd, "--openssl", STAND_IN)
    done = run_agent(*words)
    assert done.code == 0, done.err
    first = done.out.split("# Commands")[0]
    for able in ("ssh: /", f"sshd: {sshd}", f"openssl: {STAND_IN}"):
        assert f"\nok      {able}" in first, first
    assert said in first
    assert "cmk_x" not in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == [".config", "temporary"]
    bare = run_agent("run", "--dry-run", before="agent.SSHD_PLACES = ()", env={"PATH": "/none"})
    assert bare.code == 3
    assert "failed  ssh: ssh not found. Install openssh-client" in bare.out
    assert "failed  openssl: openssl not found. Install openssl" in bare.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    (
        (
            ("--ciphers", "aes128-gcm"),
            "unknown cipher aes128-gcm; did you mean aes128-gcm@openssh.com?",
        ),
        (("--ciphers", "nonsense"), "unknown cipher nonsense; see `ssh -Q cipher`"),
        (("--ciphers", "x"), "unknown cipher x; see `ssh -Q cipher`"),
        (("--sshd", "/nowhere/sshd"), "--sshd /nowhere/sshd: not an executable file"),
        (("--server", "ftp://x"), "must be a URL such as https://"),
        (("--server", "http://127.0.0.1:9"), "--server requires --token"),
        (("--token-file", "/nowhere", "--server", "http://127.0.0.1:9"), "cannot read"),
        (("--tag", "novalue"), "must be KEY=VALUE"),
        (("--tools", "telnet"), "must be ssh, openssl"),
        (("--tries", "0"), "must be a number from 1 to 50"),
        (("--seconds", "nan"), "must be a number from 0.1 to 20"),
        (("--name", " "), "must have 1 to 200"),
        (("--name", "x", "--anonymous"), "not allowed with"),
        (("--deep",), "unrecognized arguments"),
    ),
)
def test_mistakes_are_told_in_one_sentence(
    run_agent: RunAgent, arguments: tuple[str, ...], words: str
) -> None:
    done = run_agent("run", *arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err


def test_show_prints_tables(run_agent: RunAgent, tiny_run: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({**tiny_run, "host": {"name": "n\x1b[2Jas"}}))
    done = run_agent("show", str(path))
    assert done.code == 0
    assert "3des-cbc" in done.out
    assert "CPU s/GB" in done.out
    assert "\x1b" not in done.out


def test_each_openssl_gives_a_run_of_its_own(run_agent: RunAgent, tmp_path: Path) -> None:
    paths = []
    for version in ("3.0.19", "3.5.0"):
        path = tmp_path / f"openssl-{version}"
        paths += ["--openssl", write_program(path, FAST_OPENSSL.replace("3.0.19", version))]
    done = run_agent(
        "run", *paths, "--tools", "openssl", "--ciphers", "rc4", "--tries", "1",
        "--output", str(tmp_path / "run.json"),
    )  # fmt: skip
    assert done.code == 0, done.err
    documents = [json.loads((tmp_path / f"run-{number}.json").read_text()) for number in (1, 2)]
    assert not (tmp_path / "run.json").exists()
    for document, version in zip(documents, ("3.0.19", "3.5.0"), strict=True):
        assert validate_run_document(document) == []
        assert version in document["environment"]["openssl"]["version_text"]
    assert documents[0]["run_id"] != documents[1]["run_id"]
