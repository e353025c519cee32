from django.conf import settings
from django.db import models
from django.utils import timezone


class ApiToken(models.Model):
    class Scope(models.TextChoices):
        UPLOAD = "upload"
        READ = "read"

    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=10, choices=Scope)
    host_name = models.CharField(
        max_length=200, blank=True, help_text="Refuse uploads of other hosts."
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-id"]
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} ({self.scope})"

    @property
    def is_valid(self) -> bool:
        return self.revoked_at is None and (
            self.expires_at is None or self.expires_at > timezone.now()
        )


class ExternalIdentity(models.Model):
    """Link an account to a user of an identity provider or of an authenticating proxy."""

    LONGEST_SUBJECT = 255  # OpenID Connect Core 1.0, section 2

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="external_identity"
    )
    issuer = models.CharField(max_length=200, help_text="URL of the provider, or “proxy”.")
    subject = models.CharField(
        max_length=LONGEST_SUBJECT, help_text="Permanent ID of the user at the provider."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_per_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"
