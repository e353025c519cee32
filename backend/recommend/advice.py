from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.utils.text import get_text_list
from rest_framework.exceptions import NotFound

from cipherspeed.cipher_catalogue import cipher_catalogue
from cipherspeed.recommendation import NAMED_AT_MOST, MeasuredHost, Recommendation, recommend
from cipherspeed.ssh_configuration import ssh_config, sshd_config
from core.formatting import percent, throughput
from recommend.evidence import measured_hosts
from recommend.forms import Question
from runs.models import Host


@dataclass(frozen=True)
class Advice:
    question: Question
    permalink: str
    named: Mapping[str, Host]  # requested hosts by key
    hosts: tuple[MeasuredHost, ...]  # hosts with results
    result: Recommendation

    rules_version = cipher_catalogue().rules_version

    @property
    def silent(self) -> list[str]:
        """Return the names of the hosts in the question that have no results."""
        measured = {host.key for host in self.hosts}
        return [host.name for key, host in self.named.items() if key not in measured]

    @property
    def nothing(self) -> str | None:
        if self.result.order:
            return None
        if self.hosts and not (self.question.is_pair and self.silent):
            who = " and ".join(host.name for host in self.hosts[:NAMED_AT_MOST])
            who = who if len(self.hosts) <= NAMED_AT_MOST else "all of these hosts"
            policy = self.question.policy.name
            return f"No cipher allowed by the policy “{policy}” was measured on {who}."
        period = " in this period" if self.question.filters.keys() & {"since", "until"} else ""
        silent = " and ".join(self.silent[:NAMED_AT_MOST])
        who = f"{silent} {'have' if len(self.silent) > 1 else 'has'} no"
        who = who if silent else "No matching host has"
        return f"{who} loopback SSH results{period}."

    @property
    def headline(self) -> str:
        if not self.result.order:
            return self.nothing or ""
        first = self.result.order[0]
        verb = "Keep" if first.gain and first.gain.over == first.cipher else "Use"
        figure, before_reason = throughput(first.speed.median), ", "
        if first.limited_by:
            figure = f"estimated {figure} (limited by the {first.limited_by})"
        if first.share is not None:
            hosts, before_reason = f"on average, the {len(self.hosts)} hosts reach", ". It is "
            figure = f"{hosts} {percent(first.share)} of the speed of their best allowed cipher"
        result = before_reason.join(filter(None, (figure, first.reason)))
        words = f"{verb} {first.cipher}: {result}."
        unknown = self.result.gain_unknown
        return f"{words} The gain is unknown because {unknown}." if unknown else words

    @property
    def runs(self) -> list[dict[str, Any]]:
        runs = {
            rate.run_id: {
                "run_id": rate.run_id,
                "started_at": rate.started_at,
                "day": f"{rate.started_at:%Y-%m-%d}" if rate.started_at else "undated",
                "host": host.key,
                "name": host.name,
            }
            for host in self.hosts
            for rate in host.by(self.result.method).values()
        }
        latest_first = sorted(runs.values(), key=lambda run: str(run["started_at"]), reverse=True)
        return sorted(latest_first, key=itemgetter("host"))

    @property
    def measured(self) -> str | None:
        """Describe the runs on which the recommendation is based.

        Example: "SSH pipeline run 0b8f3c1e (2026-11-21)".
        """
        runs = self.runs
        if not runs:
            return None
        if len(runs) <= NAMED_AT_MOST:
            named = [f"{str(run['run_id'])[:8]} ({run['day']})" for run in runs]
            return f"SSH {self.result.method} run{pluralize(runs)} {get_text_list(named, 'and')}"
        days = {run["day"] for run in runs}
        dated = sorted(days - {"undated"})
        period = [" to ".join(dict.fromkeys((dated[0], dated[-1])))] if dated else []
        when = " and ".join([*period, *(days & {"undated"})])
        return f"{len(runs)} SSH {self.result.method} runs on {len(self.hosts)} hosts, {when}"

    @property
    def caution(self) -> str | None:
        if not self.result.order:
            return None
        again = "Measure again before you change anything."
        disturbed = {
            host.name: dict.fromkeys(
                word for rate in host.by(self.result.method).values() for word in rate.conditions
            )
            for host in self.hosts
        }
        hosts = [f"{name} ({', '.join(words)})" for name, words in disturbed.items() if words]
        if hosts:
            shown = get_text_list(hosts[:NAMED_AT_MOST], "and")
            count = f"{len(hosts)} hosts, including " if len(hosts) > NAMED_AT_MOST else ""
            return f"The ranking uses disturbed runs on {count}{shown}. {again}"
        first = self.result.order[0]
        used = {first.cipher, self.result.default}
        noisy = {
            rate.cipher
            for host in self.hosts
            for rate in host.by(self.result.method).values()
            if rate.noisy and rate.cipher in used and first.share is None
        }
        varied = " and ".join(sorted(noisy))
        return f"The tries of {varied} vary by more than 5 %. {again}" if noisy else None

    @property
    def ssh_config(self) -> str | None:
        if not self.result.order:
            return None
        names = None
        if self.question.is_pair:
            server = self.named[self.question.hosts[1]]
            names = [server.name, *(alias.name for alias in server.aliases.all())]
        return ssh_config(self.result.order, self._header(), names)

    @property
    def sshd_config(self) -> str | None:
        if not self.result.order:
            return None
        return sshd_config(self.result.order, self._header())

    def _header(self) -> list[str]:
        who = " to ".join(host.name for host in self.hosts)
        who = f"connections from {who}" if self.question.is_pair else who
        if self.question.kind == "group":
            filters = self.question.filters.items()
            filters_shown = [f"{name} {', '.join(values)}" for name, values in filters]
            who = f"{len(self.hosts)} hosts" + (
                f" ({', '.join(filters_shown)})" if filters_shown else ""
            )
        return [
            f"Generated by Ciphermark on {timezone.now():%Y-%m-%d} for {who}, "
            f"with the policy “{self.question.policy.name}” (rules {self.rules_version}).",
            f"Based on {self.measured}.",
            *([f"Caution: {self.caution}"] if self.caution else []),
            self.permalink,
        ]


def advise(question: Question, page_address: str) -> Advice:
    named = {host.slug: host for host in Host.objects.counted().filter(slug__in=question.hosts)}
    unknown = [key for key in question.hosts if key not in named]
    if unknown:
        raise NotFound(f"Unknown host key: {', '.join(unknown[:NAMED_AT_MOST])}.")
    hosts = measured_hosts(question)
    connections = [(host, host) for host in hosts]
    if question.is_pair:
        connections = [(hosts[0], hosts[1])] if len(hosts) == 2 else []
    result = recommend(connections, question.policy, question.link)
    permalink = f"{page_address}?{question.query}"
    return Advice(question, permalink, named, tuple(hosts), result)
