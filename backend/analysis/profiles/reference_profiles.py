"""The reference profile that a new installation starts with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class ReferenceProfile:
    """Frozen baseline levels a(tool, family), bytes per second, and what they were made from.

    `fits`: tool -> how its levels were fitted, as `made_profile.tool_fit_json` has it.
    """

    name: str
    levels: Mapping[str, Mapping[str, float]]
    made_from: str
    fits: Mapping[str, Mapping[str, Any]]


@cache
def initial_profile() -> ReferenceProfile:
    """The profile *2015*, fitted to the published figures of that year."""
    text = resources.files(__package__).joinpath("data/profile-2015.json").read_text("utf-8")
    return ReferenceProfile(**json.loads(text))
