import os
import re
import subprocess
from pathlib import Path

from tests.live_site import PROJECT, LiveSite

PAGES = "".join((PROJECT / name).read_text() for name in ("README.md", "docs/tutorial.md"))

# Shorten the measurement from two minutes.
SHORT = "run --name tutorial --tools openssl --ciphers aes-128-gcm --tries 1 --seconds 0.1 --wait 0"


def typed(line: str, folder: Path, **replaced: str) -> str:
    assert line in PAGES
    for word, other in replaced.items():
        line = line.replace(word, other)
    environment = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(
        ["sh", "-c", line.replace("agent.py run", f"agent.py {SHORT}")],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=240,
        check=True,
    ).stdout


TUTORIAL = (
    "curl -fsO http://127.0.0.1:8000/agent.py"
    " && python3 agent.py run --server http://127.0.0.1:8000 --token TOKEN"
)
README = (
    "curl -fsO https://SERVER/agent.py"
    " && python3 agent.py run --server https://SERVER --token TOKEN"
)


def test_the_line_for_another_machine_measures_and_uploads(site: LiveSite, tmp_path: Path) -> None:
    server = "http://127.0.0.1:8000"
    assert README in PAGES
    assert README.replace("https://SERVER", server) == TUTORIAL
    measured = typed(TUTORIAL, tmp_path, **{server: site.url, "TOKEN": site.token("upload")})
    said = re.search(r"uploaded: \S+/runs/(\S+)/", measured)
    assert said, measured
    assert site.wait_until_ready(said[1])["host_name"] == "tutorial"
    schedule = typed("python3 agent.py schedule", tmp_path)
    assert "OnCalendar=" in schedule
    assert re.search(r"^\S+ \S+ \* \* \d ", schedule, re.MULTILINE), "a line for cron"
