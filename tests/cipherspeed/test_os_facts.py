from cipherspeed.environment import os_facts, os_name, os_version
from tests.cases import each


@each(
    ("written", "name", "version"),
    (
        ("Debian 12", "Debian GNU/Linux", "12"),
        ("Debian GNU/Linux 12", "Debian GNU/Linux", "12"),
        ("Ubuntu 22.04.3 LTS", "Ubuntu", "22.04.3"),
        ("Rocky Linux 9.3 (Blue Onyx)", "Rocky Linux", "9.3"),
        ("Windows 10 Pro", "Windows", "10 Pro"),
        ("OS X 10.10", "macOS", "10.10"),
        ("DSM v7.2", "DSM", "7.2"),
        ("OpenWrt", "OpenWrt", None),
        ("  Alpine  3.19 ", "Alpine Linux", "3.19"),
    ),
)
def test_name_and_version_are_told_apart(written: str, name: str, version: str | None) -> None:
    assert os_facts(written) == {"name": name, "version": version}


@each("text", ("Debian GNU/Linux 12", "macOS 14.1", "Plan 9", "9front"))
def test_what_is_shown_is_read_as_what_it_was(text: str) -> None:
    assert os_version(os_facts(text)) == text


@each(
    ("shown", "stated"),
    (
        ("Fedora 33", {"id": "fedora", "name": "Fedora", "version": "33"}),
        ("Fedora 40", {"id": "fedora", "name": "Fedora Linux", "version": "40"}),
        ("macOS 10.10", {"id": "macos", "name": "Mac OS X", "version": "10.10"}),
        ("macOS 10.11", {"name": "OS X", "version": "10.11"}),
        ("macOS 14.1", {"id": "macos", "name": "macOS", "version": "14.1"}),
        ("Debian GNU/Linux 12", {"id": "debian", "version": "12"}),
        (
            "Red Hat Enterprise Linux 7.9",
            {"id": "rhel", "name": "Red Hat Enterprise Linux Server", "version": "7.9"},
        ),
        ("CentOS Stream 9", {"id": "centos", "name": "CentOS Stream", "version": "9"}),
        ("Plan 9", {"name": "Plan 9"}),
    ),
)
def test_a_system_has_one_name_in_all_its_releases(shown: str, stated: dict[str, str]) -> None:
    assert os_version(stated) == shown
    assert os_name(stated) == (shown.rpartition(" ")[0] if "version" in stated else shown)
