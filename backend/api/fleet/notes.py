"""HTTP of notes: sentences at a date, on a host, a run or a group."""

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
from api.serializers import NULLABLE
from ingest.edits.notes import LONGEST_TEXT, About, add_note, remove_note
from questions.list_parameters import NOTES, group_of, note_query
from questions.parameters import described
from results.hosts.notes import select_notes
from store.models import Host, Note, Run


class NoteSerializer(serializers.Serializer[Any]):
    """A note; it is about a host, a run or a group, the others are null."""

    id = serializers.IntegerField()
    at = serializers.DateTimeField(help_text="The time it is about.")
    text = serializers.CharField()
    host = serializers.CharField(source="host.slug", default=None, help_text="Key.", **NULLABLE)
    run_id = serializers.UUIDField(source="run.run_id", default=None, **NULLABLE)
    group_by = serializers.CharField()
    group = serializers.CharField(help_text="Key of a group of that grouping.")
    made_by = serializers.CharField()
    created_at = serializers.DateTimeField()


class NewNoteSerializer(serializers.Serializer[Any]):
    """A note to make: about exactly one of host, run_id, and group_by with group."""

    text = serializers.CharField(max_length=LONGEST_TEXT)
    at = serializers.DateTimeField(
        required=False, help_text="Default: the start of the run, else now."
    )
    host = serializers.CharField(max_length=260, required=False, help_text="Key of the host.")
    run_id = serializers.UUIDField(required=False)
    group_by = serializers.CharField(max_length=60, required=False)
    group = serializers.CharField(max_length=260, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One thing that there is."""
        named = [name for name in ("host", "run_id", "group_by") if name in attrs]
        if len(named) != 1 or ("group" in attrs) != ("group_by" in attrs):
            raise ValidationError("Name one of host, run_id, or group_by with group.")
        return {**attrs, "about": _about(attrs)}


def _about(attrs: dict[str, Any]) -> About:
    if "host" in attrs:
        host = Host.objects.filter(slug=attrs["host"]).first()
        if host is None:
            raise ValidationError({"host": f"There is no host {attrs['host']!r}."})
        return About(host=host.pk)
    if "run_id" in attrs:
        run = Run.objects.filter(run_id=attrs["run_id"]).first()
        if run is None:
            raise ValidationError({"run_id": f"There is no run {attrs['run_id']}."})
        return About(run=run.pk)
    try:
        group_by, group = group_of(attrs["group_by"], attrs["group"])
    except ValueError as error:
        raise ValidationError({"group_by": str(error)}) from None
    return About(group_by=group_by, group=group)


class ByDate(ByCursor):
    """By the time that notes are about."""

    ordering = ("-at", "-id")  # type: ignore[assignment]  # DRF takes several


class NoteList(ListView):
    """Notes."""

    pagination_class = ByDate

    permissions = {"POST": MayAddNotes}

    @extend_schema(
        operation_id="notes_list",
        parameters=described(NOTES),
        responses=NoteSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """What people noted, the latest date first."""
        return self.page(request, select_notes(note_query(request.query_params)), NoteSerializer)

    @extend_schema(
        operation_id="notes_make", request=NewNoteSerializer, responses={201: NoteSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a note. For signed-in editors."""
        asked = sent(NewNoteSerializer, request)
        by = actor_of(request)
        note = changed(lambda: add_note(asked["about"], asked["text"], asked.get("at"), by))
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
