"""What the documentation gives to type: the lines of its blocks, and commands named in its text."""

import re
from collections.abc import Iterator
from functools import cache

from tests.launch.tools import PROJECT

PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/operations.md",
    "docs/upgrading.md",
    "docs/kubernetes.md",
)

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^ {4}\S.*\n)+", re.MULTILINE)
FILES = ("ini", "nginx")
"""Languages of blocks that are parts of files: tests of their subjects have those."""
COMMENT = re.compile(r"\s+#.*$")
SPAN = re.compile(r"`([^`\n]+)`")
PROGRAM = (
    r"make|docker|git|systemctl|systemd-(?:run|analyze)|journalctl|ssh|for|curl|brew"
    r"|(?:\.venv/bin/)?python3?|manage\.py"
)
COMMAND = re.compile(rf"(?:[A-Z]+=\S+ )?(?:{PROGRAM}) .+|\.ci/run|systemd-machine-id-setup")

ELSEWHERE = {
    "make run": "launch/test_make_run.py",
    "systemd-analyze security": "launch/test_deploy.py",
    "manage.py backup FILE": "store/test_backups.py",
    "manage.py backup --keep 14 --verify [FOLDER]": "store/test_backups.py",
    "manage.py restore FILE": "store/test_backups.py",
    "manage.py renew_runs": "ingest/test_rederive.py",
    "pg_basebackup --pgdata=FOLDER --write-recovery-conf --checkpoint=fast"
    ' --dbname="host=PRIMARY user=replicator password=PASSWORD"': "standby.py",
    "manage.py move_documents": "ingest/test_moved_documents.py",
    "manage.py move_documents --back": "ingest/test_moved_documents.py",
    "mkdir -p roles && curl -fsS https://ciphermark.example/ansible-role.tar.gz"
    " | tar -xzC roles": "end_to_end/test_ansible_role.py",
    "ansible-playbook -i INVENTORY ciphermark.yaml": "end_to_end/test_ansible_role.py",
}
"""Commands that tests of another subject run."""

DOWNLOADS = "downloads packages; the image installs the same files with the same options"
OF_SCALE = (
    "starts, ends or asks containers of other images; launch/test_scale.py runs their commands"
)

NOT_RUN = {
    "python3 -m venv .venv && .venv/bin/pip install --no-deps --only-binary :all: --require-hashes"
    " -r requirements.txt": DOWNLOADS,
    ".venv/bin/pip install --no-deps --only-binary :all: --require-hashes -r requirements.txt":
    DOWNLOADS,
    "npm --prefix frontend ci && npm --prefix frontend run build": DOWNLOADS,
    "useradd --system --home-dir /var/lib/ciphermark --shell /usr/sbin/nologin ciphermark":
    "adds a user to this machine",
    "systemd-machine-id-setup": "changes the id of this machine",
    "journalctl -u 'ciphermark-*'": "reads the journal, which only systemd as process 1 writes",
    "docker compose version": "asks the engine about itself",
    "systemctl daemon-reload && systemctl restart ciphermark-web.socket": "opens a socket",
    "systemctl start ciphermark.target": "is the half of `systemctl enable --now` that is run",
    "brew install redis": "is for macOS",
    "ssh -R 8000:127.0.0.1:8000 OTHER": "opens a session on a second machine",
    "ssh -R 8000:127.0.0.1:8000 HOST": "opens a session on a second machine",
    ".ci/run": "runs these tests",
    "manage.py changepassword admin": "asks for the password at a terminal",
    "docker run --rm --interactive --env-file secrets.env"
    " --env CIPHERMARK_ALLOWED_HOSTS=ciphermark.example.org registry.example.org/ciphermark:1.0"
    " python manage.py restore - < ciphermark.dump":
    "starts a container; its command is run with `docker compose run`",
    "docker compose exec web cat sbom/python.cdx.json": "shows a file that only the image has",
    "docker compose --profile scale up -d": OF_SCALE,
    "docker compose logs pooler": OF_SCALE,
    "docker compose exec -T worker python manage.py backup -": OF_SCALE,
    "docker compose rm --stop --force replica": OF_SCALE,
    "docker volume rm ciphermark_replica": OF_SCALE,
    "docker compose rm --stop --force web2 worker2 replica pooler objects proxy": OF_SCALE,
    "docker compose config": "asks the engine about its file",
}  # fmt: skip
"""Commands that no test runs, and why."""

CLUSTER = re.compile(r"\(?(umask 077; )?kubectl ")
"""Such a command asks a cluster, and there is none; `test_kubernetes.py` reads what it is given."""


@cache
def commands() -> set[str]:
    """Every command of the pages, without its comment; of a block in another language, the text."""
    found = {command for page in PAGES for command in _commands((PROJECT / page).read_text())}
    return {command for command in found if not CLUSTER.match(command)}


def _commands(page: str) -> Iterator[str]:
    for language, block in FENCED.findall(page):
        if language in ("", "sh"):
            yield from _lines(block)
        elif language not in FILES:
            yield block.strip()
    prose = FENCED.sub("", page)
    for block in INDENTED.findall(prose):
        yield from _lines(block)
    yield from filter(COMMAND.fullmatch, SPAN.findall(INDENTED.sub("", prose)))


def _lines(block: str) -> Iterator[str]:
    for line in block.splitlines():
        if command := COMMENT.sub("", line.strip()):
            yield command
