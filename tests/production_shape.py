"""The production shape as the repository has it: docker-compose.yml and Dockerfile as data."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).parent.parent


@cache
def compose() -> dict[str, Any]:
    """docker-compose.yml, which takes a while to read."""
    parsed: dict[str, Any] = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
    return parsed


def services() -> dict[str, Any]:
    """Its services by name."""
    parsed: dict[str, Any] = compose()["services"]
    return parsed


def dockerfile() -> str:
    """The text of the Dockerfile."""
    return (PROJECT / "Dockerfile").read_text()


def command_of(service: str, folder: Path) -> list[str]:
    """A service's command line; only its folder is ours instead of the container's."""
    command = services()[service].get("command")
    if command is None:
        found = re.findall(r"^CMD (\[.*\])$", dockerfile(), re.MULTILINE)
        command = yaml.safe_load(found[-1])
    return [str(word).replace("/var/lib/ciphermark", str(folder)) for word in command]
