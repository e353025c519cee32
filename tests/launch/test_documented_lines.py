"""The lines that the documentation gives to type, word for word.

No container engine and no systemd are needed: `tests.launch.stand_in` says what each of their
commands is mapped to and refuses whatever it does not know.
"""

import ast
import json
import re
import secrets
import shutil
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.launch.cutting_proxy import CuttingProxy
from tests.launch.documented import ELSEWHERE, NOT_RUN, commands
from tests.launch.documented_site import (
    VISITOR,
    Site,
    commit_all,
    make_origin,
    make_programs,
    production_settings,
)
from tests.launch.proxies import caddy, nginx, running
from tests.launch.stand_in import LASTING, UNKNOWN
from tests.launch.tools import PROJECT, UseServices, free_port, servers_of, within
from tests.launch.visitors import Visitors
from tests.production_shape import dockerfile, services
from tests.sample_documents import run_document
from tests.store.test_backups import Rows

RUN_IN = (
    "launch/test_documented_lines.py",
    "end_to_end/test_tutorial.py",
)
"""Tests that run commands: each is a string in one of them."""

PASSWORD = secrets.token_urlsafe(12)
METRICS_TOKEN = secrets.token_urlsafe(24)

IS_DUE = re.compile(r",[1-9]\d*,[^,]*\)$")
"""A row of what is watched of a host, whose changes the sweep is still to find."""


def test_every_documented_command_is_run_or_has_a_reason_why_not() -> None:
    """Where `make` is run elsewhere, or runs these very tests, it knows its target at least."""
    strings = [one for name in RUN_IN for one in strings_of(PROJECT / "tests" / name)]
    documented = {one for one in commands() if "COMMAND" not in one and one != scrape_config()}
    excused = {*ELSEWHERE, *NOT_RUN}
    make = {one for one in documented if re.match(r"([A-Z]+=\S+ )?make ", one)}
    left = documented - excused - make
    assert [one for one in left if not any(one in text for text in strings)] == []
    assert excused <= documented
    for command, name in ELSEWHERE.items():
        program, what, *_ = command.split()
        word = what if program in ("make", "manage.py", "systemd-analyze") else program
        assert word in (PROJECT / "tests" / name).read_text(), command
    for command in make:
        known = ["sh", "-c", command.replace("make ", "make --dry-run ")]
        assert subprocess.run(known, cwd=PROJECT, capture_output=True, check=False).returncode == 0


