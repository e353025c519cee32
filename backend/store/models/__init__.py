"""Every table of the project, one file for each idea."""

from store.models.audit import AuditEntry as AuditEntry
from store.models.dimension import DimensionValue as DimensionValue
from store.models.dimension import Environment as Environment
from store.models.fleet_change import FleetChange as FleetChange
from store.models.fleet_change import FleetChangeMember as FleetChangeMember
from store.models.fleet_change import HostWatch as HostWatch
from store.models.host import Host as Host
from store.models.host import HostAlias as HostAlias
from store.models.imported_text import ImportedText as ImportedText
from store.models.normalisation import BaselineLevel as BaselineLevel
from store.models.normalisation import RunSpeedIndex as RunSpeedIndex
from store.models.note import Note as Note
from store.models.notification import Notification as Notification
from store.models.notification import NotificationChannel as NotificationChannel
from store.models.run import Run as Run
from store.models.run import RunDocument as RunDocument
from store.models.series import Measurement as Measurement
from store.models.series import Negotiated as Negotiated
from store.models.series import Series as Series
from store.models.share import Share as Share
from store.models.token import ApiToken as ApiToken
from store.models.token import ExternalIdentity as ExternalIdentity
