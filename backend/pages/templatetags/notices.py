"""What a page says of its address before anything else."""

from typing import Any

from django import template

from pages.misspelt import misspelt_parameters

register = template.Library()


@register.inclusion_tag("pages/parts/misspelt.html", takes_context=True)
def misspelt_notice(context: template.Context) -> dict[str, Any]:
    """Which parameters were passed over that were surely meant as others."""
    return {"misspelt": misspelt_parameters(context["request"].GET)}
