from django.conf import settings
from django.db import models
from django.utils import timezone


class Share(models.Model):
    """Store a link to a comparison. `digest`: hash of the secret that the link contains."""

    name = models.CharField(max_length=100, help_text="Recipient or purpose.")
    query = models.CharField(max_length=4000, help_text="Query string of the comparison.")
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
        return self.revoked_at is None and self.expires_at > timezone.now()
