"""Views of the compare page: kept by a person, or shared by an unlisted link."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class SavedView(models.Model):
    """A name for the compare page's address; it belongs to one person, and only they see it."""

    MOST_CHARACTERS = 8000
    """Of a query: longer addresses are cut or refused by what stands between."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=100)
    query = models.CharField(max_length=MOST_CHARACTERS, blank=True, help_text="Without its “?”.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["person", "name"], name="one_view_per_name_and_person"),
        ]

    def __str__(self) -> str:
        return self.name


class Share(models.Model):
    """A link to one comparison view, for whoever has it; of its secret only a hash is stored."""

    name = models.CharField(max_length=100, help_text="Whom or what it is for.")
    query = models.CharField(max_length=4000, help_text="The view: a query string.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = "shared link"

    def __str__(self) -> str:
        return self.name

    @property
    def is_valid(self) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and self.expires_at > timezone.now()
