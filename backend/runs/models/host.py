from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Self

from django.db import IntegrityError, models, transaction
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import JSONObject
from django.utils import timezone

from cipherspeed.naming import slug
from runs.signals import runs_changed

ATTEMPTS = 20

MOST_NAMED = 5

SHOWN_FACTS = ("cpu", "os_version", "openssl", "ssh_library", "openssh", "virtualization")


def is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


class HostQuerySet(models.QuerySet["Host"]):
    def known_as(
        self, machine_id: str | None, name: str, *, published: bool = False
    ) -> "Host | None":
        identity = _identity(machine_id, name, published)
        own = self.filter(**identity).first()
        aliases = HostAlias.objects.filter(**identity, followed=True)
        return own or self.filter(aliases__in=aliases).first()

    def recognise(self, machine_id: str | None, name: str, *, published: bool = False) -> "Host":
        """Get or create the host with this machine ID and name, and lock the row of the host."""
        for _ in range(ATTEMPTS):
            known = self.select_for_update(of=("self",), no_key=True).known_as(
                machine_id, name, published=published
            )
            if known:
                return known
            # Another worker may insert the host or slug meanwhile.
            with suppress(IntegrityError), transaction.atomic():
                return self.create(
                    **_identity(machine_id, name, published), slug=self.free_slug(name)
                )
        raise IntegrityError(f"no free slug for the host {name!r}")

    def free_slug(self, name: str) -> str:
        """Return an unused slug for a name.

        A slug is never a number, because URLs can also contain the primary key of a host.
        """
        wanted = slug(name)
        if is_number(wanted):
            wanted = f"host-{wanted}"
        held = (Host.objects.all(), HostAlias.objects.filter(followed=True))
        taken = {
            slug
            for hosts in held
            for slug in hosts.filter(slug__startswith=wanted).values_list("slug", flat=True)
        }
        numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
        return next(free for free in (wanted, *numbered) if free not in taken)

    def by_reference(self, references: Iterable[str], *, exact: bool = False) -> "dict[str, Host]":
        """Return the host for each known reference. Unknown references are omitted.

        A reference is a slug, a primary key or, unless `exact`, a unique prefix of a name. Slugs
        take precedence. The slug of a merged host returns the remaining host.
        """
        wanted = [reference for reference in references if reference and "\x00" not in reference]
        numbers = [int(text) for text in wanted if is_number(text)]
        known: dict[str, Host] = {}
        if wanted:
            hosts = list(self.filter(Q(slug__in=wanted) | Q(pk__in=numbers)))
            known = {str(host.pk): host for host in hosts} | {host.slug: host for host in hosts}
        if not known.keys() >= set(wanted):
            aliases = HostAlias.objects.filter(Q(slug__in=wanted) | Q(former_key__in=numbers))
            for alias in aliases.select_related("host"):
                known = {alias.slug: alias.host, str(alias.former_key): alias.host} | known
        for text in () if exact else wanted:
            if (
                text not in known
                and not is_number(text)
                and len(beginning := self.beginning_with(text)) == 1
            ):
                known[text] = beginning[0]
        return {text: known[text] for text in wanted if text in known}

    def beginning_with(self, text: str) -> "list[Host]":
        """Return the host with this name if the name is unique.

        Otherwise, return the first hosts whose name or slug has this prefix.
        """
        named = list(self.filter(name__iexact=text)[:2])
        begins = Q(name__istartswith=text) | Q(slug__istartswith=text)
        return named if len(named) == 1 else list(self.filter(begins)[:MOST_NAMED])

    def find(self, reference: str) -> "Host | None":
        return self.by_reference([reference]).get(reference)

    def missing(self, reference: str) -> str:
        """Return the error message for a reference that `find` cannot resolve."""
        several = self.beginning_with(reference) if "\x00" not in reference else []
        keys = ", ".join(host.slug for host in several)
        sentence = f"Unknown host {reference[:50]!r}"
        return f"{sentence}; did you mean {keys}?" if keys else f"{sentence}."

    def present_keys(self, references: Iterable[str]) -> tuple[str, ...]:
        """Return the current slug for each reference, without duplicates.

        Unknown references remain unchanged.
        """
        wanted = tuple(references)
        hosts = self.by_reference(wanted)
        return tuple(dict.fromkeys(hosts[key].slug if key in hosts else key for key in wanted))

    def named_like(self, text: str) -> Self:
        aliases = HostAlias.objects.filter(host=OuterRef("pk"), name__icontains=text)
        return self.filter(Q(name__icontains=text) | Exists(aliases)) if text else self

    def counted(self) -> Self:
        return self.filter(latest_run__isnull=False)

    def with_run_count(self) -> Self:
        from runs.models.run import Run  # circular import

        runs = Run.objects.counted().filter(host=OuterRef("pk")).order_by().values("host")
        return self.annotate(run_count=Subquery(runs.annotate(n=Count("pk")).values("n")))

    def listed(self) -> Self:
        """Return the hosts that have a visible run, newest first.

        Also load the related rows that lists of hosts display. `twin`: another host with the same
        machine ID. A host has a twin after a rename or a clone.
        """
        others = Host.objects.counted().filter(machine_id=OuterRef("machine_id"))
        twin = others.exclude(pk=OuterRef("pk")).order_by("-pk")
        facts = twin.values(facts=JSONObject(id="pk", slug="slug", name="name"))
        environment = (f"latest_run__environment__{name}" for name in SHOWN_FACTS)
        return (
            self.counted()
            .with_run_count()
            .annotate(twin=Subquery(facts[:1]))
            .select_related(*environment)
            .prefetch_related("aliases", "latest_run__speed_indices")
            .order_by("-pk")
        )

    def listed_as(self, ids: Iterable[int]) -> "list[Host]":
        hosts = self.listed().in_bulk(ids := list(ids))
        return [hosts[pk] for pk in ids if pk in hosts]

    def refresh_latest_run(self) -> None:
        from runs.models.run import Run  # circular import

        latest = Run.objects.counted().filter(host=OuterRef("pk")).latest_first()
        self.update(latest_run=Subquery(latest.values("pk")[:1]))


