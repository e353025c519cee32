import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).parent.parent


@cache
def compose() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
    return parsed


def services() -> dict[str, Any]:
    parsed: dict[str, Any] = compose()["services"]
    return parsed


def dockerfile() -> str:
    return (PROJECT / "Dockerfile").read_text()


def command_of(service: str, folder: Path) -> list[str]:
    command = services()[service].get("command")
    if command is None:
        found = re.findall(r"^CMD (\[.*\])$", dockerfile(), re.MULTILINE)
        command = yaml.safe_load(found[-1])
    return [str(word).replace("/var/lib/ciphermark", str(folder)) for word in command]
