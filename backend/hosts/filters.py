"""Which notes are asked for."""

from datetime import time

from runs.filters import HostsFilter
from runs.parameters import MomentFilter, ParameterFilterSet
from store.models import Note


class NoteFilter(ParameterFilterSet):
    """The list of notes."""

    host = HostsFilter("host__slug", help_text="Key or number of a host; may be repeated.")
    since = MomentFilter("at", "gte", help_text="On or after: date or time.")
    until = MomentFilter("at", "lte", at=time.max, help_text="On or before: date or time.")

    class Meta(ParameterFilterSet.Meta):
        model = Note
        fields = ()
