"""Groups whose hosts lie in two clusters: every host's value, from the copy as from Python."""

import duckdb
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from analysis.groups import cluster_gap
from results.comparison.votes import _CLUSTERED
from tests.conftest import ApiClient, StoreRun
from tests.pages.conftest import page, text_of
from tests.sample_documents import environment, run_document, ssh_measurement

GCM = "aes128-gcm@openssh.com"
TWO = [100.0, 102.0, 104.0, 300.0, 301.0, 310.0]
EVEN = [100.0, 120.0, 144.0, 172.0, 200.0, 230.0]


def test_a_gap_is_wide_and_has_hosts_on_both_sides() -> None:
    assert cluster_gap(TWO) == 3
    assert cluster_gap(EVEN) is None
    # Too few; one host alone; a gap below 20 %; too many to be drawn.
    assert cluster_gap(TWO[:5]) is None
    assert cluster_gap([100.0, *TWO[3:], 311.0, 312.0]) is None
    assert cluster_gap([100.0, 100.5, 101.0, 118.0, 118.5, 119.0]) is None
    assert cluster_gap([1.0] * 16 + [3.0] * 15) is None


_values = st.floats(min_value=1e-3, max_value=1e3)
_clustered = st.tuples(_values, st.floats(min_value=1, max_value=3)).flatmap(
    lambda both: st.lists(st.sampled_from([both[0], both[0] * both[1]]), min_size=4, max_size=32)
)


@given(st.lists(_values, min_size=1, max_size=32) | _clustered)
def test_the_copy_finds_the_same_clusters(votes: list[float]) -> None:
    ordered = sorted(votes)
    (found,) = duckdb.execute(
        f"SELECT {_CLUSTERED} FROM (SELECT ? AS values, ?::BIGINT AS n)",  # noqa: S608
        [ordered, len(ordered)],
    ).fetchall()
    assert found[0] == ([] if cluster_gap(ordered) is None else ordered)


@pytest.mark.django_db
def test_only_groups_in_two_clusters_have_points(
    reader: ApiClient, member: Client, store_run: StoreRun
) -> None:
    for system, rates in (("Debian GNU/Linux", TWO), ("Fedora Linux", EVEN)):
        for number, rate in enumerate(rates):
            store_run(
                run_document(
                    ssh_measurement(GCM, rate * 1e6),
                    host={"name": f"{system} {number}"},
                    environment={**environment(), "os": {"name": system}},
                )
            )
    groups = reader.get("/api/v1/comparison/", {"group_by": "os"}).json()["groups"]
    values = {group["label"]: group["values"][GCM] for group in groups}
    assert values["Debian GNU/Linux"]["points"] == [rate * 1e6 for rate in TWO]
    assert "points" not in values["Fedora Linux"]
    html = page(member, "/", group_by="os")
    words = "two clusters: 3 hosts at 100 – 104 MB/s, 3 at 300 – 310 MB/s"
    assert text_of(html).count(words) == 1
    assert html.count('"points": [') == 1
    assert "hosts that lie in two clusters" in text_of(html)
