"""The ssh loop of the page: each host gets the real agent, measures and uploads."""

import os
import re
import subprocess
import urllib.request
from html import unescape
from pathlib import Path

from tests.live_site import LiveSite

SSH = """#!/bin/sh
for last; do :; done
exec sh -c "$last"
"""
"""The host that is reached is this machine."""

QUICK = (
    "run --quick --name looped --tools openssl --ciphers aes-128-gcm --tries 1 --seconds 0.1"
    " --wait 0"
)


def test_the_ssh_loop_measures_and_uploads(site: LiveSite, tmp_path: Path) -> None:
    with urllib.request.urlopen(f"{site.url}/hosts/", timeout=60) as answer:
        found = re.search(r'<pre id="ssh-loop"[^>]*><code>(.*?)</code>', answer.read().decode())
    assert found
    line = unescape(found[1])
    (tmp_path / "ssh").write_text(SSH)
    (tmp_path / "ssh").chmod(0o755)
    (tmp_path / "hosts.txt").write_text("looped\n")
    (tmp_path / "ciphermark.token").write_text(site.token("upload") + "\n")
    done = subprocess.run(
        ["sh", "-c", line.replace("run --quick", QUICK)],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    said = re.search(r"uploaded: \S+/runs/(\S+)/", done.stdout)
    assert said, done.stdout + done.stderr
    assert done.stderr.count("looped: failed") == 0
    assert site.wait_until_ready(said[1])["host_name"] == "looped"
