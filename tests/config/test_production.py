"""What a production site refuses to start with; and settings read from the environment."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.env import Env
from config.production import refuse_weak_configuration
from config.secret_key import development_secret_key

PROJECT = Path(__file__).parent.parent.parent

SAFE = {
    "secret_key": "k7Jq2mZr9vX4bN8wTfL1cHs6dGy3pQe5uRaVoKi0Yt2Wz8Nj5B",  # pragma: allowlist secret
    "debug": False,
    "allowed_hosts": ["ciphers.example.org"],
    "database_url": "postgresql://db/ciphermark",
    "redis_url": "redis://redis/0",
}


def test_a_safe_configuration_starts() -> None:
    refuse_weak_configuration(**SAFE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "said"),
    (
        ({"secret_key": ""}, "CIPHERMARK_SECRET_KEY is missing"),
        ({"secret_key": "short"}, "CIPHERMARK_SECRET_KEY is too weak"),
        ({"secret_key": "a" * 60}, "CIPHERMARK_SECRET_KEY is too weak"),
        ({"secret_key": "django-insecure-" + "x8Kq2" * 9}, "CIPHERMARK_SECRET_KEY is too weak"),
        ({"debug": True}, "CIPHERMARK_DEBUG is on"),
        ({"allowed_hosts": []}, "CIPHERMARK_ALLOWED_HOSTS is empty"),
        ({"allowed_hosts": ["*"]}, "allows every host"),
        ({"database_url": ""}, "DATABASE_URL is missing"),
        ({"redis_url": ""}, "REDIS_URL is missing"),
        ({"metrics_token": "prometheus"}, "CIPHERMARK_METRICS_TOKEN is too weak"),
        ({"allowed_hosts": [".com"]}, "a whole top-level domain"),
        ({"database_url": "postgresql://bench:bench@db/x"}, "DATABASE_URL has a password"),
        ({"database_url": "postgresql://bench:postgres@db/x"}, "DATABASE_URL has a password"),
        ({"redis_url": "redis://:Password@redis/0"}, "REDIS_URL has a password"),
        ({"replica_url": "postgresql://x:x@db2/x"}, "DATABASE_REPLICA_URL has a password"),
    ),
)
def test_each_weakness_is_named(change: dict[str, object], said: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=said):
        refuse_weak_configuration(**{**SAFE, **change})  # type: ignore[arg-type]


def checked(**variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CIPHERMARK_ENV": "production",
        "CIPHERMARK_SECRET_KEY": str(SAFE["secret_key"]),
        "CIPHERMARK_ALLOWED_HOSTS": "ciphers.example.org",
        "DATABASE_URL": "postgresql://db/ciphermark",
        "REDIS_URL": "redis://redis/0",
        **variables,
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ("DATABASE_URL", "DATABASE_REPLICA_URL", "REDIS_URL"))
@pytest.mark.parametrize("password", ("se/cret#word", "s@se/cret", "s@se#cret"))
def test_an_address_that_cannot_be_is_named_without_its_password(name: str, password: str) -> None:
    done = checked(**{name: f"postgresql://cipher:{password}@db:5432/ciphermark"})
    assert f"{name} is no valid address" in done.stderr
    assert "cret" not in done.stderr
    assert "se/" not in done.stderr


@pytest.mark.parametrize("url", ("nonsense", "mysql://x@127.0.0.1/c", "http://127.0.0.1:6379"))
def test_an_address_of_something_else_is_told_with_what_it_must_be(url: str) -> None:
    for name, form in (
        ("DATABASE_URL", "postgresql://USER:PASSWORD@HOST:5432/DATABASE"),
        ("REDIS_URL", "redis://:PASSWORD@HOST:6379/0"),
    ):
        done = checked(**{name: url})
        assert done.returncode != 0
        assert f"{name} must be written as {form}" in done.stderr
        assert "Traceback" not in done.stderr


def test_an_option_that_postgresql_does_not_have_is_named() -> None:
    done = checked(DATABASE_URL="postgresql://db/ciphermark?sslmood=require&sslrootcert=/ca.crt")
    assert "DATABASE_URL ends with sslmood, which" in done.stderr
    assert "Traceback" not in done.stderr


def test_options_of_postgresql_and_of_django_are_taken() -> None:
    address = "postgresql://db/ciphermark?sslmode=require&assume_role=owner&prepare_threshold=3"
    assert Env({"DATABASE_URL": address}).postgres_url("DATABASE_URL") == address


def test_a_secret_may_lie_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s3cr3t\n")
    assert Env({"S_FILE": str(file), "S": ""}).secret("S") == "s3cr3t"
    file.write_text("redis://:p@h/0\n")
    assert Env({"S_FILE": str(file)}).url("S") == "redis://:p@h/0"
    with pytest.raises(ImproperlyConfigured, match="S and S_FILE are both set"):
        Env({"S_FILE": str(file), "S": "s3cr3t"}).secret("S")
    for content, path, said in (
        (b" \n", file, "secret, which holds no text"),
        (b"\xff", file, "secret, which holds no text"),
        (b"", tmp_path / "none", "none, which cannot be read: No such file"),
    ):
        file.write_bytes(content)
        with pytest.raises(ImproperlyConfigured, match=f"S_FILE names .*{said}"):
            Env({"S_FILE": str(path)}).secret("S")


def test_production_starts_with_its_secrets_in_files(tmp_path: Path) -> None:
    names = ("CIPHERMARK_SECRET_KEY", "DATABASE_URL", "REDIS_URL")
    values = (str(SAFE["secret_key"]), "postgresql://u:w3-pw@db/x", "redis://:w3-pw@redis/0")
    files = {f"{name}_FILE": tmp_path / name for name in names}
    for file, value in zip(files.values(), values, strict=True):
        file.write_text(value)
    given = {name: str(file) for name, file in files.items()}
    done = checked(**dict.fromkeys(names, ""), **given)
    assert done.returncode == 0, done.stderr
    files["DATABASE_URL_FILE"].write_text("postgresql://bench:bench@db/x")
    assert (
        "DATABASE_URL has a password that is well known"
        in checked(**dict.fromkeys(names, ""), **given).stderr
    )


def test_djangos_own_check_of_a_deployment_is_clean() -> None:
    done = checked()
    assert (done.returncode, "0 silenced" in done.stdout) == (0, False), done.stderr
    preloaded = checked(CIPHERMARK_HSTS_PRELOAD="1")
    assert preloaded.returncode == 0, preloaded.stderr
    assert "0 silenced" in preloaded.stdout


def test_a_flag_that_is_neither_on_nor_off_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"CIPHERMARK_PUBLIC is 'maybe'"):
        Env({"CIPHERMARK_PUBLIC": "maybe"}).flag("CIPHERMARK_PUBLIC")
    assert Env({"X": "yes"}).flag("X")
    assert not Env({"X": "0"}).flag("X")
    assert Env({}).flag("X", default=True)


def test_an_unknown_choice_is_refused_with_what_it_may_be() -> None:
    with pytest.raises(ImproperlyConfigured, match="development or production"):
        Env({"E": "staging"}).choice("E", ("development", "production"))
    assert Env({}).choice("E", ("development", "production")) == "development"


def test_lists_drop_blanks() -> None:
    assert Env({"H": " a.org, ,b.org,"}).names("H") == ["a.org", "b.org"]


def test_the_development_key_is_made_once_and_private(tmp_path: Path) -> None:
    key = development_secret_key(tmp_path / "new")
    assert len(key) >= 50
    assert development_secret_key(tmp_path / "new") == key
    path = tmp_path / "new" / "secret-key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["secret-key"]


@pytest.mark.parametrize(
    ("url", "is_here"),
    (
        ("", True),
        ("postgresql://a:b@127.0.0.1:5432/c", True),
        ("postgresql://a@localhost/c", True),
        ("postgresql://a@[::1]/c", True),
        ("postgresql:///c?host=/run/postgresql", True),
        ("postgresql://%2Frun%2Fpostgresql/c", True),
        ("postgresql://a@db.example.org/c", False),
        ("postgresql://a@10.0.0.2:6432/c", False),
        ("postgresql:///c?host=db", False),
        ("postgresql://a@127.db.example.org/c", False),
        ("postgresql://a@localhost,db.example.org/c", False),
        ("postgresql://a@localhost/c?hostaddr=10.0.0.5", False),
    ),
)
def test_no_key_of_one_machine_is_made_for_a_database_of_several(
    url: str, is_here: bool, tmp_path: Path
) -> None:
    if is_here:
        assert development_secret_key(tmp_path, url)
    else:
        with pytest.raises(ImproperlyConfigured, match="every machine"):
            development_secret_key(tmp_path, url)
        assert list(tmp_path.iterdir()) == []


def test_an_amount_of_memory_has_a_unit_and_is_not_tiny() -> None:
    assert Env({"MEMORY": " 500MB "}).memory("MEMORY", "1GB") == "500MB"
    assert Env({}).memory("MEMORY", "1GB") == "1GB"
    for value in ("lots", "1", "1MB", "-2GB", "1e9GB", "0GB"):
        with pytest.raises(ImproperlyConfigured, match=r"MEMORY is .*500MB or 2GB"):
            Env({"MEMORY": value}).memory("MEMORY", "1GB")


def test_a_misspelt_setting_is_named_at_start_with_the_nearest_one() -> None:
    done = checked(CIPHERMARK_PUBLC="1", CIPHERMARK_SSL_REDIRECT="1", CIPHERMARK_LISTEN="[::]:80")
    assert "CIPHERMARK_PUBLC is no setting of this version" in done.stderr
    assert "did you mean CIPHERMARK_PUBLIC?" in done.stderr
    assert done.stderr.count("is no setting") == 1


def test_no_name_of_ours_in_the_project_is_unknown() -> None:
    """What compose, the example, the documentation and the code name."""
    files = [PROJECT / name for name in ("docker-compose.yml", ".env.example", "Dockerfile")]
    files += (PROJECT / "docs").glob("*.md")
    for folder in ("backend", "agent"):
        files += (PROJECT / folder).rglob("*.py")
    named = set(re.findall(r"CIPHERMARK_[A-Z_]*[A-Z]", " ".join(map(Path.read_text, files))))
    assert {"CIPHERMARK_PUBLIC", "CIPHERMARK_LISTEN", "CIPHERMARK_SERVER"} <= named
    kept = {"CIPHERMARK_ENV", "CIPHERMARK_SECRET_KEY", "CIPHERMARK_ALLOWED_HOSTS"}
    done = checked(**dict.fromkeys(named - kept, ""))
    assert "is no setting" not in done.stderr
