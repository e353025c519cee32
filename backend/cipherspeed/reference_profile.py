import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class ReferenceProfile:
    """Store the levels a(f) of the reference host in bytes per second.

    `levels`: by tool and baseline family f. `hosts`: name of the reference host, by tool.
    `made_from`: source of the levels, by tool.
    """

    name: str
    levels: Mapping[str, Mapping[str, float]]
    hosts: Mapping[str, str]
    made_from: Mapping[str, str]


PROFILE = ReferenceProfile(
    **json.loads(resources.files(__package__).joinpath("data/profile.json").read_text("utf-8"))
)