def strings_of(path: Path) -> list[str]:
    """The texts in a module's code."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return [str(node.value) for node in nodes if isinstance(node, ast.Constant)]


def test_the_image_installs_the_packages_as_the_lines_do() -> None:
    for options in ("install --no-deps --only-binary :all: --require-hashes -r", "npm run build"):
        assert options in dockerfile()


def scrape_config() -> str:
    """The block for Prometheus."""
    (block,) = [one for one in commands() if one.startswith("scrape_configs:")]
    return block


@pytest.fixture(scope="module")
def sites(
    production: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Site, Site]]:
    """Two machines, on which nothing has been started yet."""
    folder = tmp_path_factory.mktemp("servers")
    make_programs(folder / "programs")
    origin = make_origin(folder)
    both = (
        Site.on_a_new_machine(production, 1, origin),
        Site.on_a_new_machine(production, 2, origin),
    )
    yield both
    for site in both:
        site.succeeds("docker compose stop web web2 worker beat backup")


def configure(site: Site, file: Path) -> None:
    """Fill a copy of .env.example in."""
    site.fill_in(file, **production_settings(), CIPHERMARK_METRICS_TOKEN=METRICS_TOKEN)


def start(site: Site, **more: str) -> None:
    """The first lines of a machine, up to a site that answers."""
    site.types("cp .env.example .env")
    configure(site, site.clone / ".env")
    refused = site.attempt("docker compose up -d")
    assert "POSTGRES_PASSWORD is missing" in refused.stderr
    assert refused.returncode
    site.fill_in(site.clone / ".env", POSTGRES_PASSWORD="one", REDIS_PASSWORD="two", **more)
    site.types("docker compose up -d")
    assert within(180, site.is_ready)


@pytest.fixture(scope="module")
def site(sites: tuple[Site, Site]) -> Site:
    """The first machine, with its site running, by two web servers."""
    start(sites[0], COMPOSE_PROFILES="second-web")
    return sites[0]


@pytest.fixture(scope="module")
def token(site: Site) -> str:
    """One that the documented line has made."""
    made = "docker compose exec web python manage.py create_token office --scope upload"
    return site.types(made).strip()


def test_the_first_lines_start_a_site(site: Site, token: str) -> None:
    assert (site.machine / "var/lib/ciphermark/static/staticfiles.json").is_file()
    check = [sys.executable, "-m", "launch.healthcheck", f"{site.url}/healthz"]
    assert subprocess.run(check, env=site.environment, check=False).returncode == 0
    assert site.status("/accounts/login/", VISITOR) == 200
    for other in ("other.example", "127.0.0.1"):
        assert site.status("/accounts/login/", {**VISITOR, "Host": other}) == 400
    assert site.status("/", {**VISITOR, "X-Forwarded-Proto": "http"}) == 301
    site.stores(run_document(), token)
    other = site.manages("manage.py create_token NAME --scope upload", NAME="other").strip()
    site.stores(run_document(), other)


def create_superuser(site: Site, name: str, line: str) -> None:
    """Answer the questions of a documented line."""
    answers = {"Username": name, "Email": "", "Password:": PASSWORD, "(again)": PASSWORD}
    assert "Superuser created" in site.converses(line, answers)
    assert site.signs_in(name, PASSWORD) == 302


def test_somebody_signs_in_is_shut_out_and_let_in_again(site: Site) -> None:
    create_superuser(site, "olga", "docker compose exec web python manage.py createsuperuser")
    assert [site.signs_in("olga", "wrong") for _ in range(5)] == [200, 200, 200, 200, 429]
    site.manages("manage.py axes_reset_username NAME", NAME="olga")
    assert site.signs_in("olga", PASSWORD) == 302


def test_prometheus_scrapes_with_the_documented_block(site: Site) -> None:
    (job,) = yaml.safe_load(scrape_config())["scrape_configs"]
    assert job["job_name"] == "ciphermark"
    (site.machine / "etc/prometheus/ciphermark-token").write_text(METRICS_TOKEN)
    file = site.machine / job["authorization"]["credentials_file"].lstrip("/")
    assert job["static_configs"] == [{"targets": ["web:8000"]}]
    headers = {"Host": "web:8000", "Authorization": f"Bearer {file.read_text()}"}
    answer, text = site.answer("/metrics", headers)
    assert answer.status == 200
    found = {one.name for one in text_string_to_metric_families(text.decode())}
    assert "ciphermark_up" in found
    assert site.status("/metrics", {"Host": "web:8000"}) == 401


def test_the_id_of_an_answer_is_found_in_the_logs(site: Site, token: str) -> None:
    # pragma: allowlist nextline secret
    line = "docker compose logs --no-log-prefix web worker | grep 20caf52e588e46de9d9bf85f4ce31f9a"
    document = run_document()
    site.stores(document, token, **{"X-Request-ID": line.split()[-1]})
    assert "POST /api/v1/runs/ 202" in site.types(line)
    assert f"run {document['run_id']} is ready" in site.types("docker compose logs")


def saved_document(day: datetime) -> dict[str, Any]:
    """Of a run of that day."""
    return run_document(started_at=day.isoformat(), finished_at=day.isoformat())


def test_saved_documents_are_loaded_and_old_runs_deleted(site: Site, token: str) -> None:
    """One is known already: what makes lines of the files may not change a number."""
    days = (datetime.now(UTC) - timedelta(days=days) for days in (40, 30))
    old, newer = (saved_document(day) for day in days)
    site.stores(newer, token)
    for name, document in (("old", old), ("newer", newer)):
        (site.clone / f"{name}.json").write_text(json.dumps(document, indent=2))
    site.types('for file in *.json; do python3 -m json.tool --compact "$file"; done > runs.ndjson')
    site.types("docker compose exec -T web python manage.py load_runs - < runs.ndjson")
    assert site.has(old)
    file = site.clone / "runs.ndjson"
    site.manages("manage.py load_runs FILE...", FILE=f"--jobs 1 {file}")
    site.manages("manage.py prune_runs --older-than DAYS", DAYS="35")
    assert (site.has(old), site.has(newer)) == (False, True)


def test_the_analytics_copy_is_built_again_and_checked(site: Site) -> None:
    """By the worker: of our containers it alone may write the snapshots."""
    line = "docker compose exec worker python manage.py analytics --rebuild"
    assert "Written: " in site.types(line)
    assert "is what PostgreSQL has" in site.manages("manage.py analytics --check")
    folder = "analytics:/var/lib/ciphermark-analytics"
    assert folder in services()["worker"]["volumes"]
    assert f"{folder}:ro" in services()["web"]["volumes"]


UPDATE = (
    "git pull",
    "docker compose build",
    "docker compose run --rm migrate",
    "docker compose run --rm --no-deps worker python manage.py analytics --snapshot",
    "docker compose up -d --no-deps --wait web",
    "docker compose up -d --no-deps --wait web2",
    "docker compose up -d",
)


def test_every_request_is_answered_while_the_site_is_updated(
    site: Site, token: str, tmp_path: Path
) -> None:
    """With two web servers; whoever reads or uploads meanwhile notices nothing."""
    before = site.processes()
    (site.origin / "news").touch()
    commit_all(site.origin)
    with ExitStack() as stack:
        # As Docker's own proxy: while a container starts it takes connections and drops them.
        names = ("SITE_PORT", "SECOND_SITE_PORT")
        published = [CuttingProxy(int(site.environment[name]), seed=1) for name in names]
        first, second = (stack.enter_context(one).port for one in published)
        groups = []
        for prepare in (nginx, caddy):
            folder, port = tmp_path / prepare.__name__, free_port()
            folder.mkdir()
            stack.enter_context(running(prepare(folder, port, (first, second)), folder))
            groups.append(Visitors(port, folder / "certificate.pem", token))
        assert within(60, lambda: {one.ask("GET", "/healthz") for one in groups} == {200})
        groups = [stack.enter_context(visitors) for visitors in groups]
        for line in UPDATE:
            for visitors in groups:
                visitors.come()
            assert within(120, site.is_ready)
            site.types(line)
            if line == "docker compose build":
                assert site.processes() == before
        for visitors in groups:
            visitors.come()
    assert (site.clone / "news").exists()
    after = site.processes()
    assert all(after[name] != before[name] for name in (*LASTING, "web2"))
    with psycopg.connect(site.environment["DATABASE_URL"]) as server:
        stored = {str(one) for (one,) in server.execute("SELECT run_id FROM runs_run")}
    for visitors in groups:
        assert {status for _, status in visitors.read} == {200}, Counter(visitors.read)
        # 200: stored by a server whose answer was lost, and sent to the other one again.
        assert {status for _, status in visitors.uploaded} <= {200, 202}
        assert {run_id for run_id, _ in visitors.uploaded} <= stored


def test_a_backup_is_made_each_night_and_all_is_well(site: Site) -> None:
    now = time.time()
    site.types("docker compose --profile backup up -d")
    assert within(120, site.is_ready)
    log = site.machine / "backup.log"
    assert within(120, lambda: ": whole. " in log.read_text()), log.read_text()
    wakes = datetime.fromtimestamp(now + int((site.machine / "slept").read_text()), UTC)
    assert abs(wakes - wakes.replace(hour=2, minute=30, second=0)) < timedelta(minutes=10)
    site.types("docker compose exec backup python manage.py backup")
    site.types("docker compose cp backup:/var/lib/ciphermark-backups .")
    assert len([*(site.clone / "ciphermark-backups").glob("ciphermark-*Z.dump")]) == 2


@dataclass(frozen=True)
class Moved:
    """A site restored from a backup on a server just started, a run of it, and its rows before any
    of its services ran again.
    """

    site: Site
    document: dict[str, Any]
    rows: Rows


@pytest.fixture(scope="module")
def moved(sites: tuple[Site, Site], site: Site, token: str) -> Moved:
    """The first machine's site on the second machine."""
    old, new = site, sites[1]
    document = run_document()
    old.stores(document, token)
    # Nothing is left for the sweep: it would change rows between the backup and the stop.
    assert within(60, lambda: not any(map(IS_DUE.search, old.rows()["runs_hostwatch"])))
    old.types(
        "(umask 077; docker compose exec -T web python manage.py backup -"
        " > ciphermark-2026-11-21.dump)"
    )
    old.types("docker compose stop web worker beat")
    assert within(60, lambda: {*LASTING} <= {*old.exit_codes()})
    start(new)
    shutil.copy(old.clone / "ciphermark-2026-11-21.dump", new.clone)
    new.types("docker compose stop web worker beat")
    new.types(
        "docker compose run --rm -T web python manage.py restore - < ciphermark-2026-11-21.dump"
    )
    rows = new.rows()
    new.types("docker compose start web worker beat")
    assert within(180, new.is_ready)
    return Moved(new, document, rows)


