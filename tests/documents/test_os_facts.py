"""Operating systems as people write them."""

from documents.environment import os_facts, os_version
from tests.cases import each


@each(
    ("written", "name", "version"),
    (
        ("Debian 12", "Debian GNU/Linux", "12"),
        ("Debian GNU/Linux 12", "Debian GNU/Linux", "12"),
        ("Ubuntu 22.04.3 LTS", "Ubuntu", "22.04.3"),
        ("Rocky Linux 9.3 (Blue Onyx)", "Rocky Linux", "9.3"),
        ("Windows 10 Pro", "Windows", "10 Pro"),
        ("OS X 10.10", "OS X", "10.10"),
        ("DSM v7.2", "DSM", "7.2"),
        ("OpenWrt", "OpenWrt", None),
        ("  Alpine  3.19 ", "Alpine", "3.19"),
    ),
)
def test_name_and_version_are_told_apart(written: str, name: str, version: str | None) -> None:
    assert os_facts(written) == {"name": name, "version": version}


@each("text", ("Debian GNU/Linux 12", "macOS 14.1", "Plan 9", "9front"))
def test_what_is_shown_is_read_as_what_it_was(text: str) -> None:
    assert os_version(os_facts(text)) == text
