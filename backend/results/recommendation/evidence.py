"""What a recommendation rests on: its runs, and the words about them in a configuration."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from documents.types import Method
from results.recommendation.measured_ssh import NAMED_CONDITIONS, HostFigures

RUNS_IN_WORDS = 3
HOSTS_IN_WORDS = 3
MEASURE_AGAIN = "measure again before you change anything"
LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class HostRun:
    """A run behind the figures, and its host's key and name."""

    run_id: UUID
    started_at: datetime | None
    host: str
    name: str


def evidence_runs(hosts: Iterable[HostFigures], method: Method | None) -> tuple[HostRun, ...]:
    """Every run that a rate of this method comes from, once, host by host, the latest first."""
    found: dict[tuple[str, UUID], HostRun] = {}
    for host in hosts:
        by_method = [run for (_, by), run in host.runs.items() if by == method]
        latest_first = sorted(by_method, key=lambda run: run.started_at or LONG_AGO, reverse=True)
        for run in latest_first:
            one = HostRun(run.run_id, run.started_at, host.key, host.ciphers.name)
            found.setdefault((host.key, run.run_id), one)
    return tuple(found.values())


def measured_in_words(
    hosts: Sequence[HostFigures], runs: Sequence[HostRun], method: Method | None
) -> str:
    """ "run 0b8f3c1e of 2026-11-21, ssh pipeline, 5 tries a cipher"."""
    return f"{_runs(runs)}, ssh {method}, {_tries(hosts, method)} a cipher"


def caution_in_words(
    hosts: Sequence[HostFigures], method: Method | None, ciphers: Collection[str]
) -> str | None:
    """Why to measure again first: disturbed runs, else noise of these ciphers; None: neither.

    `ciphers` are those that the advice turns on: its first one, and what is used today.
    """
    disturbed = [(host, said) for host in hosts if (said := _conditions(host, method))]
    if disturbed:
        return f"{_disturbed(disturbed, len(hosts))}: {MEASURE_AGAIN}."
    noisy = {cipher for host in hosts for cipher, by in host.noisy if by == method}
    scattered = sorted(noisy & set(ciphers))
    if not scattered:
        return None
    return f"The tries of {' and '.join(scattered)} scatter by more than 5 %: {MEASURE_AGAIN}."


def _conditions(host: HostFigures, method: Method | None) -> tuple[str, ...]:
    """What disturbed the runs behind the host's rates of this method, each said once."""
    said = (word for (_, by), run in host.runs.items() if by == method for word in run.conditions)
    return tuple(dict.fromkeys(said))[:NAMED_CONDITIONS]


def _disturbed(found: Sequence[tuple[HostFigures, tuple[str, ...]]], hosts: int) -> str:
    if hosts == 1:
        return f"Measured while the host was disturbed ({'; '.join(found[0][1])})"
    named = [f"{host.ciphers.name}: {', '.join(said)}" for host, said in found[:HOSTS_IN_WORDS]]
    more = ["..."] if len(found) > HOSTS_IN_WORDS else []
    were = "was" if len(found) == 1 else "were"
    words = "; ".join([*named, *more])
    return f"{len(found)} of these {hosts} hosts {were} measured while disturbed ({words})"


def _runs(runs: Sequence[HostRun]) -> str:
    if len(runs) > RUNS_IN_WORDS:
        hosts = len({run.host for run in runs})
        return f"{len(runs)} runs on {hosts} host{'' if hosts == 1 else 's'}, {_period(runs)}"
    named = [f"{str(run.run_id)[:8]} of {_day(run.started_at)}" for run in runs]
    return f"run{'s' if len(runs) > 1 else ''} {' and '.join(named)}"


def _period(runs: Sequence[HostRun]) -> str:
    dated = sorted(run.started_at for run in runs if run.started_at)
    first, last = (_day(dated[0]), _day(dated[-1])) if dated else (_day(None),) * 2
    known = f"of {first}" if first == last else f"of {first} to {last}"
    undated = len(runs) - len(dated)
    return f"{known} ({undated} of unknown date)" if dated and undated else known


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "unknown date"


def _tries(hosts: Iterable[HostFigures], method: Method | None) -> str:
    counts = {rate.n for host in hosts for rate in host.ciphers.by(method).values()}
    least, most = min(counts), max(counts)
    if least != most:
        return f"{least} to {most} tries"
    return "1 try" if most == 1 else f"{most} tries"
