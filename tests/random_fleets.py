from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from cipherspeed.groups import UNITS
from compare.question import GROUPINGS, ComparisonQuery
from tests.sample_documents import (
    environment,
    openssl_measurement,
    run_document,
    ssh_measurement,
)

SSH = ("aes128-ctr", "chacha20-poly1305@openssh.com", "3des-cbc", "arcfour")
OPENSSL = ("aes-128-gcm", "des-ede3-cbc")
BLOCK_SIZES = (1024, 8192, 8192)
START = datetime(2025, 11, 1, tzinfo=UTC)
MIDDLE = START + timedelta(days=5)

TAGS: tuple[dict[str, str], ...] = (
    {},
    {"rack": "1"},
    {"rack": "2"},
    {"rack": "1", "env": "test"},
    {"rack": "2", "env": "live"},
    {"rack": "1", "env": "live"},
)

# OpenSSL libraries of the openssl program and of ssh
LIBRARIES = ("OpenSSL 3.0.19 27 Jan 2026", "OpenSSL 1.0.2zl  1 Aug 2024")

# Keys of groups. Each grouping has at most one of these keys.
BASELINES = ("openssl-3.0.19", "3.0", "1", "2", "amd-epyc-9r14", "intel", "x86_64")

TWO_RACKS = ("rack:1", "env:live", "rack:2")

rates = st.integers(1, 40).map(lambda number: number * 2.5e7 / 3)


@st.composite
def ssh_series(draw: st.DrawFn) -> dict[str, Any]:
    made = ssh_measurement(
        draw(st.sampled_from(SSH)),
        draw(rates),
        pinned=draw(st.booleans()),
        mac=draw(st.sampled_from((None, None, None, "hmac-sha1"))),
    )
    if draw(st.booleans()):
        seconds = draw(st.integers(1, 9)) / 10
        for sample in made["samples"]:
            sample.update(client_cpu_seconds=seconds, server_cpu_seconds=1.0)
    return made


openssl_series = st.builds(
    lambda cipher, rate, block: openssl_measurement(cipher, rate, block_size=block),
    st.sampled_from(OPENSSL),
    rates,
    st.sampled_from(BLOCK_SIZES),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    series = draw(st.lists(st.one_of(ssh_series(), openssl_series), min_size=1, max_size=5))
    once = {repr({**plain, "samples": None}): plain for plain in series}
    started = START + timedelta(days=draw(st.integers(0, 9)))
    stated = environment(model=draw(st.sampled_from(("AMD EPYC 9R14", "Intel Xeon E5-2680"))))
    stated["openssl"]["version_text"] = draw(st.sampled_from(LIBRARIES))
    stated["openssh"]["library"] = draw(st.sampled_from((None, *LIBRARIES)))
    return run_document(
        *once.values(),
        host={"name": draw(st.sampled_from("abc"))},
        tags=draw(st.sampled_from(TAGS)),
        environment=stated,
        started_at=started.isoformat(),
        finished_at=(started + timedelta(minutes=5)).isoformat(),
    )


sources = st.sampled_from(("agent", "agent", "import"))
fleets = st.lists(st.tuples(documents(), sources), min_size=1, max_size=7)


@st.composite
def queries(draw: st.DrawFn) -> ComparisonQuery:
    tool = draw(st.sampled_from(("ssh", "openssl")))
    filters = {
        "source": ("agent",),
        "cpu": ("amd-epyc-9r14",),
        "tag": draw(st.sampled_from((("rack:1",), ("rack:1", "env:live"), TWO_RACKS))),
        "host": ("a", "b"),
        "openssl": ("openssl-1.0.2zl",),
        "openssl_series": ("3.0",),
        "verdict": ("unknown",),
        "disturbed": draw(st.sampled_from((("no",), ("yes",), ("no", "yes")))),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(filters)), max_size=2, unique=True))
    group_by = draw(st.sampled_from((*GROUPINGS, "tag:rack")))
    splits = [grouping for grouping in (*GROUPINGS, "tag:env") if grouping != group_by]
    return ComparisonQuery(
        tool=tool,
        group_by=group_by,
        split_by=draw(st.one_of(st.none(), st.none(), st.sampled_from(splits))),
        matched=group_by != "host" and draw(st.booleans()),
        relative_to=draw(st.sampled_from((None, *BASELINES))) if group_by != "host" else None,
        metric=draw(st.sampled_from(sorted(UNITS))),
        ciphers=tuple(
            draw(st.lists(st.sampled_from(SSH if tool == "ssh" else OPENSSL), unique=True))
        ),
        mac=draw(st.sampled_from((None, None, "hmac-sha1"))) if tool == "ssh" else None,
        block_size=draw(st.sampled_from((8192, 8192, 1024))),
        filters={name: filters[name] for name in chosen},
        since=draw(st.sampled_from((None, None, MIDDLE))),
        until=draw(st.sampled_from((None, None, MIDDLE))),
    )
