"""The audit finds what it is there for."""

from pathlib import Path

import pytest

from tests import audit


def test_dangerous_code_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("backend", "agent"):
        (tmp_path / name).mkdir()
    (tmp_path / "manage.py").write_text("import subprocess\nsubprocess.run(input(), shell=True)\n")
    monkeypatch.setattr(audit, "PROJECT", tmp_path)
    assert audit.code() == (False, "1 found")


def test_a_secret_is_found_in_git_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "AKIA" + "IOSFODNN7" + "EXAMPLQ"
    (tmp_path / "settings.py").write_text(f"aws = '{key}'\n")
    monkeypatch.setattr(audit, "PROJECT", tmp_path)
    assert audit.secrets() == (False, "1 found")
    (tmp_path / "settings.py").write_text("aws = None\n")
    assert audit.secrets() == (True, "")


def test_no_answer_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "PARTS", {"packages": lambda: audit.Outcome(None, "no index")})
    assert audit.main([]) == 1
