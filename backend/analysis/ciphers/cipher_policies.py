"""Which ciphers a recommendation may name (data/policies.json)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from analysis.ciphers.cipher_catalogue import STATUSES, CatalogueError, Status

DEFAULT_POLICY = "modern"


@dataclass(frozen=True)
class Policy:
    """A named choice of statuses, safest first, and what it means in a sentence."""

    name: str
    statuses: tuple[Status, ...]
    meaning: str

    def allows(self, status: Status) -> bool:
        """Whether a cipher of this status may be recommended."""
        return status in self.statuses


@cache
def policies() -> dict[str, Policy]:
    """All policies by name, the strictest first."""
    text = resources.files(__package__).joinpath("data/policies.json").read_text("utf-8")
    return {raw["name"]: read_policy(raw) for raw in json.loads(text)["policies"]}


def read_policy(raw: Mapping[str, Any]) -> Policy:
    """A typed policy; `CatalogueError` unless it takes all that is as safe as its weakest."""
    statuses = STATUSES[: len(raw["statuses"])]
    if tuple(raw["statuses"]) != statuses:
        raise CatalogueError(f"policy {raw['name']}: its statuses must begin {statuses}")
    return Policy(raw["name"], statuses, raw["meaning"])