def _identity(machine_id: str | None, name: str, published: bool) -> dict[str, Any]:
    return {
        "machine_id": None if published else machine_id or None,
        "name": name,
        "published": published,
    }


class Host(models.Model):
    """Store a host, identified by machine ID and name. The machine ID can be unknown.

    Published hosts are separate, so that an upload never belongs to a published host.
    """

    name = models.CharField(max_length=200)
    slug = models.CharField(max_length=220, unique=True, help_text="Key for URLs and filters.")
    machine_id = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - none
    published = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    latest_run = models.ForeignKey(
        "runs.Run",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Latest visible run; undated runs come before dated ones.",
    )

    objects = HostQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["machine_id", "name", "published"], nulls_distinct=False, name="one_host"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def followed_aliases(self) -> "list[HostAlias]":
        return [alias for alias in self.aliases.all() if alias.followed]

    @property
    def has_advice(self) -> bool:
        return bool(not self.published and self.latest_run and self.latest_run.acceleration_advice)

    @property
    def former_names(self) -> list[str]:
        return sorted({alias.name for alias in self.aliases.all()} - {self.name})


class HostAlias(models.Model):
    """Store a second identity of a host: the identity of a merged host, or a former name."""

    host = models.ForeignKey(Host, models.CASCADE, related_name="aliases")
    machine_id = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - none
    name = models.CharField(max_length=200)
    published = models.BooleanField(default=False)
    followed = models.BooleanField(
        default=True, help_text="Uploads with this machine id and name go to the host."
    )
    slug = models.CharField(max_length=220, blank=True, help_text="Key of the merged host.")
    former_key = models.BigIntegerField(
        null=True, blank=True, help_text="Primary key of the merged host, for old URLs."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["machine_id", "name", "published"],
                condition=Q(followed=True),
                nulls_distinct=False,
                name="one_followed_alias",
            ),
        ]
        verbose_name_plural = "host aliases"

    def __str__(self) -> str:
        return self.name


class HostWatchQuerySet(models.QuerySet["HostWatch"]):
    def mark_due(self, hosts: Iterable[int]) -> None:
        """Schedule change detection for hosts whose runs changed. `hosts`: primary keys."""
        known = Host.objects.filter(pk__in=set(hosts), published=False).order_by("pk")
        self.bulk_create(
            [HostWatch(host=host, due_at=timezone.now()) for host in known],
            update_conflicts=True,
            update_fields=["due_at"],
            unique_fields=["host"],
        )
        runs_changed.send(Host)


class HostWatch(models.Model):
    """Store whether change detection is due for a host.

    Also store when the host becomes silent, that is, when new runs have been missing for too long.
    """

    host = models.OneToOneField(Host, models.CASCADE, primary_key=True, related_name="watch")
    due_at = models.DateTimeField(null=True, help_text="Check due since; null: checked.")
    silent_after = models.DateTimeField(
        null=True, help_text=("Silent after this time; null: already silent, or never.")
    )

    objects = HostWatchQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["host"], condition=Q(due_at__isnull=False), name="hosts_due"),
            models.Index(fields=["silent_after"], name="hosts_by_silence"),
        ]
        verbose_name_plural = "host watches"
