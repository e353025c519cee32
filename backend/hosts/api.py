from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.generics import DestroyAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.audit import actor_of
from core.api_view import ApiView, ByCursor, ByCursorOfIds, ListView, sent
from core.permissions import (
    MayAddNotes,
    MayChangeHosts,
    MayRemoveNotes,
)
from hosts import editing
from hosts.filters import HostFilter, NoteFilter
from hosts.models import Note
from hosts.serializers import (
    ChangedHostSerializer,
    HostDetailSerializer,
    HostSerializer,
    MergeSerializer,
    NoteSerializer,
)
from runs.models import Host

CONFLICT = {409: OpenApiResponse(OpenApiTypes.OBJECT, "The current state does not allow this.")}


def host_of(reference: str) -> Host:
    """Return the host with this key, number or unique prefix of its name.

    For a merged host, return the host that it was merged into. Raise `NotFound` for unknown hosts.
    """
    host = Host.objects.find(reference)
    if host is None:
        raise NotFound(Host.objects.missing(reference))
    return host


class HostList(ListView):
    """List hosts with the environment, AES verdict and advice of each host's latest run."""

    pagination_class = ByCursorOfIds
    filterset_class = HostFilter
    queryset = Host.objects.counted().order_by("-pk")
    serializer_class = HostSerializer

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        ids = list(queryset.values_list("pk", flat=True))
        return Host.objects.listed_as(super().paginate_queryset(ids) or ())


class HostView(ApiView):
    permissions = {"PATCH": MayChangeHosts}

    @extend_schema(operation_id="hosts_read", responses=HostDetailSerializer)
    def get(self, request: Request, host_id: str) -> Response:
        """Return a host by number or key, with the latest result of each measured series."""
        host = Host.objects.listed().filter(pk=host_of(host_id).pk).first()
        if host is None:
            raise NotFound(f"Host {host_id} has no visible runs.")
        return Response(HostDetailSerializer(host).data)

    @extend_schema(
        operation_id="hosts_change",
        request=ChangedHostSerializer,
        responses={200: ChangedHostSerializer, **CONFLICT},
    )
    def patch(self, request: Request, host_id: str) -> Response:
        """Rename the host. Requires a signed-in editor."""
        host = host_of(host_id)
        name = sent(ChangedHostSerializer, request)["name"]
        host = editing.rename_host(host.pk, name, actor_of(request))
        return Response(ChangedHostSerializer(host).data)


class HostMerge(ApiView):
    permission_classes = (MayChangeHosts,)

    @extend_schema(
        operation_id="hosts_merge",
        request=MergeSerializer,
        responses={200: ChangedHostSerializer, **CONFLICT},
    )
    def post(self, request: Request, host_id: str) -> Response:
        """Merge another host into this host.

        All runs and later uploads of the other host then belong to this host.
        """
        kept = host_of(host_id)
        other = sent(MergeSerializer, request)["other"]
        host = editing.merge_hosts(kept.pk, other, actor_of(request))
        return Response(ChangedHostSerializer(host).data)


class ByDate(ByCursor):
    ordering = ("-at", "-id")  # type: ignore[assignment]  # DRF takes several


class NoteList(ListView):
    """List notes about hosts, newest first."""

    pagination_class = ByDate
    filterset_class = NoteFilter
    permissions = {"POST": MayAddNotes}
    queryset = Note.objects.select_related("host")
    serializer_class = NoteSerializer

    @extend_schema(responses={201: NoteSerializer})
    def post(self, request: Request) -> Response:
        """Create a note. Requires a signed-in editor."""
        new = sent(NoteSerializer, request)
        note = editing.add_note(new["host"].pk, new["text"], new.get("at"), actor_of(request))
        return Response(NoteSerializer(note).data, status=status.HTTP_201_CREATED)


class NoteView(ApiView, DestroyAPIView[Note]):
    """Delete a note. The audit log keeps the text of the note. Requires a signed-in editor."""

    permission_classes = (MayRemoveNotes,)
    queryset = Note.objects.all()
    serializer_class = NoteSerializer
    lookup_url_kwarg = "note_id"

    def perform_destroy(self, instance: Note) -> None:
        editing.remove_note(instance.pk, actor_of(self.request))
