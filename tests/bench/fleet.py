"""Create a database with a realistic fleet for each size, from a fixed seed.

The application processes one example run for each kind of host. The derived rows of the example are
then copied to all other runs of the same kind.
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import accumulate, count, product
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.models import Model
from psycopg import sql

from runs.acceptance import create_run
from runs.models import Host, Run
from runs.processing import derive_run
from tests.live_site import url_of
from tests.sample_documents import environment, run_document
from tests.sample_documents import openssl_measurement as of_openssl
from tests.sample_documents import ssh_measurement as of_ssh

SEED = 2026
# Numbers of hosts and runs. A run has 48 measurements of ssh and 72 of openssl.
SIZES = {"tiny": (40, 160), "0.5m": (1042, 4167), "4.8m": (10000, 40000), "20m": (41667, 166667)}

CPUS = [f"Intel(R) Xeon(R) CPU E5-26{n:02} v{n % 5} @ 2.{n % 10}0GHz" for n in range(40)]
CPUS += [f"AMD EPYC 7{n:02}3 {8 + n}-Core Processor" for n in range(20)]
SYSTEMS = list(product(("debian", "rhel", "sles", "fedora", "freebsd"), range(8, 13)))
OPENSSL = [f"3.{n // 10}.{n % 10}" for n in range(25)]
OPENSSL += [f"1.{n % 2}.{1 + n % 2}{chr(97 + n)}" for n in range(15)]
AES_OF_SSH = [f"aes{bits}-{mode}" for bits in (128, 192, 256) for mode in ("ctr", "cbc")]
AES_OF_SSH += ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"]
SSH_RATES = {**dict.fromkeys(AES_OF_SSH, 400e6), "chacha20-poly1305@openssh.com": 210e6}
SSH_RATES |= {"arcfour": 260e6, "blowfish-cbc": 85e6, "3des-cbc": 26e6}
OPENSSL_RATES = {"aes-128-gcm": 3900e6, "aes-256-gcm": 3400e6, "aes-128-ctr": 3500e6}
OPENSSL_RATES |= {"aes-128-cbc": 780e6, "aes-256-cbc": 560e6, "chacha20-poly1305": 1500e6}
OPENSSL_RATES |= {"rc4": 520e6, "bf-cbc": 120e6, "des-ede3-cbc": 28e6}
FIRST_DAY, DAYS = datetime(2024, 1, 1, tzinfo=UTC), 1000
RUN_TIME = timedelta(minutes=5)


def zipf(random: Random, things: Sequence[Any], count: int) -> list[Any]:
    weights = list(accumulate(1 / (rank + 1) for rank in range(len(things))))
    return random.choices(things, cum_weights=weights, k=count)


def document_of_kind(kind: int, cpu: str) -> dict[str, Any]:
    random = Random(f"{SEED} kind {kind}")
    facts = environment(model=cpu, flags=["aes"] if random.random() > 0.1 else ["sse2"])
    facts["cpu"]["vendor"] = "AuthenticAMD" if "AMD" in cpu else "GenuineIntel"
    system, version = SYSTEMS[kind] if kind < 25 else zipf(random, SYSTEMS, 1)[0]
    facts["os"] = {"id": system, "name": system.title(), "version": f"{version}", "kernel": "6.1"}
    openssl = OPENSSL[kind] if kind < 40 else zipf(random, OPENSSL, 1)[0]
    facts["openssl"] = {"version_text": f"OpenSSL {openssl} 30 Jan 2024"}
    facts["virtualization"] = random.choice(("kvm", "none", "vmware", "amazon", "microsoft"))
    return run_document(
        *measurements("aes" in facts["cpu"]["flags"], random),
        run_id=str(UUID(int=random.getrandbits(128), version=4)),
        started_at="2023-12-01T00:00:00Z",
        finished_at="2023-12-01T00:05:00Z",
        host={"name": f"kind-{kind}", "machine_id": None},
        environment=facts,
    )


def measurements(has_aes: bool, random: Random) -> Iterator[dict[str, Any]]:
    speed = random.uniform(0.7, 2)
    for (cipher, plain), method, mac in product(
        SSH_RATES.items(), ("pipeline", "steady"), (None, "hmac-sha2-256")
    ):
        rate = plain * speed * (0.8 if mac else 1) / (1 if has_aes or "aes" not in cipher else 5)
        rates = [rate * random.gauss(1, 0.012) for _ in range(3)]
        measured = of_ssh(cipher, *rates, method=method, mac=mac)
        for sample in measured["samples"]:
            sample.update(client_cpu_seconds=1.3, server_cpu_seconds=1.2)
        yield measured
    each = [(cipher, "default") for cipher in OPENSSL_RATES]
    each += [(cipher, "masked") for cipher in ("aes-128-gcm", "aes-256-gcm", "aes-128-cbc")]
    for (cipher, mode), size in product(each, (16, 64, 256, 1024, 8192, 16384)):
        slower = 1 if "aes" not in cipher or (has_aes and mode == "default") else 5
        rate = OPENSSL_RATES[cipher] * speed * random.gauss(1, 0.03) / slower * size / (size + 30)
        yield of_openssl(cipher, rate, block_size=size, acceleration=mode)


def connect(**options: Any) -> "psycopg.Connection[Any]":
    return psycopg.connect(url_of(connection.settings_dict["NAME"]), **options)


def use_fleet(size: str) -> None:
    name = f"bench_{size.replace('.', '_')}"
    made_by = (
        Path(__file__),
        *sorted((settings.PROJECT_DIR / "backend/runs/models").rglob("*.py")),
    )
    version = sha256(b"".join(path.read_bytes() for path in made_by)).hexdigest()
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as server:
        said = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"
        is_there = server.execute(said, [name]).fetchone() == (version,)
        words = {"name": sql.Identifier(name), "version": sql.Literal(version)}
        if not is_there:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {name} WITH (FORCE)").format(**words))
            server.execute(sql.SQL("CREATE DATABASE {name}").format(**words))
        connection.close()
        connection.settings_dict["NAME"] = name
        if not is_there:
            fill(*SIZES[size])
            server.execute(sql.SQL("COMMENT ON DATABASE {name} IS {version}").format(**words))


def fill(hosts: int, runs: int) -> None:
    print(f"Making {hosts:,} hosts, {runs:,} runs, {runs * 120:,} measurements ...", flush=True)
    begun, random = time.monotonic(), Random(SEED)
    call_command("migrate", verbosity=0)
    call_command("load_published", verbosity=0)
    kinds = dict[int, str]()
    for number, cpu in enumerate([*CPUS, *zipf(random, CPUS, min(440, hosts // 4))]):
        document = document_of_kind(number, cpu)
        run = create_run(json.dumps(document).encode(), document, source="agent").run
        assert derive_run(run.pk).status == "ready", document["run_id"]
        kinds[run.pk] = cpu
    copy_measurements(write_runs(random, kinds, hosts, runs))
    with connect(autocommit=True) as database:
        database.execute("VACUUM (ANALYZE)")
    print(f"made in {time.monotonic() - begun:.0f} s", flush=True)


def write_runs(
    random: Random, kinds: dict[int, str], hosts: int, runs: int
) -> list[tuple[int, int]]:
    """Insert hosts and runs. Return pairs of primary keys: (new run, example run of the same kind).

    A few hosts have most of the runs (Zipf's law).
    """
    examples = {row["id"]: row for row in Run.objects.filter(pk__in=kinds).values()}
    example, first_run = Host.objects.order_by("-pk").values()[0], max(examples) + 1
    fleet, host_rows, run_rows, pairs = [], [], [], []
    for number, cpu in enumerate(zipf(random, CPUS, hosts)):
        name, key = f"host-{number:05}", example["id"] + 1 + number
        of_cpu = [kind for kind, of_kind in kinds.items() if of_kind == cpu]
        tags = {"site": f"s{random.randrange(10)}", "rack": f"r{random.randrange(40):02}"}
        source = random.choices(("agent", "import", "published"), (91, 7, 2))[0]
        own = {"host_id": key, "host_name": name, "tags": tags, "source": source}
        fleet.append((own, random.choices(of_cpu, k=random.choice((1, 1, 2, 3)))))
        is_published = source == "published"
        row = {**example, "id": key, "name": name, "slug": name, "published": is_published}
        host_rows.append(row)
    copy_rows(Host, host_rows)
    days = sorted(random.random() * DAYS for _ in range(runs))
    of_runs = random.sample([*fleet, *zipf(random, fleet, runs - hosts)], runs)
    for key, day, (own, installed) in zip(count(first_run), days, of_runs, strict=False):
        kind, begun = installed[int(day / DAYS * len(installed))], FIRST_DAY + timedelta(days=day)
        times = {"started_at": begun, "finished_at": begun + RUN_TIME, "received_at": begun}
        run_id = UUID(int=random.getrandbits(128), version=4)
        row = {**examples[kind], **own, **times, "id": key, "run_id": run_id}
        run_rows.append({**row, "hidden": random.random() < 0.01})
        pairs.append((key, kind))
    copy_rows(Run, run_rows)
    Host.objects.all().refresh_latest_run()
    return pairs


def copy_rows(model: type[Model], rows: Iterable[dict[str, Any]]) -> None:
    columns = [field.attname for field in model._meta.concrete_fields]
    words = {
        "table": sql.Identifier(model._meta.db_table),
        "columns": sql.SQL(",").join(map(sql.Identifier, columns)),
        "name": sql.Literal(model._meta.db_table),
    }
    number_on = "SELECT setval(pg_get_serial_sequence({name}, 'id'), max(id)) FROM {table}"
    with connect() as database:
        statement = sql.SQL("COPY {table} ({columns}) FROM STDIN").format(**words)
        with database.cursor().copy(statement) as copy:
            for row in rows:
                values = (row[column] for column in columns)
                copy.write_row(
                    [json.dumps(v) if isinstance(v, (dict, list)) else v for v in values]
                )
        database.execute(sql.SQL(number_on).format(**words))


def models_of_a_run() -> list[type[Model]]:
    related = [
        relation.related_model
        for relation in Run._meta.related_objects
        if relation.field.name == "run"
    ]
    return [
        model
        for model in related
        if isinstance(model, type) and "host" not in {field.name for field in model._meta.fields}
    ]


def copy_measurements(pairs: Sequence[tuple[int, int]]) -> None:
    """Copy all rows that belong to a run, such as measurements, to other runs.

    `pairs`: (primary key of the run to fill, primary key of the run to copy).
    """
    with connect() as source, connect() as target:
        target.execute("SET synchronous_commit = off; SET session_replication_role = replica")
        source.execute("CREATE TEMPORARY TABLE spread (of_run bigint, of_kind bigint)")
        with source.cursor().copy("COPY spread FROM STDIN") as copy:
            for pair in pairs:
                copy.write_row(pair)
        for model in models_of_a_run():
            fields = [field.attname for field in model._meta.concrete_fields]
            names = sql.SQL(",").join(
                [sql.Identifier(field) for field in fields if field not in ("id", "run_id")]
            )
            words = {"table": sql.Identifier(model._meta.db_table), "names": names}
            out = sql.SQL(
                "COPY (SELECT of_run, {names} FROM spread JOIN {table} ON run_id = of_kind"
                " ORDER BY of_run) TO STDOUT (FORMAT binary)"
            ).format(**words)
            into = "COPY {table} (run_id, {names}) FROM STDIN (FORMAT binary)"
            with (
                source.cursor().copy(out) as rows,
                target.cursor().copy(sql.SQL(into).format(**words)) as copy,
            ):
                for chunk in rows:
                    copy.write(chunk)


@contextmanager
def nothing_stays() -> Iterator[None]:
    """Create the tables for the floors: times of the same work without the application.

    At exit, delete these tables and all runs that were added in the meantime.
    """
    last = Run.objects.latest("pk").pk
    with connect() as database:
        for name in ("runs_measurement", "runs_rundocument"):
            database.execute(f"DROP TABLE IF EXISTS bench_{name}".encode())
            database.execute(f"CREATE TABLE bench_{name} (LIKE {name})".encode())
    yield
    with connect() as database:
        for model in models_of_a_run():
            table = sql.Identifier(model._meta.db_table)
            database.execute(sql.SQL("DELETE FROM {} WHERE run_id > %s").format(table), [last])
        database.execute(
            "UPDATE runs_host SET latest_run_id = NULL WHERE latest_run_id > %s", [last]
        )
        database.execute("DELETE FROM runs_run WHERE id > %s", [last])
        database.execute("DROP TABLE bench_runs_measurement, bench_runs_rundocument")
