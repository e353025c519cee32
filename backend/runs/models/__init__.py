"""Every table of the project, one file for each idea."""

from runs.models.audit import AuditEntry
from runs.models.environment import DimensionValue, Environment
from runs.models.export_job import ExportJob
from runs.models.host import Host, HostAlias, HostName
from runs.models.imported_text import ImportedText
from runs.models.latest import DataVersion, Latest, Machine
from runs.models.measurement import Measurement
from runs.models.normalisation import BaselineLevel, ReferenceProfile, RunSpeedIndex
from runs.models.rollup import Rollup, RollupSlot
from runs.models.run import Run, RunDocument
from runs.models.saved_view import SavedView
from runs.models.series import Negotiated, Series
from runs.models.share import Share
from runs.models.token import ApiToken

__all__ = [
    "ApiToken",
    "AuditEntry",
    "BaselineLevel",
    "DataVersion",
    "DimensionValue",
    "Environment",
    "ExportJob",
    "Host",
    "HostAlias",
    "HostName",
    "ImportedText",
    "Latest",
    "Machine",
    "Measurement",
    "Negotiated",
    "ReferenceProfile",
    "Rollup",
    "RollupSlot",
    "Run",
    "RunDocument",
    "RunSpeedIndex",
    "SavedView",
    "Series",
    "Share",
]
