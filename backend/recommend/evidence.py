"""Select the results on which a recommendation is based.

Only ssh results over the loopback interface count, with the default MAC and with AES hardware
enabled.
"""

from collections import Counter, defaultdict
from dataclasses import replace

from django.db.models import Func, JSONField
from django.utils.datastructures import MultiValueDict

from cipherspeed.recommendation import MeasuredHost, Rate
from compare.engine import analytics
from compare.question import METHODS, ComparisonForm, ComparisonQuery
from compare.votes import counted, votes
from recommend.forms import OF_PERIOD, Question
from runs.models import Measurement, Run

MOST_CONDITIONS = 3  # conditions listed per run

# The agent records this reason for a cipher that `ssh -Q cipher` does not list.
NOT_OFFERED = "this OpenSSH does not offer it"

_VOTES = """
SELECT v.host AS host, v.run AS run, v.series AS series, r.environment AS environment,
    r.undated AS undated, r.moment AS moment, f.id IS NOT NULL AS fits
FROM {votes} v JOIN {runs} r ON r.id = v.run LEFT JOIN {fitting} f ON f.id = v.run
WHERE v.host IN (SELECT host FROM {fitting})
"""
# Comparisons order runs in the same way: of undated runs, the run with more ciphers comes first.
_LATEST_FIRST = """
SELECT host, run, series, environment, fits FROM ({votes}) ORDER BY undated,
    CASE WHEN undated THEN count(*) OVER (PARTITION BY run) ELSE 0 END DESC, moment DESC
"""

_DOCUMENT = "ltrim(convert_from(%(expressions)s, 'UTF8'), U&'\\FEFF')::json"
# Extracted in the database, because documents can be large.
_OPENSSH = Func(
    "document__body",
    template=f"{_DOCUMENT} #>> '{{environment,openssh}}'",
    output_field=JSONField(),
)


def measured_hosts(question: Question) -> list[MeasuredHost]:
    """Return the hosts that have results, ordered by key. For a pair, the client comes first."""
    rates = _rates(question)
    facts = (
        Run.objects.filter(pk__in=rates)
        .order_by("host__slug")
        .values_list(
            *("host__name", "host__slug", "host_id", "pk", "acceleration", "acceleration_advice"),
            *("skipped", _OPENSSH),
        )
    )
    names = Counter(name for name, *_ in facts)
    hosts = [
        MeasuredHost(
            id=host,
            key=key,
            name=key if names[name] > 1 else name,
            rates=tuple(rates[run]),
            **{name: openssh.get(name) for name in ("client", "server", "default_cipher")},
            not_offered=frozenset(
                cipher["cipher"] for cipher in skipped if cipher["reason"] == NOT_OFFERED
            ),
            acceleration=acceleration,
            advice=advice,
        )
        for name, key, host, run, acceleration, advice, skipped, openssh in facts
    ]
    return sorted(hosts, key=lambda host: question.hosts.index(host.key) if question.is_pair else 0)


def _rates(question: Question) -> dict[int, list[Rate]]:
    """Return a list of rates for each host, by the primary key of the latest run of the host."""
    filters = {**question.filters, "group_by": ["host"], "host": [*question.hosts]}
    form = ComparisonForm(MultiValueDict(filters))
    form.full_clean()
    voting = _voting(form.query)
    runs = Run.objects.in_bulk({run for run, _ in voting})
    measured = Measurement.objects.filter(
        run__in=runs, series__in={series for _, series in voting}
    ).order_by("series__cipher")
    rates = defaultdict[int, list[Rate]](list)
    for key, cipher, method, median, n, spread, cpu_cost in measured.values_list(
        *("pk", "series__cipher", "series__method", "median", "n", "spread", "cpu_seconds_per_gb")
    ):
        if latest := voting.get(key):
            run = runs[key[0]]
            disturbed = [each.get("detail") or each["code"] for each in run.conditions]
            of_run = run.run_id, run.started_at, tuple(disturbed[:MOST_CONDITIONS])
            rates[latest].append(Rate(cipher, method, median, n, spread, cpu_cost, *of_run))
    return rates


def _voting(query: ComparisonQuery) -> dict[tuple[int, int], int]:
    """Return `{(run, series): latest run of the host}` for the results that count.

    All values are primary keys. A result counts if it is in the requested period and has the
    environment of the latest run. Hosts whose latest run does not pass all filters are omitted.
    """
    period = {name: keys for name, keys in query.filters.items() if name in ("host", *OF_PERIOD)}
    tables = []
    with analytics() as db:
        for method in METHODS:
            fitting = replace(query, method=method)
            able = replace(fitting, filters=period)
            names = {"votes": votes(db, able), "runs": counted(db, able).runs}
            tables.append(_VOTES.format(**names, fitting=counted(db, fitting).runs))
        rows = db(_LATEST_FIRST.format(votes=" UNION ALL ".join(tables)), {})
    latest: dict[int, tuple[int, int, bool]] = {}
    voting = {}
    for host, run, series, environment, fits in rows:
        latest_run, own, is_asked = latest.setdefault(host, (run, environment, fits))
        if is_asked and environment == own:
            voting[run, series] = latest_run
    return voting
