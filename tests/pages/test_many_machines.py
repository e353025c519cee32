import os
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest
import yaml
from django.test import Client

from tests.pages.conftest import page, text_of

SECRET = "cmk_" + "k" * 43


def shown(html: str, name: str) -> str:
    found = re.search(rf'<pre id="{name}"[^>]*><code>(.*?)</code>', html, re.S)
    assert found, name
    return unescape(found[1])


@pytest.fixture
def hosts(administrator: Client) -> str:
    return page(administrator, "/hosts/")


def test_the_ansible_play_hands_over_the_token_in_a_file_that_it_removes(hosts: str) -> None:
    (play,) = yaml.safe_load(shown(hosts, "ansible-play"))
    assert (play["hosts"], play["serial"], play["become"]) == ("all", 1, True)
    steps = play["tasks"][-1]
    copy, fetch, run = steps["block"]
    assert copy["ansible.builtin.copy"]["mode"] == "0600"
    assert fetch["ansible.builtin.get_url"]["url"] == "http://testserver/agent.py"
    assert run["ansible.builtin.command"]["cmd"].endswith(
        " --server http://testserver --token-file token"
    )
    assert steps["always"][0]["ansible.builtin.file"]["state"] == "absent"


def test_cloud_init_gets_the_token_from_its_file(hosts: str, tmp_path: Path) -> None:
    (tmp_path / "cloud-init.yaml").write_text(shown(hosts, "cloud-init"))
    (tmp_path / "ciphermark.token").write_text(f"{SECRET}\n")
    subprocess.run(["sh", "-c", shown(hosts, "with-token")], cwd=tmp_path, check=True)
    text = (tmp_path / "user-data").read_text()
    assert text.startswith("#cloud-config\n")
    assert (tmp_path / "user-data").stat().st_mode & 0o077 == 0
    said = yaml.safe_load(text)
    (file,) = said["write_files"]
    assert (file["content"], file["permissions"]) == (SECRET, "0600")
    fetch, run, remove = said["runcmd"]
    assert fetch[-1] == "http://testserver/agent.py"
    assert run[-2:] == ["--server=http://testserver", f"--token-file={file['path']}"]
    assert remove == ["rm", "-f", file["path"]]


SSH = """#!/bin/sh
printf '%s\\n' "$@" >> "$LOG"
for last; do :; done
exec sh -c "$last"
"""
CURL = """#!/bin/sh
echo 'import sys; print(open(sys.argv[-1]).read().strip(), sys.argv[1:])' > agent.py
"""


def test_the_ssh_loop_hands_each_host_the_token_and_leaves_nothing(
    hosts: str, tmp_path: Path
) -> None:
    for name, text in (("ssh", SSH), ("curl", CURL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    left = tmp_path / "left"
    left.mkdir()
    (tmp_path / "hosts.txt").write_text("web1\nweb2\n")
    save = shown(hosts, "save-token")
    subprocess.run(["sh", "-c", save], input=f"{SECRET}\n", cwd=tmp_path, text=True, check=True)
    assert (tmp_path / "ciphermark.token").stat().st_mode & 0o077 == 0
    done = subprocess.run(
        ["sh", "-c", shown(hosts, "ssh-loop")],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "LOG": str(tmp_path / "log"),
            "TMPDIR": str(left),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    options = "['run', '--quick', '--server', 'http://testserver', '--token-file', 'token']"
    assert done.stdout.splitlines() == [f"{SECRET} {options}"] * 2
    log = (tmp_path / "log").read_text()
    assert "web1\n" in log
    assert "web2\n" in log
    assert SECRET not in log
    assert list(left.iterdir()) == []


def test_an_address_of_this_machine_alone_is_said_with_what_serves_a_fleet(
    administrator: Client,
) -> None:
    html = administrator.get("/hosts/", headers={"host": "127.0.0.1:8123"}).content.decode()
    said = text_of(html)
    assert "Only this machine can reach http://127.0.0.1:8123" in said
    assert 'href="/docs/operations/#production-docker-compose"' in html
    page = administrator.get("/docs/operations/").content.decode()
    assert 'id="production-docker-compose"' in page
    assert 'ssh -R 8123:127.0.0.1:8123 "$h"' in shown(html, "ssh-loop")
