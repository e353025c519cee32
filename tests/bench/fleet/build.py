"""The data set of a size in a database of its own, made once and found again."""

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from psycopg import sql

from ingest.processing.run_processing import DERIVED_VERSION
from results.analytics import engine
from results.analytics.engine import Engine
from store import migrations
from store.server_settings import keep_settings
from tests.bench.fleet.copying import dsn
from tests.bench.fleet.plan import Plan
from tests.bench.fleet.prototypes import (
    process_prototypes,
    remove_prototypes,
    rows_of,
    spread_rows,
)
from tests.bench.fleet.rows import write_documents, write_runs
from tests.bench.fleet.size import SEED, Size
from tests.bench.telling import Steps

MADE_BY = (Path(__file__).parent, Path(migrations.__path__[0]))
"""The folders with the programs that decide what is in the database."""


def provide(size: Size) -> None:
    """Connect Django to the database of this size, made now unless it is there already."""
    if not is_there(size):
        create(size)
        use(size)
        _fill(size)
        _note_version(size)
    use(size)


def is_there(size: Size) -> bool:
    """Whether the data set of this size is there, made by this version of the program."""
    return _version_of(size) == _wanted_version(size)


_engines: dict[str, Engine] = {}


def use(size: Size) -> None:
    """Have everything in this process read and write the database of this size, and its copy."""
    connection.close()
    connection.settings_dict["NAME"] = size.database
    keep_settings(using="default")
    connection.close()  # what is measured has them from its beginning
    engine._engine = _engines.setdefault(size.name, Engine())


def _fill(size: Size) -> None:
    steps = Steps(f"{size.name}: {size.hosts:,} hosts, {size.measurements:,} measurements")
    with steps.step("tables and published figures"):
        call_command("migrate", interactive=False, verbosity=0)
        call_command("load_published", verbosity=0)
    with steps.step("plan"):
        plan = Plan(size)
    with steps.step("one run of each kind, processed by the program") as progress:
        prototypes = process_prototypes(plan, progress)
    with steps.step("hosts, environments and runs"):
        places = write_runs(plan, rows_of(prototypes))
    with ThreadPoolExecutor() as pool:
        documents = pool.submit(write_documents, dsn(), plan, places, plan.runs)
        with steps.step("measurements, with documents beside them") as progress:
            spread_rows(dsn(), plan, places, prototypes, progress)
        with steps.step("the rest of the documents"):
            remove_prototypes(prototypes)
            documents.result()
    with steps.step("VACUUM (ANALYZE)"):
        _vacuum()
    steps.end()


def _vacuum() -> None:
    with psycopg.connect(dsn(), autocommit=True) as raw:
        raw.execute("VACUUM (ANALYZE)")
        raw.execute("CHECKPOINT")


def _wanted_version(size: Size) -> str:
    digest = sha256(f"{SEED} {size} {DERIVED_VERSION}".encode())
    for folder in MADE_BY:
        for path in sorted(folder.glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _maintenance() -> psycopg.Connection:
    return psycopg.connect(settings.DATABASE_URL, dbname="postgres", autocommit=True)


def _version_of(size: Size) -> str | None:
    """What the finished data set was made by; None where there is none."""
    statement = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"
    with _maintenance() as raw:
        row = raw.execute(statement, [size.database]).fetchone()
    return row[0] if row else None


def _note_version(size: Size) -> None:
    comment = sql.SQL("COMMENT ON DATABASE {} IS {}")
    with _maintenance() as raw:
        name = sql.Identifier(size.database)
        raw.execute(comment.format(name, sql.Literal(_wanted_version(size))))


def create(size: Size) -> None:
    """An empty database of this size, instead of the one that was there."""
    connection.close()
    name = sql.Identifier(size.database)
    with _maintenance() as raw:
        raw.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        raw.execute(sql.SQL("CREATE DATABASE {}").format(name))