def test_the_documented_restore_brings_a_site_to_a_server_just_started(
    site: Site, moved: Moved
) -> None:
    assert {site.exit_codes()[name] for name in LASTING} == {"0\n"}
    assert moved.rows == {**site.rows(), "django_session": []}
    assert moved.site.has(moved.document)


def test_a_site_goes_back_a_version_and_runs_and_is_updated_under_systemd(moved: Moved) -> None:
    site, document = moved.site, moved.document
    listed = site.manages("manage.py showmigrations runs")
    *_, before, last = re.findall(r"\[X\] (\w+)", listed)
    assert f"Unapplying runs.{last}" in site.manages("manage.py migrate runs NAME", NAME=before)
    site.types("docker compose stop web worker beat")

    site.types("install -D -m 600 .env.example /etc/ciphermark/ciphermark.env")
    settings = site.machine / "etc/ciphermark/ciphermark.env"
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    configure(site, settings)
    servers = {name: site.environment[name] for name in ("DATABASE_URL", "REDIS_URL")}
    site.fill_in(settings, **servers)
    site.types("cp -r deploy/systemd/. /etc/systemd/system/ && systemctl daemon-reload")
    site.types("systemctl enable --now ciphermark.target")
    assert within(180, site.is_ready)
    assert site.has(document)
    create_superuser(
        site,
        "otto",
        "systemd-run --pty --unit ciphermark-manage .venv/bin/python manage.py createsuperuser",
    )
    site.types(
        "systemctl stop ciphermark-web.socket ciphermark-web ciphermark-worker ciphermark-beat"
    )
    (site.origin / "more").touch()
    commit_all(site.origin)
    site.types("cd /opt/ciphermark && git pull")
    site.types(
        "systemctl restart ciphermark-migrate"
        " && systemctl restart ciphermark-web ciphermark-worker ciphermark-beat"
    )
    assert within(180, site.is_ready)
    assert site.has(document)


def test_servers_that_a_killed_process_left_are_stopped(
    data_dir: Path, use_services: UseServices
) -> None:
    user = use_services(data_dir)
    user.kill()
    user.wait()
    assert servers_of(data_dir)
    line = "python -m config.embedded FOLDER"
    assert line in commands()
    stop = line.replace("python", sys.executable, 1).replace("FOLDER", str(data_dir))
    subprocess.run(["sh", "-c", stop], cwd=PROJECT / "backend", check=True)
    assert servers_of(data_dir) == set()


def test_a_line_that_the_stand_in_does_not_know_fails(sites: tuple[Site, Site]) -> None:
    for line in ("docker compose kill web", "docker compose run web true", "docker ps"):
        refused = sites[0].attempt(line)
        assert refused.returncode == UNKNOWN
        assert f"no mapping for: {line}" in refused.stderr
