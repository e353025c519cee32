"""Reference profiles."""

from django.db.models import QuerySet

from runs.models import ReferenceProfile


def select_profiles() -> QuerySet[ReferenceProfile]:
    """Every profile, the latest first."""
    return ReferenceProfile.objects.order_by("-id")


def active_profile() -> ReferenceProfile | None:
    """The one that `profile` defaults to; None on a site without any."""
    return ReferenceProfile.objects.filter(active=True).first()
