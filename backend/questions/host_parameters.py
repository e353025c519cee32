"""What an address asks of the list of hosts."""

from django.http import QueryDict

from questions.parameters import Parameter, checked, choice, text
from results.hosts.host_facets import HOST_FILTERS
from results.hosts.host_list import NEWEST, ORDERINGS, WORST_FIRST, HostQuery


def _searched(value: str) -> str:
    return text(value).strip()


HOST_LIST = [
    Parameter("q", _searched, "Hosts of which a name has this text."),
    *(
        Parameter(name, text, "Key of a value; may be repeated, any of them matches.", many=True)
        for name in HOST_FILTERS
        if name != "verdict"
    ),
    choice(
        "verdict",
        WORST_FIRST,
        "AES verdict of the latest run; may be repeated: verdict=hidden&verdict=unused are the "
        "hosts that do not use their AES hardware.",
        many=True,
    ),
    choice("ordering", ORDERINGS, "Default: -id, the newest first. What is unknown comes last."),
]


def host_query(params: QueryDict) -> HostQuery:
    """The list that the parameters ask for; DRF's `ValidationError` names every fault."""
    asked = checked(params, HOST_LIST)
    filters = {name: asked[name] for name in HOST_FILTERS if name in asked}
    return HostQuery(asked.get("q", ""), filters, asked.get("ordering", NEWEST))
