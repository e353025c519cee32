from django.conf import settings
from django.db import models

from accounts.models.token import ApiToken


class ImportedText(models.Model):
    """Store an imported text as received, and the choices of the user."""

    import_id = models.UUIDField(unique=True, help_text="Derived from the content.")
    body = models.BinaryField(help_text="Bytes exactly as received.")
    asked = models.JSONField(help_text="Parse options and corrections.")
    format = models.CharField(max_length=20)
    sections = models.JSONField(
        help_text="Keys of the imported sections, in the order of the corrections."
    )
    parser_version = models.PositiveSmallIntegerField(help_text="Version of the last parser.")
    received_at = models.DateTimeField()
    token = models.ForeignKey(ApiToken, models.SET_NULL, null=True, blank=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.format} {self.import_id}"
