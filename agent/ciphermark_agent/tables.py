"""A run as tables for the terminal."""

import statistics
from typing import Any, Dict, List, Sequence

from ciphermark_agent.common import Json, printable, rate, reading
from ciphermark_agent.openssl import Asked
from ciphermark_agent.ssh_connection import Channel


def megabytes(bytes_per_second: float) -> str:
    """Rate in 10^6 bytes per second, three significant digits."""
    value = bytes_per_second / 1e6
    return "%.0f" % value if value >= 100 else "%.1f" % value


def median_rate(measurement: Json) -> float:
    return statistics.median(map(rate, measurement["samples"]))


def spread(measurement: Json) -> str:
    rates = sorted(map(rate, measurement["samples"]))
    return "%s-%s" % (megabytes(rates[0]), megabytes(rates[-1]))


def cpu_per_gb(measurement: Json) -> str:
    """Median CPU seconds of both ends for 10^9 bytes."""
    costs = []
    for end in ("client_cpu_seconds", "server_cpu_seconds"):
        known = [one[end] / one["bytes"] * 1e9 for one in measurement["samples"] if one.get(end)]
        costs.append("%.2f" % statistics.median(known) if known else "?")
    return " + ".join(costs)


def grouped(measurements: Sequence[Json], tool: str) -> Dict[str, Dict[Any, Json]]:
    """The measurements of a tool by row and column of its table; the fastest row first."""
    rows: Dict[str, Dict[Any, Json]] = {}
    for one in measurements:
        if one["tool"] != tool:
            continue
        if tool == "ssh":
            channel = Channel(one["cipher"], one.get("mac"), one.get("compression", False))
            far = (one.get("target") or {}).get("name")
            name = channel.in_words() + (" to %s" % far if far else "")
            column = one.get("method", "pipeline")
        else:
            facts = (one.get("acceleration", "default"), one.get("operation", "encrypt"))
            asked = Asked(one["cipher"], *facts, threads=one.get("threads", 1))
            name, column = asked.in_words(), one["block_size"]
        rows.setdefault(printable(name), {})[column] = one
    fastest = sorted(rows, key=lambda name: -max(map(median_rate, rows[name].values())))
    return {name: rows[name] for name in fastest}


def ssh_rows(measurements: Sequence[Json]) -> List[List[str]]:
    """MB/s of both methods, CPU seconds a GB of the steady one."""
    lines = [["ssh, MB/s: median (range)", "pipeline", "steady", "CPU s/GB client + server"]]
    for name, methods in grouped(measurements, "ssh").items():
        cells = ["-", "-"]
        for at, method in enumerate(("pipeline", "steady")):
            if method in methods:
                one = methods[method]
                cells[at] = "%s (%s)" % (megabytes(median_rate(one)), spread(one))
        lines.append([name, *cells, cpu_per_gb(methods.get("steady") or methods["pipeline"])])
    return lines


def openssl_rows(measurements: Sequence[Json]) -> List[List[str]]:
    """MB/s by block size, and the range at the largest."""
    rows = grouped(measurements, "openssl")
    columns = sorted({size for sizes in rows.values() for size in sizes})
    lines = [["openssl speed, MB/s: median"] + ["%d B" % size for size in columns] + ["range"]]
    for name, sizes in rows.items():
        cells = [megabytes(median_rate(sizes[one])) if one in sizes else "-" for one in columns]
        lines.append([name, *cells, spread(sizes[max(sizes)])])
    return lines


def table(rows: Sequence[Sequence[str]]) -> List[str]:
    """Columns aligned, the first to the left, the others to the right; nothing for a head alone."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    form = "  ".join(["%%-%ds" % widths[0]] + ["%%%ds" % width for width in widths[1:]])
    return [(form % tuple(row)).rstrip() for row in rows] + [""] if len(rows) > 1 else []


def result_lines(document: Json) -> List[str]:
    """A run as tables, conditions and reasons below."""
    cpu = document["environment"]["cpu"].get("model")
    about = (document["host"]["name"], cpu, document["started_at"])
    lines = [", ".join(printable(str(fact)) for fact in about), ""]
    for rows in (ssh_rows(document["measurements"]), openssl_rows(document["measurements"])):
        lines += table(rows)
    for entry in document.get("conditions", []):
        words = (entry["code"], str(entry.get("detail")))
        lines.append("Caution (%s): %s" % tuple(map(printable, words)))
    reasons: Dict[str, List[str]] = {}
    for entry in document.get("skipped", []):
        reason = "%s: %s" % (entry["tool"], entry["reason"])
        reasons.setdefault(reason, []).append(str(entry["cipher"]))
    for reason, ciphers in reasons.items():
        lines.append("not measured: %s (%s)" % (printable(", ".join(ciphers)), printable(reason)))
    return lines


def result_text(document: Json) -> str:
    """Those lines for the end of a run, which is worth more than they."""
    return str(reading(lambda: "\n".join(result_lines(document)) + "\n", ""))
