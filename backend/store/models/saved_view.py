"""Views of the compare page that a person keeps."""

from django.conf import settings
from django.db import models


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
