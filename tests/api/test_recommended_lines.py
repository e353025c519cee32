import subprocess
from pathlib import Path
from typing import Any

from ciphermark_agent.children import run_tool
from ciphermark_agent.ssh_server import PrivateServer
from cipherspeed.cipher_catalogue import cipher_catalogue
from tests.api.test_recommendation import URL, facts, machine, series
from tests.conftest import ApiClient, StoreRun

HOSTILE = "nas\u2028ProxyCommand touch owned \x1b[2J Ciphers none"


def listed(text: str) -> str:
    return text.strip().split("\n")[-1].split("Ciphers ")[1]


def everything(version: str, name: str = "nas") -> dict[str, Any]:
    """Return a run document with every cipher of current OpenSSH.

    `version`: version text of the host. The document contains ciphers that this version lacks.
    """
    ciphers = [cipher for cipher in cipher_catalogue().ciphers if cipher.tool == "ssh"]
    there = [
        cipher for cipher in ciphers if cipher.openssh and cipher.openssh.present.until is None
    ]
    measured = (series(cipher.name, 100 + place) for place, cipher in enumerate(there))
    return machine(name, *measured, environment=facts(version, None))


def test_real_ssh_takes_the_lines_of_the_answer(
    reader: ApiClient, store_run: StoreRun, ssh: str, tmp_path: Path
) -> None:
    said = subprocess.run([ssh, "-V"], capture_output=True, text=True, check=True).stderr
    run = store_run(everything(said.strip(), HOSTILE))
    assert run.host is not None
    answer = reader.get(URL, {"host": run.host.slug, "policy": "everything"}).json()
    file = tmp_path / "config"
    file.write_text(answer["ssh_config"], "utf-8")
    done = subprocess.run(
        [ssh, "-G", "-F", str(file), "example"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"ciphers {listed(answer['ssh_config'])}" in done.stdout.splitlines()
    assert "proxycommand" not in done.stdout


def test_real_sshd_takes_the_lines_of_the_answer(
    reader: ApiClient, store_run: StoreRun, server: PrivateServer
) -> None:
    run = store_run(everything(f"OpenSSH_{server.version}", HOSTILE))
    assert run.host is not None
    answer = reader.get(URL, {"host": run.host.slug, "policy": "everything"}).json()
    # ssh uses the first line of a keyword, so this line must precede the agent's.
    server.write("ours", answer["sshd_config"] + server.read("sshd_config"))
    for option in ("-t", "-T"):
        done = run_tool(
            [server.sshd, option, "-f", server.path("ours")],
        )
        assert done.status == 0, done.err
    assert f"ciphers {listed(answer['sshd_config'])}" in done.out.splitlines()
