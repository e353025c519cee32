"""Who is in the fleet and when it measured: everything decided by one seeded generator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import accumulate
from random import Random
from typing import Any
from uuid import UUID

from tests.bench.fleet import catalogue
from tests.bench.fleet.bodies import Kind, cpu_facts
from tests.bench.fleet.size import SEED, Size

FIRST, LAST = datetime(2024, 1, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
WITHOUT_BASELINES = 0.05
WITHOUT_MACHINE_ID = 0.1
HIDDEN_RUNS = 0.01
UNDATED_IMPORTS = 0.3
HOSTS_OF_A_VARIANT = 60
MOST_VARIANTS = 6
IMAGES = 150
ZIPF = 1.0
RUNS_ZIPF = 0.8
"""Of the runs a host has: the busiest of 10,000 measured about a thousand times."""

SITES, RACKS = 10, 40
SOURCES = {"agent": 0.91, "import": 0.07, "published": 0.02}
CORES = (4, 8, 16, 2, 32, 64)


@dataclass(frozen=True)
class Image:
    """What is installed on a machine; `system` is an index of the catalogue's."""

    system: int
    openssl: str
    openssh: str
    kernel: str


@dataclass(frozen=True)
class Surroundings:
    """A distinct environment of the fleet; `image` is an index of `Plan.images`."""

    cpu: int
    hidden: bool
    cores: int
    virtualization: str
    image: int


@dataclass(frozen=True)
class PlannedHost:
    """A machine: what it is, and its images with the moment from which it has each."""

    number: int
    name: str
    machine_id: str | None
    source: str
    tags: dict[str, str]
    kind: Kind
    cores: int
    virtualization: str
    images: tuple[tuple[datetime, int], ...]

    def surroundings(self, moment: datetime) -> Surroundings:
        """Its environment at a moment."""
        image = [number for since, number in self.images if since <= moment][-1]
        kind = self.kind
        return Surroundings(kind.cpu, kind.hidden, self.cores, self.virtualization, image)


@dataclass(frozen=True)
class PlannedRun:
    """One run. `number` counts from 1 in the order of the runs' times and is its row's id."""

    number: int
    run_id: UUID
    host: PlannedHost
    surroundings: Surroundings
    started_at: datetime
    dated: bool
    hidden: bool
    load: float

    @property
    def finished_at(self) -> datetime:
        """Each run takes five minutes."""
        return self.started_at + timedelta(minutes=5)

    @property
    def received_at(self) -> datetime:
        """Some seconds after its end."""
        return self.finished_at + timedelta(seconds=5)


