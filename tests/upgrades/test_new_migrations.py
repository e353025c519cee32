"""Web and worker of the version before go on while the database migrates: they survive it."""

import json

import pytest
from django.db.migrations.loader import MigrationLoader
from django_migration_linter import MigrationLinter
from django_migration_linter.sql_analyser.analyser import analyse_sql_statements

from tests.release import PROJECT
from tests.upgrades.recording import FOLDER


def faults(name: str) -> set[str]:
    """What a migration does that code which does not know it yet cannot stand."""
    linter = MigrationLinter(no_cache=True, no_output=True)
    statements = linter.get_sql("runs", name)
    errors, _, _ = analyse_sql_statements(linter.sql_analyser_class, statements, [])
    return {error.code for error in errors}


def new_migrations() -> list[str]:
    """Those since the last version of which there is a recorded site."""
    released = max(json.loads(path.read_text())["migration"] for path in FOLDER.glob("*.json"))
    names = [name for app, name in MigrationLoader(None).disk_migrations if app == "runs"]
    return sorted(name for name in names if name > released)


@pytest.mark.parametrize(
    ("name", "expected"),
    (
        ("0006_narrow_measurements", {"DROP_TABLE"}),
        ("0018_shared_machine_ids", {"ADD_UNIQUE"}),
        ("0023_drop_latest_results", {"DROP_TABLE", "DROP_COLUMN"}),
        ("0028_notification_kinds", {"ALTER_COLUMN"}),
        ("0024_fleet_changes", set()),
        ("0030_cpus_of_changes", set()),
    ),
)
def test_what_old_code_would_not_survive_is_found(db: None, name: str, expected: set[str]) -> None:
    assert faults(name) == expected


def test_old_code_survives_new_migrations_or_the_changes_say_to_stop_web(db: None) -> None:
    changes = (PROJECT / "CHANGELOG.md").read_text()
    for name in new_migrations():
        told = f"Stop web for the migration `{name}`" in changes
        assert told or not faults(name), f"{name}: {faults(name)}, see CONTRIBUTING.md"
