import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class ReferenceProfile:
    """Store the throughput a(f), called level, of the reference host for each baseline family f.

    `levels`: bytes per second, by tool and baseline family. `hosts`: name of the reference host, by
    tool.
    `made_from`: source of the levels, by tool.
    """

    name: str
    levels: Mapping[str, Mapping[str, float]]
    hosts: Mapping[str, str]
    made_from: Mapping[str, str]


PROFILE = ReferenceProfile(
    **json.loads(resources.files(__package__).joinpath("data/profile.json").read_text("utf-8"))
)