class Plan:
    """Hosts and runs of a size; the same for the same seed."""

    def __init__(self, size: Size) -> None:
        self._random = Random(f"{SEED} {size.name}")
        self.images = [self._image(number) for number in range(IMAGES)]
        self.hosts = [self._host(number, size.hosts) for number in range(1, size.hosts + 1)]
        self.runs = list(self._runs(size.runs))

    def _image(self, number: int) -> Image:
        random = self._random
        system = _zipf(random, len(catalogue.SYSTEMS))
        # The first images have each release once, so that none is missing in a small fleet.
        release = number if number < len(catalogue.OPENSSL) else None
        chosen = _zipf(random, len(catalogue.OPENSSL)) if release is None else release
        kernel = f"Linux {random.choice((4, 5, 6))}.{random.randrange(20)}.0-{number}"
        openssh = catalogue.OPENSSH[_zipf(random, len(catalogue.OPENSSH))]
        return Image(system, catalogue.OPENSSL[chosen], openssh, kernel)

    def _host(self, number: int, hosts: int) -> PlannedHost:
        random = self._random
        kind = self._kind(hosts)
        digest = sha256(f"{SEED} machine {number}".encode()).hexdigest()
        site, rack = random.randrange(SITES), random.randrange(RACKS)
        return PlannedHost(
            number=number,
            name=f"s{site}-r{rack:02d}-{number:05d}",
            machine_id=None if random.random() < WITHOUT_MACHINE_ID else digest,
            source=random.choices(list(SOURCES), list(SOURCES.values()))[0],
            tags={"rack": f"r{rack:02d}", "site": f"s{site}"},
            kind=kind,
            cores=CORES[_zipf(random, len(CORES))],
            virtualization="kvm" if kind.hidden else random.choice(catalogue.VIRTUALIZATIONS),
            images=self._installed(),
        )

    def _kind(self, hosts: int) -> Kind:
        random = self._random
        cpu = _zipf(random, len(catalogue.CPUS))
        share = hosts / ((cpu + 1) * 4.7)  # 4.7: the sum of 1/n up to 60
        variants = min(MOST_VARIANTS, 1 + int(share / HOSTS_OF_A_VARIANT))
        return Kind(
            cpu=cpu,
            hidden=catalogue.CPUS[cpu].aes and random.random() < 0.03,
            baselines=random.random() >= WITHOUT_BASELINES,
            variant=random.randrange(variants),
        )

    def _installed(self) -> tuple[tuple[datetime, int], ...]:
        random = self._random
        upgrades = random.choices((0, 1, 2), (0.5, 0.35, 0.15))[0]
        moments = sorted(_moment(random) for _ in range(upgrades))
        return tuple((since, _zipf(random, IMAGES)) for since in (FIRST, *moments))

    def _runs(self, runs: int) -> Iterator[PlannedRun]:
        random = self._random
        shuffled = random.sample(self.hosts, len(self.hosts))
        more = random.choices(
            shuffled,
            cum_weights=_zipf_sums(len(shuffled), RUNS_ZIPF),
            k=runs - len(self.hosts),
        )
        moments = [(_moment(random), host) for host in (*self.hosts, *more)]
        moments.sort(key=lambda one: (one[0], one[1].number))
        for number, (started_at, host) in enumerate(moments, 1):
            yield self._run(number, started_at, host)

    def _run(self, number: int, started_at: datetime, host: PlannedHost) -> PlannedRun:
        random = self._random
        return PlannedRun(
            number=number,
            run_id=UUID(int=random.getrandbits(128), version=4),
            host=host,
            surroundings=host.surroundings(started_at),
            started_at=started_at,
            dated=host.source != "import" or random.random() >= UNDATED_IMPORTS,
            hidden=random.random() < HIDDEN_RUNS,
            load=round(random.expovariate(5), 2),
        )

    def environment(self, surroundings: Surroundings) -> dict[str, Any]:
        """The environment of a run document, without its readings."""
        image = self.images[surroundings.image]
        (identifier, name), version = catalogue.SYSTEMS[image.system]
        cpu = catalogue.CPUS[surroundings.cpu]
        return {
            "cpu": cpu_facts(cpu, surroundings.hidden, surroundings.cores),
            "virtualization": surroundings.virtualization,
            "memory_bytes": surroundings.cores * 4 * 2**30,
            "os": {"id": identifier, "name": name, "version": version, "kernel": image.kernel},
            "openssl": {
                "version_text": f"{image.openssl} 30 Jan 2024",
                "built_on": None,
                "platform": "linux-x86_64",
                "options": "bn(64,64)",
                "compiler": "gcc -fPIC -pthread -m64 -O2 -fstack-protector-strong",
                "cpu_settings": "OPENSSL_ia32cap=0xfffa3203578bffff:0x415f46f1bf2fbb",
            },
            "openssh": {
                "client": image.openssh,
                "server": image.openssh,
                "default_cipher": "chacha20-poly1305@openssh.com",
            },
        }


def _moment(random: Random) -> datetime:
    seconds = (LAST - FIRST).total_seconds()
    return FIRST + timedelta(seconds=random.randrange(int(seconds)))


_SUMS: dict[tuple[int, float], Sequence[float]] = {}


def _zipf_sums(count: int, exponent: float) -> Sequence[float]:
    if (count, exponent) not in _SUMS:
        weights = (1 / rank**exponent for rank in range(1, count + 1))
        _SUMS[count, exponent] = list(accumulate(weights))
    return _SUMS[count, exponent]


def _zipf(random: Random, count: int) -> int:
    """An index below `count`, the first the likeliest."""
    return random.choices(range(count), cum_weights=_zipf_sums(count, ZIPF))[0]
