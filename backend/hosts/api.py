"""HTTP of hosts, their notes, and what editors change in runs and hosts."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.audit import actor_of
from core.api_view import ApiView, ByCursor, ByCursorOfIds, ListView, sent
from core.errors import Conflict
from core.permissions import (
    MayAddNotes,
    MayChangeHosts,
    MayChangeRuns,
    MayRemoveNotes,
    MayRemoveRuns,
)
from hosts import editing
from hosts.filters import HostForm, NoteFilter
from hosts.models import Note
from hosts.serializers import (
    ChangedHostSerializer,
    ChangedRunSerializer,
    HostDetailSerializer,
    HostSerializer,
    MergeSerializer,
    NoteSerializer,
)
from runs.models import Host, Run
from runs.serializers import RunDetailSerializer

T = TypeVar("T")

CONFLICT = {409: OpenApiResponse(OpenApiTypes.OBJECT, "The state of the run or host forbids it.")}


def changed(change: Callable[[], T]) -> T:
    """Return what the change does; its refusal as an error of the API."""
    try:
        return change()
    except editing.EditConflict as refusal:
        raise Conflict(refusal.sentence) from None
    except editing.EditRefused as refusal:
        sentence = refusal.sentence
        raise ValidationError({refusal.attr: sentence} if refusal.attr else sentence) from None


def host_of(reference: str) -> Host:
    """Return the host with this key or number, or what that was merged into."""
    host = Host.objects.find(reference)
    if host is None:
        raise NotFound(Host.objects.missing(reference))
    return host


class HostList(ListView):
    """Hosts."""

    pagination_class = ByCursorOfIds
    parameters = {"GET": HostForm}

    @extend_schema(operation_id="hosts_list", responses=HostSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List hosts with their latest environment, AES verdict, its reason and the advice."""
        paginator = self.pagination_class()
        hosts = Host.objects.listed_as(paginator.paginate_ids(self.asked.hosts, request))
        return paginator.get_paginated_response(HostSerializer(hosts, many=True).data)


class HostView(ApiView):
    """One host."""

    permissions = {"PATCH": MayChangeHosts}

    @extend_schema(operation_id="hosts_read", responses=HostDetailSerializer)
    def get(self, request: Request, host_id: str) -> Response:
        """Return the host with this number or key, and the latest value of each of its series."""
        host = Host.objects.listed().filter(pk=host_of(host_id).pk).first()
        if host is None:
            raise NotFound(f"The host {host_id} has no run that counts.")
        return Response(HostDetailSerializer(host).data)

    @extend_schema(
        operation_id="hosts_change",
        request=ChangedHostSerializer,
        responses={200: ChangedHostSerializer, **CONFLICT},
    )
    def patch(self, request: Request, host_id: str) -> Response:
        """Rename the host. For signed-in editors."""
        host, by = host_of(host_id), actor_of(request)
        name = sent(ChangedHostSerializer, request)["name"]
        host = changed(lambda: editing.rename_host(host.pk, name, by))
        return Response(ChangedHostSerializer(host).data)


class HostMerge(ApiView):
    """Two hosts that are one."""

    permission_classes = (MayChangeHosts,)

    @extend_schema(
        operation_id="hosts_merge",
        request=MergeSerializer,
        responses={200: ChangedHostSerializer, **CONFLICT},
    )
    def post(self, request: Request, host_id: str) -> Response:
        """Move the runs of the other host, and later uploads under its identity, to this one."""
        kept, by = host_of(host_id), actor_of(request)
        other = sent(MergeSerializer, request)["other"]
        host = changed(lambda: editing.merge_hosts(kept.pk, other, by))
        return Response(ChangedHostSerializer(host).data)


class RunView(ApiView):
    """One run; editors reach hidden ones too."""

    permissions = {"PATCH": MayChangeRuns, "DELETE": MayRemoveRuns}

    @extend_schema(operation_id="runs_read", responses=RunDetailSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return its status, statistics and normalised values."""
        run = get_object_or_404(Run.objects.detailed(), run_id=run_id)
        return Response(RunDetailSerializer(run).data)

    @extend_schema(
        operation_id="runs_change",
        request=ChangedRunSerializer,
        responses={200: ChangedRunSerializer},
    )
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Hide the run from every list and figure, or show it again. For signed-in editors."""
        run = get_object_or_404(Run, run_id=run_id)
        hidden = sent(ChangedRunSerializer, request)["hidden"]
        run = changed(lambda: editing.set_hidden(run.pk, hidden, actor_of(request)))
        return Response(ChangedRunSerializer(run).data)

    @extend_schema(operation_id="runs_remove", responses={204: None, **CONFLICT})
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Remove the run and its document for good. For signed-in editors."""
        run = get_object_or_404(Run, run_id=run_id)
        changed(lambda: editing.remove_run(run.pk, actor_of(request)))
        return Response(status=status.HTTP_204_NO_CONTENT)


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
        """List notes, the latest date first."""
        return self.page(request, Note.objects.select_related("host"), NoteSerializer)

    @extend_schema(
        operation_id="notes_make", request=NoteSerializer, responses={201: NoteSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a note. For signed-in editors."""
        new: dict[str, Any] = sent(NoteSerializer, request)
        by = actor_of(request)
        note = changed(lambda: editing.add_note(new["host"].pk, new["text"], new.get("at"), by))
        return Response(NoteSerializer(note).data, status=status.HTTP_201_CREATED)


class NoteView(ApiView):
    """One note."""

    permission_classes = (MayRemoveNotes,)

    @extend_schema(operation_id="notes_remove", responses={204: None, 404: OpenApiTypes.OBJECT})
    def delete(self, request: Request, note_id: int) -> Response:
        """Remove a note; the audit log keeps it. For signed-in editors."""
        note = get_object_or_404(Note, pk=note_id)
        editing.remove_note(note.pk, actor_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
