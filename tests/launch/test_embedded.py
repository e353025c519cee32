import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
import redis
from celery import Celery

from config.embedded import (
    EmbeddedServiceError,
    Services,
    celery_url,
    release_services,
    servers,
    start_services,
    stop_services,
)
from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer
from tests.launch.tools import UseServices, private_folder, servers_of, within

BOTH = {"postgres", "redis-server"}


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    with private_folder() as folder:
        start_services(folder)
        release_services(folder)
        yield folder


@contextmanager
def copied(made: Path) -> Iterator[Path]:
    # Creating a database takes longer than most of these tests.
    with private_folder() as folder:
        subprocess.run(["cp", "-a", f"{made}/.", folder], check=True)
        yield folder


@pytest.fixture
def data_dir(made: Path) -> Iterator[Path]:
    with copied(made) as folder:
        yield folder


@pytest.fixture(scope="module")
def running(made: Path) -> Iterator[Path]:
    with copied(made) as folder:
        start_services(folder)
        yield folder
        release_services(folder)


@pytest.fixture(scope="module")
def services(running: Path) -> Services:
    return start_services(running)


def value_kept(database_url: str) -> int:
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT figure FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def keep_value(database_url: str, figure: int) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT %s::int AS figure", [figure])


def end(user: "subprocess.Popen[str]") -> None:
    user.communicate(timeout=90)
    assert user.returncode == 0


def test_both_servers_answer_at_the_urls_and_stop_with_their_only_user(data_dir: Path) -> None:
    services = start_services(data_dir)
    with psycopg.connect(services.database_url) as connection:
        row = connection.execute("SELECT current_database(), current_setting('server_version')")
        database, version = row.fetchone() or ("", "")
    assert database == "ciphermark"
    assert version.startswith("18")
    assert redis.Redis.from_url(services.redis_url).ping()
    assert all(server.process() for server in servers(data_dir))
    assert start_services(data_dir) == services
    release_services(data_dir)
    assert servers_of(data_dir) == set()
    assert not any(server.process() for server in servers(data_dir))
    log = (data_dir / "log" / "postgres.log").read_text()
    assert "does not exist" not in log, "it is asked as a user that it has"


def test_what_was_stored_is_there_after_a_restart(data_dir: Path) -> None:
    first = start_services(data_dir)
    keep_value(first.database_url, 42)
    redis.Redis.from_url(first.redis_url).rpush("celery", "queued task")
    release_services(data_dir)
    second = start_services(data_dir)
    assert value_kept(second.database_url) == 42
    assert redis.Redis.from_url(second.redis_url).lrange("celery", 0, -1) == [b"queued task"]
    release_services(data_dir)


def kill(user: "subprocess.Popen[str]") -> None:
    user.kill()
    user.wait()


def test_all_processes_use_the_same_servers_and_the_last_one_that_lives_stops_them(
    data_dir: Path, use_services: UseServices
) -> None:
    first = use_services(data_dir)
    server = Postgres(data_dir).process()
    killed, last = use_services(data_dir), use_services(data_dir)
    assert Postgres(data_dir).process() == server
    kill(killed)
    end(first)
    assert servers_of(data_dir) == BOTH
    end(last)
    assert servers_of(data_dir) == set()


def test_a_fork_that_ends_leaves_the_servers_to_its_parent(
    running: Path, services: Services
) -> None:
    child = os.fork()
    if child == 0:
        try:
            release_services(running)
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert servers_of(running) == BOTH


def test_servers_left_by_a_killed_user_are_used_again_or_can_be_stopped(
    data_dir: Path, use_services: UseServices
) -> None:
    user = use_services(data_dir)
    left = Postgres(data_dir).process()
    kill(user)
    assert servers_of(data_dir) == BOTH
    user = use_services(data_dir)
    assert Postgres(data_dir).process() == left
    kill(user)
    stop_services(data_dir)
    assert servers_of(data_dir) == set()


