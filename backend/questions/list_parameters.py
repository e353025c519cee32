"""What an address asks of the list of changes."""

from datetime import time

from django.http import QueryDict

from compare.question import TOOLS
from questions.comparison_parameters import NARROWING
from questions.parameters import Parameter, checked, choice, moment, text
from results.hosts.fleet_changes import DIRECTIONS, KINDS, STATUSES, ChangeQuery
from store.models import Host

_TAG = next(one for one in NARROWING if one.name == "tag")

DATES = [
    Parameter("since", moment(time.min), "Seen on or after: date or time."),
    Parameter("until", moment(time.max), "Seen on or before."),
]

CHANGES = [
    choice("kind", KINDS, "May be repeated.", many=True),
    choice("direction", DIRECTIONS, "May be repeated.", many=True),
    choice("status", STATUSES, "May be repeated; fixed: by a later run.", many=True),
    choice("tool", TOOLS, many=True),
    Parameter("family", text, "A cipher family (aes) or one of its modes (aes-gcm).", many=True),
    Parameter("host", text, "Key of a host; may be repeated.", many=True),
    _TAG,
    *DATES,
]


def change_query(params: QueryDict) -> ChangeQuery:
    """The entries that the parameters ask for; DRF's `ValidationError` names every fault."""
    chosen = checked(params, CHANGES)
    return ChangeQuery(
        kinds=chosen.get("kind", ()),
        directions=chosen.get("direction", ()),
        statuses=chosen.get("status", ()),
        hosts=tuple(Host.objects.present_keys(chosen.get("host", ()))),
        families=chosen.get("family", ()),
        tools=chosen.get("tool", ()),
        tags=chosen.get("tag", ()),
        since=chosen.get("since"),
        until=chosen.get("until"),
    )
