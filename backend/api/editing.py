"""HTTP of what editors change: hide, show, remove runs; rename, merge hosts."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.audit import actor_of
from api.http.api_view import ApiView, sent
from api.http.errors import Conflict
from api.http.permissions import MayChangeHosts, MayChangeRuns, MayRemoveRuns
from hosts import editing
from hosts.editing import EditConflict, EditRefused
from store.models import Host, Run

T = TypeVar("T")

CONFLICT = {409: OpenApiResponse(OpenApiTypes.OBJECT, "The state of the run or host forbids it.")}


class RunChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a run."""

    hidden = serializers.BooleanField(help_text="A hidden run counts nowhere; it can be undone.")


class ChangedRunSerializer(RunChangeSerializer):
    """A run after a change."""

    run_id = serializers.UUIDField()


class HostChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a host."""

    name = serializers.CharField(max_length=editing.LONGEST_NAME)


class ChangedHostSerializer(serializers.Serializer[Any]):
    """A host after a change."""

    id = serializers.IntegerField()
    host = serializers.CharField(source="slug", help_text="Its key in filters.")
    name = serializers.CharField()


class MergeSerializer(serializers.Serializer[Any]):
    """What is merged into the host."""

    other = serializers.IntegerField(min_value=1, max_value=2**63 - 1, help_text="Its id.")


def changed(change: Callable[[], T]) -> T:
    """What the change returns; its refusal as an error of the API."""
    try:
        return change()
    except EditConflict as refusal:
        raise Conflict(refusal.sentence) from None
    except EditRefused as refusal:
        said = refusal.sentence
        raise ValidationError({refusal.attr: said} if refusal.attr else said) from None


def _run_key(run_id: UUID) -> int:
    key = Run.objects.filter(run_id=run_id).values_list("pk", flat=True).first()
    if key is None:
        raise NotFound(f"There is no run {run_id}.")
    return key


def host_number(reference: str) -> int:
    """Return the number of the host with this key or number, or of what that was merged into."""
    host = Host.objects.find(reference)
    if host is None:
        raise NotFound(f"There is no host {reference[:50]!r}.")
    return host.pk


class RunEditing(ApiView):
    """The methods of one run that change it; hidden runs are reached too."""

    permissions = {"PATCH": MayChangeRuns, "DELETE": MayRemoveRuns}

    @extend_schema(
        operation_id="runs_change",
        request=RunChangeSerializer,
        responses={200: ChangedRunSerializer},
    )
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Hide the run from every list and figure, or show it again. For signed-in editors."""
        key = _run_key(run_id)
        hidden = sent(RunChangeSerializer, request)["hidden"]
        run = changed(lambda: editing.set_hidden(key, hidden, actor_of(request)))
        return Response(ChangedRunSerializer(run).data)

    @extend_schema(operation_id="runs_remove", responses={204: None, **CONFLICT})
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Remove the run and its document for good. For signed-in editors."""
        key = _run_key(run_id)
        changed(lambda: editing.remove_run(key, actor_of(request)))
        return Response(status=status.HTTP_204_NO_CONTENT)


class HostEditing(ApiView):
    """The method of one host that changes it."""

    permissions = {"PATCH": MayChangeHosts}

    @extend_schema(
        operation_id="hosts_change",
        request=HostChangeSerializer,
        responses={200: ChangedHostSerializer, **CONFLICT},
    )
    def patch(self, request: Request, host_id: str) -> Response:
        """Rename the host. For signed-in editors."""
        key = host_number(host_id)
        name = sent(HostChangeSerializer, request)["name"]
        host = changed(lambda: editing.rename_host(key, name, actor_of(request)))
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
        """All runs of the other host move to this one, and later uploads under its identity."""
        key = host_number(host_id)
        other = sent(MergeSerializer, request)["other"]
        kept = changed(lambda: editing.merge_hosts(key, other, actor_of(request)))
        return Response(ChangedHostSerializer(kept).data)
