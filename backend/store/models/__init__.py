"""Every table of the project, one file for each idea."""

from store.models.audit import AuditEntry
from store.models.data_version import DataVersion
from store.models.dimension import DimensionValue
from store.models.environment import Environment
from store.models.export_job import ExportJob
from store.models.fleet_change import FleetChange, FleetChangeMember, HostWatch
from store.models.host import Host, HostAlias, HostName
from store.models.imported_text import ImportedText
from store.models.measurement import Measurement
from store.models.normalisation import BaselineLevel, ReferenceProfile, RunSpeedIndex
from store.models.note import Note
from store.models.notification import Notification, NotificationChannel
from store.models.run import Run, RunDocument
from store.models.saved_view import SavedView, Share
from store.models.series import Negotiated, Series
from store.models.token import ApiToken

__all__ = [
    "ApiToken",
    "AuditEntry",
    "BaselineLevel",
    "DataVersion",
    "DimensionValue",
    "Environment",
    "ExportJob",
    "FleetChange",
    "FleetChangeMember",
    "Host",
    "HostAlias",
    "HostName",
    "HostWatch",
    "ImportedText",
    "Measurement",
    "Negotiated",
    "Note",
    "Notification",
    "NotificationChannel",
    "ReferenceProfile",
    "Run",
    "RunDocument",
    "RunSpeedIndex",
    "SavedView",
    "Series",
    "Share",
]
