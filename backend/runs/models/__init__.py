"""Define the models of runs with their hosts, environments and measurements."""

from runs.models.dimension import DimensionValue as DimensionValue
from runs.models.dimension import Environment as Environment
from runs.models.host import Host as Host
from runs.models.host import HostAlias as HostAlias
from runs.models.host import HostWatch as HostWatch
from runs.models.imported_text import ImportedText as ImportedText
from runs.models.normalisation import BaselineLevel as BaselineLevel
from runs.models.normalisation import RunSpeedIndex as RunSpeedIndex
from runs.models.run import Run as Run
from runs.models.run import RunDocument as RunDocument
from runs.models.series import Measurement as Measurement
from runs.models.series import Negotiated as Negotiated
from runs.models.series import Series as Series
