"""Reference profiles."""

from django.db.models import QuerySet

from runs.models import ReferenceProfile


def select_profiles() -> QuerySet[ReferenceProfile]:
    """Every profile, the latest first."""
    return ReferenceProfile.objects.order_by("-id")


def active_profile() -> ReferenceProfile | None:
    """The one that `profile` defaults to; None on a site without any."""
    return ReferenceProfile.objects.filter(active=True).first()


def has_levels(tool: str) -> bool:
    """Whether any profile knows baseline levels of this tool, so that it can be normalised."""
    return any(profile.levels.get(tool) for profile in select_profiles())
