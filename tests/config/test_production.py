import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from config.production import development_secret_key, weaknesses

PROJECT = Path(__file__).parent.parent.parent

SAFE = {
    "SECRET_KEY": "k7Jq2mZr9vX4bN8wTfL1cHs6dGy3pQe5uRaVoKi0Yt2Wz8Nj5B",  # pragma: allowlist secret
    "DEBUG": False,
    "ALLOWED_HOSTS": ["ciphers.example.org"],
    "DATABASE_URL": "postgresql://db/ciphermark",
    "REDIS_URL": "redis://redis/0",
    "CIPHERMARK_METRICS_TOKEN": "",
}


@pytest.mark.parametrize(
    ("change", "said"),
    (
        ({"SECRET_KEY": ""}, "CIPHERMARK_SECRET_KEY is missing"),
        ({"SECRET_KEY": "short"}, "CIPHERMARK_SECRET_KEY is too weak"),
        ({"SECRET_KEY": "a" * 60}, "CIPHERMARK_SECRET_KEY is too weak"),
        ({"SECRET_KEY": "django-insecure-" + "x8Kq2" * 9}, "CIPHERMARK_SECRET_KEY is too weak"),
        ({"DEBUG": True}, "CIPHERMARK_DEBUG is on"),
        ({"ALLOWED_HOSTS": []}, "CIPHERMARK_ALLOWED_HOSTS is empty"),
        ({"ALLOWED_HOSTS": ["*"]}, "allows every host"),
        ({"ALLOWED_HOSTS": [".com"]}, "a whole top-level domain"),
        ({"DATABASE_URL": ""}, "DATABASE_URL is missing"),
        ({"REDIS_URL": ""}, "REDIS_URL is missing"),
        ({"CIPHERMARK_METRICS_TOKEN": "prometheus"}, "CIPHERMARK_METRICS_TOKEN has fewer"),
        ({"DATABASE_URL": "postgresql://bench:bench@db/x"}, "DATABASE_URL has a well-known"),
        ({"DATABASE_URL": "postgresql://bench:postgres@db/x"}, "DATABASE_URL has a well-known"),
        ({"REDIS_URL": "redis://:Password@redis/0"}, "REDIS_URL has a well-known"),
    ),
)
def test_each_weakness_is_named(change: dict[str, object], said: str) -> None:
    assert list(weaknesses(SAFE)) == []
    (found,) = weaknesses({**SAFE, **change})
    assert said in found


def checked(**variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CIPHERMARK_ENV": "production",
        "CIPHERMARK_SECRET_KEY": str(SAFE["SECRET_KEY"]),
        "CIPHERMARK_ALLOWED_HOSTS": "ciphers.example.org",
        "DATABASE_URL": "postgresql://db/ciphermark",
        "REDIS_URL": "redis://redis/0",
        **variables,
    }
    del environment["DJANGO_ALLOW_ASYNC_UNSAFE"]  # set for the browser of other tests
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )


WRONG = {
    "DATABASE_URL": ("postgresql://cipher:se/cret@db/x", "Invalid URL"),
    "REDIS_URL": (
        "http://127.0.0.1:6379",
        "The URL must have the form redis://:PASSWORD@HOST:6379/0",
    ),
    "CIPHERMARK_PUBLIC": ("maybe", "Not a valid boolean."),
    "CIPHERMARK_PROXIES": ("x", "Not a valid integer."),
    "CIPHERMARK_PATH": ("bench", "Use a path such as /bench"),
    "CIPHERMARK_ANALYTICS_MEMORY": ("1MB", "Use a size such as 500MB or 2GB"),
    "CIPHERMARK_LOG_LEVEL": ("loud", "Must be one of: debug, info"),
    "CIPHERMARK_PROXY_SECRET": ("short", "Shorter than minimum length 20"),
    "CIPHERMARK_PROXY_USER_HEADER": ("X_User", "Use a header such as X-Forwarded-User"),
    "CIPHERMARK_OIDC_ISSUER": ("http://id.example.org", "Use the issuer URL"),
    "CIPHERMARK_ROLES": ("bench=owner", "'bench=owner' is not GROUP=ROLE"),
}


