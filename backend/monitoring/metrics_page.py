"""/metrics, for Prometheus: what all processes counted, and the gauges of this moment."""

import hmac
from collections import defaultdict
from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from monitoring.gauges import read_gauges
from telemetry.counting import SUM, Field, counted
from telemetry.metrics import COUNTERS, HISTOGRAMS, Counter, Histogram


def metrics(request: HttpRequest) -> HttpResponse:
    """404 unless there is a token of its own; 401 to whoever does not bring it."""
    token = settings.CIPHERMARK_METRICS_TOKEN
    if not token:
        return HttpResponseNotFound("not found\n", content_type="text/plain")
    given = request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        challenge = {"WWW-Authenticate": "Bearer"}
        return HttpResponse("a token is needed\n", "text/plain", 401, headers=challenge)
    return HttpResponse(generate_latest(_Site()), content_type=CONTENT_TYPE_LATEST)


class _Site(Collector):
    """The whole site: no figures of this one process, which is any of several."""

    def collect(self) -> Iterator[Metric]:
        """Without Redis there are no counters, and `ciphermark_up` says so."""
        yield from read_gauges()
        try:
            found = counted()
        except RedisError:
            return
        yield from (_counter(counter, found) for counter in COUNTERS)
        yield from (_histogram(histogram, found) for histogram in HISTOGRAMS)


def _counter(counter: Counter, found: dict[Field, float]) -> Metric:
    family = CounterMetricFamily(counter.name, counter.meaning, labels=counter.labels)
    for (name, *labels), number in found.items():
        if name == counter.name:
            family.add_metric(labels, number)
    return family


def _histogram(histogram: Histogram, found: dict[Field, float]) -> Metric:
    family = HistogramMetricFamily(histogram.name, histogram.meaning, labels=histogram.labels)
    rows: dict[Field, dict[str, float]] = defaultdict(dict)
    for (name, *labels, which), number in found.items():
        if name == histogram.name:
            rows[tuple(labels)][which] = number
    for values, numbers in rows.items():
        family.add_metric(values, _cumulative(histogram, numbers), sum_value=numbers.get(SUM, 0.0))
    return family


def _cumulative(histogram: Histogram, numbers: dict[str, float]) -> list[tuple[str, float]]:
    """Upper bound -> how many took at most so long."""
    total, buckets = 0.0, []
    for number, bound in enumerate((*histogram.bounds, "+Inf")):
        total += numbers.get(str(number), 0.0)
        buckets.append((str(bound), total))
    return buckets
