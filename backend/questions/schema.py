"""Query parameters as the OpenAPI document lists them."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from questions.parameters import CHOICES
from results.selection import FILTERS

COUNT = {"type": "integer", "minimum": 1, "maximum": 999_999_999}

_FILTER_HELP = "Key of a value; may be repeated, any of them matches."

_TAG_HELP = (
    "KEY:VALUE; may be repeated: any value of one key matches, and all keys must match "
    "(tag=env:prod&tag=dc:fra&tag=dc:ams: production in either data centre)."
)

FILTER_PARAMETERS = [
    *(
        OpenApiParameter(
            name,
            OpenApiTypes.STR,
            many=True,
            description=_TAG_HELP if name == "tag" else _FILTER_HELP,
        )
        for name in FILTERS
    ),
    OpenApiParameter("since", OpenApiTypes.STR, description="Started on or after: date or time."),
    OpenApiParameter("until", OpenApiTypes.STR, description="Started on or before."),
]

RUN_ID_PARAMETER = OpenApiParameter(
    "run_id", OpenApiTypes.UUID, many=True, description="These runs alone; may be repeated."
)

COMPARISON_PARAMETERS = [
    *(OpenApiParameter(name, OpenApiTypes.STR, enum=values) for name, values in CHOICES.items()),
    OpenApiParameter(
        "group_by", OpenApiTypes.STR, description="cpu (default), os, openssl, ..., or tag:KEY."
    ),
    OpenApiParameter("cipher", OpenApiTypes.STR, many=True, description="Default: all."),
    OpenApiParameter(
        "block_size",
        COUNT,
        description="openssl, in bytes; default: the largest that all groups have.",
    ),
    OpenApiParameter("threads", COUNT, description="openssl; default 1."),
    OpenApiParameter("mac", OpenApiTypes.STR, description="ssh; asked for or negotiated."),
    OpenApiParameter("compression", OpenApiTypes.BOOL, description="ssh; default off."),
    OpenApiParameter("profile", OpenApiTypes.STR, description="Reference profile by name."),
    *FILTER_PARAMETERS,
]
