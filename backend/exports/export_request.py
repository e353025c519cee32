"""What a file answers: the question with everything that decided its numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class ExportRequest:
    """The question to the measurements, when it was asked, and where it can be asked again.

    Fields that do not apply (the block size of ssh) are None or empty. `filters` are those that
    narrowed the answer, by the name of their parameter. `of_measurements`: these were asked for,
    and what is compared of them stands beside them.
    """

    title: str
    site: str
    link: str
    asked_at: datetime
    of_measurements: bool = False
    tool: str = ""
    group_by: str = ""
    split_by: str = ""
    relative_to: str = ""
    matched: bool | None = None
    metric: str = ""
    ciphers: tuple[str, ...] = ()
    block_size: int | None = None
    operation: str = ""
    threads: int | None = None
    method: str = ""
    mac: str = ""
    compression: bool | None = None
    target_kind: str = ""
    acceleration: str = ""
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
