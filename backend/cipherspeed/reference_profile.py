"""Load the reference profile of normalisation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class ReferenceProfile:
    """Represent levels a(tool, family) in bytes per second, and their source by tool."""

    name: str
    levels: Mapping[str, Mapping[str, float]]
    made_from: Mapping[str, str]


PROFILE = ReferenceProfile(
    **json.loads(resources.files(__package__).joinpath("data/profile.json").read_text("utf-8"))
)
