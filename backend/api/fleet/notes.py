"""HTTP of notes: sentences at a date, on a host."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.audit import actor_of
from api.editing import changed
from api.http.api_view import ApiView, ByCursor, ListView, sent
from api.http.permissions import MayAddNotes, MayRemoveNotes
from hosts.editing import LONGEST_TEXT, add_note, remove_note
from hosts.filters import NoteFilter
from store.models import Host, Note


class NoteSerializer(serializers.ModelSerializer[Note]):
    """A note on a host."""

    host = serializers.CharField(source="host.slug", help_text="Key.")

    class Meta:
        model = Note
        fields = ("id", "at", "text", "host", "made_by", "created_at")


class NewNoteSerializer(serializers.Serializer[Any]):
    """A note to make."""

    text = serializers.CharField(max_length=LONGEST_TEXT)
    at = serializers.DateTimeField(required=False, help_text="Default: now.")
    host = serializers.CharField(max_length=260, help_text="Key or number of the host.")

    def validate_host(self, key: str) -> int:
        """Return the primary key of the host."""
        host = Host.objects.find(key)
        if host is None:
            raise ValidationError(f"There is no host {key!r}.")
        return host.pk


class ByDate(ByCursor):
    """By the time that notes are about."""

    ordering = ("-at", "-id")  # type: ignore[assignment]  # DRF takes several


class NoteList(ListView):
    """Notes."""

    pagination_class = ByDate
    filterset_class = NoteFilter
    permissions = {"POST": MayAddNotes}

    @extend_schema(operation_id="notes_list", responses=NoteSerializer(many=True))
    def get(self, request: Request) -> Response:
        """What people noted, the latest date first."""
        return self.page(request, Note.objects.select_related("host"), NoteSerializer)

    @extend_schema(
        operation_id="notes_make", request=NewNoteSerializer, responses={201: NoteSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a note. For signed-in editors."""
        asked = sent(NewNoteSerializer, request)
        by = actor_of(request)
        note = changed(lambda: add_note(asked["host"], asked["text"], asked.get("at"), by))
        return Response(NoteSerializer(note).data, status=status.HTTP_201_CREATED)


class NoteView(ApiView):
    """One note."""

    permission_classes = (MayRemoveNotes,)

    @extend_schema(operation_id="notes_remove", responses={204: None, 404: OpenApiTypes.OBJECT})
    def delete(self, request: Request, note_id: int) -> Response:
        """Remove a note; the audit log keeps it. For signed-in editors."""
        if not Note.objects.filter(pk=note_id).exists():
            raise NotFound(f"There is no note {note_id}.")
        remove_note(note_id, actor_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