def test_each_setting_that_makes_no_sense_is_named_in_one_line() -> None:
    done = checked(**{name: value for name, (value, _) in WRONG.items()})
    assert done.returncode == 1
    for name, (_, said) in WRONG.items():
        assert f"{name}: {said}" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "cret@" not in done.stderr
    assert "CIPHERMARK_ENV: Must be one of: development" in checked(CIPHERMARK_ENV="test").stderr


def test_production_starts_with_its_secrets_in_files(tmp_path: Path) -> None:
    names = ("CIPHERMARK_SECRET_KEY", "DATABASE_URL", "REDIS_URL")
    values = (str(SAFE["SECRET_KEY"]), "postgresql://u:w3-pw@db/x", "redis://:w3-pw@redis/0")
    files = {f"{name}_FILE": tmp_path / name for name in names}
    for file, value in zip(files.values(), values, strict=True):
        file.write_text(f"{value}\n")
    given = {name: str(file) for name, file in files.items()}
    done = checked(**dict.fromkeys(names, ""), **given)
    assert done.returncode == 0, done.stderr
    files["DATABASE_URL_FILE"].unlink()
    refused = checked(**dict.fromkeys(names, ""), **given)
    assert "DATABASE_URL_FILE must be a readable file path" in refused.stderr


def test_djangos_own_check_of_a_deployment_is_clean() -> None:
    done = checked()
    assert (done.returncode, "0 silenced" in done.stdout) == (0, False), done.stderr
    signing_in = {
        "CIPHERMARK_OIDC_ISSUER": "https://id.example.org/",
        "CIPHERMARK_OIDC_CLIENT_ID": "bench",
        "CIPHERMARK_OIDC_CLIENT_SECRET": "s3cr3t",
        "CIPHERMARK_PROXY_USER_HEADER": "X-Forwarded-User",
        "CIPHERMARK_PROXY_SECRET": "twenty-characters-20",
        "CIPHERMARK_ROLES": "*=viewer",
    }
    preloaded = checked(CIPHERMARK_HSTS_PRELOAD="1", **signing_in)
    assert preloaded.returncode == 0, preloaded.stderr
    assert "0 silenced" in preloaded.stdout
    refused = checked(**{**signing_in, "CIPHERMARK_ROLES": ""})
    assert "CIPHERMARK_ROLES is empty" in refused.stderr


def test_the_development_key_is_made_once_and_private(tmp_path: Path) -> None:
    key = development_secret_key(tmp_path / "new")
    assert len(key) >= 50
    assert development_secret_key(tmp_path / "new") == key
    path = tmp_path / "new" / "secret-key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret-key"]


def test_a_misspelt_setting_is_named_and_none_that_the_project_names() -> None:
    files = [PROJECT / name for name in ("docker-compose.yml", ".env.example", "Dockerfile")]
    files += (PROJECT / "docs").glob("*.md")
    for folder in ("backend", "agent"):
        files += (PROJECT / folder).rglob("*.py")
    named = set(re.findall(r"CIPHERMARK_[A-Z_]*[A-Z]", " ".join(map(Path.read_text, files))))
    assert {"CIPHERMARK_PUBLIC", "CIPHERMARK_LISTEN", "CIPHERMARK_SERVER"} <= named
    kept = {"CIPHERMARK_ENV", "CIPHERMARK_SECRET_KEY", "CIPHERMARK_ALLOWED_HOSTS"}
    done = checked(**dict.fromkeys(named - kept, ""), CIPHERMARK_PUBLC="1")
    assert "CIPHERMARK_PUBLC is not a setting" in done.stderr
    assert "did you mean CIPHERMARK_PUBLIC?" in done.stderr
    assert done.stderr.count("is not a setting") == 1