@pytest.mark.parametrize("victim", ("postgres", "redis-server"))
def test_a_killed_server_comes_back_with_its_content(data_dir: Path, victim: str) -> None:
    first = start_services(data_dir)
    keep_value(first.database_url, 7)
    server = Postgres(data_dir) if victim == "postgres" else RedisServer(data_dir)
    process = server.process()
    assert process is not None
    process.kill()
    assert within(60, lambda: server.process() is None)
    again = start_services(data_dir)
    assert value_kept(again.database_url) == 7
    assert redis.Redis.from_url(again.redis_url).ping()
    release_services(data_dir)
    assert servers_of(data_dir) == set()


def test_a_stale_pid_file_with_the_number_of_another_process_is_not_a_server(
    data_dir: Path,
) -> None:
    start_services(data_dir)
    pid_file = data_dir / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    release_services(data_dir)
    owner = pid_file.parent.stat()
    # This process is running and is not PostgreSQL.
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    os.chown(pid_file, owner.st_uid, owner.st_gid)
    services = start_services(data_dir)
    with psycopg.connect(services.database_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    release_services(data_dir)


def test_a_stopped_but_living_server_is_waited_for(running: Path, services: Services) -> None:
    server = Postgres(running).process()
    assert server is not None
    server.send_signal(signal.SIGSTOP)
    resume = subprocess.Popen(["sh", "-c", f"sleep 1; kill -CONT {server.pid}"])
    start_services(running)
    resume.wait()
    assert Postgres(running).process() == server


def test_any_folder_name_works(data_dir: Path) -> None:
    folder = data_dir / ("long" * 40) / "with blank, comma 'quote' and $dollar" / "Größe"
    services = start_services(folder)
    with psycopg.connect(services.database_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert redis.Redis.from_url(services.redis_url).ping()
    celery = Celery(broker=celery_url(services.redis_url), set_as_current=False)
    with celery.connection() as connection_of_celery:
        connection_of_celery.ensure_connection(max_retries=1)
    sockets = Path(urlsplit(services.redis_url).path).parent
    assert sockets.is_relative_to("/tmp")
    assert not sockets.is_relative_to(folder)
    assert sockets.stat().st_mode & 0o077 == 0
    release_services(folder)
    assert servers_of(folder) == set()
    assert not sockets.exists()


def test_a_database_of_another_version_is_refused_in_one_sentence(data_dir: Path) -> None:
    start_services(data_dir)
    release_services(data_dir)
    (data_dir / "postgres" / "PG_VERSION").write_text("16\n")
    with pytest.raises(EmbeddedServiceError, match=r"created by PostgreSQL 16, but this is 18"):
        start_services(data_dir)
    release_services(data_dir)


def test_a_data_folder_that_cannot_be_made_is_one_sentence(data_dir: Path) -> None:
    (data_dir / "file").touch()
    with pytest.raises(EmbeddedServiceError, match="CIPHERMARK_DATA_DIR"):
        start_services(data_dir / "file" / "below")


def test_redis_listens_on_no_port(running: Path, services: Services) -> None:
    listening = {
        connection.pid
        for connection in psutil.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    server, database = RedisServer(running).process(), Postgres(running).process()
    assert server is not None
    assert database is not None
    assert not listening & {server.pid, database.pid}


def test_kept_answers_make_room_and_queued_tasks_stay(services: Services) -> None:
    answer = b"x" * 1_000_000
    with redis.Redis.from_url(services.redis_url) as client:
        client.rpush("celery", "a task")
        for number in range(300):
            client.set(f"answer-{number}", answer, ex=600)
        kept = len(client.keys("answer-*"))
        assert 100 < kept < 300
        assert client.lrange("celery", 0, -1) == [b"a task"]


@pytest.mark.parametrize(
    ("given", "expected"),
    (
        ("unix:///run/r.sock?db=0", "redis+socket:///run/r.sock?virtual_host=0"),
        ("unix:///run/r.sock?x=1&db=3", "redis+socket:///run/r.sock?virtual_host=3"),
        ("unix:///run/r.sock", "redis+socket:///run/r.sock?virtual_host=0"),
        ("redis://cache:6379/1", "redis://cache:6379/1"),
    ),
)
def test_celery_gets_the_same_redis_in_its_own_words(given: str, expected: str) -> None:
    assert celery_url(given) == expected
