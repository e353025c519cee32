"""HTTP of what editors change: hide, show, remove runs; rename, merge, split hosts."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q
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
from ingest.edits import editing, merging, splitting
from ingest.edits.editing import EditConflict, EditRefused
from results.hosts.host_names import is_number, present_id, present_keys
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
    """What can be changed of a host; at least one of them."""

    name = serializers.CharField(max_length=editing.LONGEST_NAME, required=False)
    one_machine = serializers.ChoiceField(
        [True], required=False, help_text="Its `alternating_names` are one machine's: none is left."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Nothing to do is a mistake of the caller."""
        if not attrs:
            raise serializers.ValidationError("Say what to change: name, one_machine.")
        return attrs


class ChangedHostSerializer(serializers.Serializer[Any]):
    """A host after a change."""

    id = serializers.IntegerField()
    host = serializers.CharField(source="slug", help_text="Its key in filters.")
    name = serializers.CharField()


class MergeSerializer(serializers.Serializer[Any]):
    """What is merged into the host."""

    other = serializers.IntegerField(min_value=1, max_value=2**63 - 1, help_text="Its id.")


class SplitSerializer(serializers.Serializer[Any]):
    """What is split off from the host."""

    name = serializers.CharField(
        max_length=editing.LONGEST_NAME, help_text="The name that its runs came with."
    )


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
    """Return the number of the host with this number or key; 404 names that of a merged one."""
    if not reference.isprintable():
        raise NotFound("There is no such host.")
    number = int(reference) if is_number(reference) else None
    same = Q(pk=number) if number is not None else Q(slug__in=present_keys([reference]))
    found = Host.objects.filter(same).first() or Host.objects.filter(slug=reference).first()
    if found is None:
        present = present_id(number) if number is not None else None
        merged = f": it was merged into the host {present}" if present else ""
        raise NotFound(f"There is no host {reference}{merged}.")
    return found.pk


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
        """Rename the host, or say it is one machine. For signed-in editors."""
        key = host_number(host_id)
        asked = sent(HostChangeSerializer, request)
        name, by = asked.get("name"), actor_of(request)
        if name is not None:
            changed(lambda: editing.rename_host(key, name, by))
        if asked.get("one_machine"):
            changed(lambda: splitting.confirm_one_machine(key, by))
        return Response(ChangedHostSerializer(Host.objects.get(pk=key)).data)


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
        kept = changed(lambda: merging.merge_hosts(key, other, actor_of(request)))
        return Response(ChangedHostSerializer(kept).data)


class HostSplit(ApiView):
    """Several machines under one machine id."""

    permission_classes = (MayChangeHosts,)

    @extend_schema(
        operation_id="hosts_split",
        request=SplitSerializer,
        responses={201: ChangedHostSerializer, **CONFLICT},
    )
    def post(self, request: Request, host_id: str) -> Response:
        """Runs of this name, and later ones, go to a host of their own, which is answered."""
        key = host_number(host_id)
        name = sent(SplitSerializer, request)["name"]
        new = changed(lambda: splitting.split_host(key, name, actor_of(request)))
        return Response(ChangedHostSerializer(new).data, status=status.HTTP_201_CREATED)
