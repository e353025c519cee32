import json
import os
import re
import subprocess
from pathlib import Path

from tests.live_site import PROJECT, READY_WITHIN, LiveSite
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

ENDS = ("started", "finished")
# Other tests upload runs of "nas", the host in the examples.
HOST = "api-example"


def test_every_example_of_the_api_works(site: LiveSite, tmp_path: Path) -> None:
    text = (PROJECT / "docs" / "api.md").read_text("utf-8")
    first, *others = re.findall(r"```sh\n(.*?)```", text, re.S)
    series = (ssh_measurement("aes128-ctr", 4e8), openssl_measurement("aes-128-gcm", 4e9))
    variables = {
        **os.environ,
        "SITE": site.url,
        "TOKEN": site.token("read"),
        "UPLOAD_TOKEN": site.token("upload"),
    }

    def run(script: str) -> str:
        script = script.replace("curl -s ", "curl -sS --fail-with-body ")
        script = script.replace("host=nas", f"host={HOST}")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=READY_WITHIN,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    upload, *questions = re.split(r"(?m)^(?=#)", first)[1:]
    for day, library in enumerate(("OpenSSL 1.1.1w", "OpenSSL 3.0.19"), start=1):
        facts = {**environment(), "openssl": {"version_text": library}}
        times = {f"{end}_at": f"2026-01-0{day}T00:00:0{n}Z" for n, end in enumerate(ENDS)}
        document = run_document(*series, host={"name": HOST}, environment=facts, **times)
        (tmp_path / "run.json").write_text(json.dumps(document))
        run_id = document["run_id"]
        assert run_id in run(upload)
        site.wait_until_ready(run_id)
    answers = [run(question) for question in questions]
    assert run_id in answers[0]
    assert '"aes-128-gcm"' in answers[1]
    assert "aes-128-gcm" in (tmp_path / "comparison.csv").read_text("utf-8")
    assert '"aes128-ctr"' in answers[-1]
    assert all(run(example) for example in others)
