from django.core.serializers.json import DjangoJSONEncoder
from django.db import models


class AuditEntry(models.Model):
    """Store an entry of the audit log. Database triggers reject updates and deletions of entries.

    An entry has no foreign keys, because the user and the changed object may be deleted later.
    """

    class ActorKind(models.TextChoices):
        PERSON = "person"
        TOKEN = "token"  # noqa: S105 - a kind of actor
        COMMAND = "command"
        PROVIDER = "provider"
        ANONYMOUS = "anonymous"

    at = models.DateTimeField(auto_now_add=True)
    actor_kind = models.CharField(max_length=10, choices=ActorKind)
    actor = models.CharField(
        max_length=200, help_text="Name of the user, token, command or provider."
    )
    actor_key = models.BigIntegerField(null=True, blank=True)
    action = models.CharField(max_length=40, help_text='Such as "run.hide".')
    object_kind = models.CharField(max_length=40)
    object_key = models.CharField(max_length=100)
    object_name = models.CharField(max_length=300)
    before = models.JSONField(null=True, blank=True, encoder=DjangoJSONEncoder)
    after = models.JSONField(null=True, blank=True, encoder=DjangoJSONEncoder)

    class Meta:
        ordering = ["-id"]
        verbose_name = "audit log entry"
        verbose_name_plural = "audit log entries"

    def __str__(self) -> str:
        return f"{self.actor}: {self.action} {self.object_name}"
