import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings


def test_misspelt_settings_and_hosts_are_named(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.UNKNOWN_SETTINGS = ["CIPHERMARK_KEEP_DAY is not a setting; did you mean KEEP_DAYS?"]
    settings.ALLOWED_HOSTS = ["https://ciphers.example.org/"]
    with pytest.raises(CommandError, match="is not a host name"):
        call_command("check")
    settings.ALLOWED_HOSTS, settings.PRODUCTION = ["localhost"], True
    call_command("check")
    said = capsys.readouterr().err
    assert "CIPHERMARK_KEEP_DAY is not a setting" in said
    assert "Add the site's host name" in said
