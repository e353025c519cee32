"""A run as tables for the terminal."""

import collections
import statistics
from typing import Dict, List, Sequence

from ciphermark_agent.common import Json, printable, rate, reading
from ciphermark_agent.openssl import Asked
from ciphermark_agent.ssh_protocol import Channel


def megabytes(bytes_per_second: float) -> str:
    """Rate in 10^6 bytes per second, three significant digits."""
    value = bytes_per_second / 1e6
    return "%.0f" % value if value >= 100 else "%.1f" % value


def rates_of(measurement: Json) -> List[float]:
    return sorted(rate(sample) for sample in measurement["samples"])


def cpu_per_gb(measurement: Json) -> str:
    """Median CPU seconds of both ends for 10^9 bytes."""
    costs = []
    for end in ("client_cpu_seconds", "server_cpu_seconds"):
        known = [
            sample[end] / sample["bytes"] * 1e9
            for sample in measurement["samples"]
            if sample.get(end)
        ]
        costs.append("%.2f" % statistics.median(known) if known else "?")
    return " + ".join(costs)


def table(rows: Sequence[Sequence[str]]) -> List[str]:
    """Columns aligned: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))  # noqa: B905 - new in 3.10
        ).rstrip()
        for row in rows
    ]


def spread(rates: Sequence[float]) -> str:
    return "%s (%s-%s)" % (
        megabytes(statistics.median(rates)),
        megabytes(rates[0]),
        megabytes(rates[-1]),
    )


def ssh_table(measurements: Sequence[Json]) -> List[str]:
    """MB/s of both methods, CPU seconds a GB of the pipeline."""
    by_cipher: Dict[str, Dict[str, Json]] = collections.OrderedDict()
    for measurement in measurements:
        if measurement["tool"] == "ssh":
            channel = Channel(
                measurement["cipher"], measurement.get("mac"), measurement.get("compression", False)
            )
            far = (measurement.get("target") or {}).get("name")
            name = channel.in_words() + (" to %s" % far if far else "")
            methods = by_cipher.setdefault(name, {})
            methods[measurement.get("method", "pipeline")] = measurement
    if not by_cipher:
        return []
    rows = [("ssh, MB/s: median (range)", "pipeline", "steady", "CPU s/GB client + server")]
    for cipher, methods in sorted(by_cipher.items(), key=lambda item: -best(item[1])):
        cells = [
            spread(rates_of(methods[name])) if name in methods else "-"
            for name in ("pipeline", "steady")
        ]
        costs = cpu_per_gb(methods.get("steady") or methods["pipeline"])
        rows.append((printable(cipher), cells[0], cells[1], costs))
    return table(rows)


def best(methods: Dict[str, Json]) -> float:
    return max(statistics.median(rates_of(measurement)) for measurement in methods.values())


def openssl_table(measurements: Sequence[Json]) -> List[str]:
    """MB/s by block size, and the range at the largest."""
    rows: Dict[str, Dict[int, List[float]]] = collections.OrderedDict()
    for measurement in measurements:
        if measurement["tool"] == "openssl":
            asked = Asked(
                measurement["cipher"],
                measurement.get("acceleration", "default"),
                measurement.get("operation", "encrypt"),
                threads=measurement.get("threads", 1),
            )
            sizes = rows.setdefault(printable(asked.in_words()), {})
            sizes[measurement["block_size"]] = rates_of(measurement)
    if not rows:
        return []
    columns = sorted({size for sizes in rows.values() for size in sizes})
    head = ["openssl speed, MB/s: median"] + ["%d B" % size for size in columns] + ["range"]
    lines = [head]
    for name, sizes in sorted(rows.items(), key=lambda row: -statistics.median(largest(row[1]))):
        cells = [
            megabytes(statistics.median(sizes[size])) if size in sizes else "-" for size in columns
        ]
        ends = largest(sizes)
        lines.append([name] + cells + ["%s-%s" % (megabytes(ends[0]), megabytes(ends[-1]))])
    return table(lines)


def largest(sizes: Dict[int, List[float]]) -> List[float]:
    """The rates of the largest block size."""
    return sizes[max(sizes)]


def result_text(document: Json) -> str:
    """Those lines for the end of a run, which is worth more than they."""
    return str(reading(lambda: "\n".join(result_lines(document)) + "\n", ""))


def result_lines(document: Json) -> List[str]:
    """A run as tables, conditions and reasons below."""
    host = printable(str(document["host"]["name"]))
    cpu = printable(str(document["environment"]["cpu"].get("model")))
    lines = ["%s, %s, %s" % (host, cpu, printable(str(document["started_at"]))), ""]
    for part in (ssh_table(document["measurements"]), openssl_table(document["measurements"])):
        lines += part + [""] if part else []
    for entry in document.get("conditions", []):
        lines.append(
            "Caution (%s): %s" % (printable(entry["code"]), printable(str(entry.get("detail"))))
        )
    reasons: Dict[str, List[str]] = collections.OrderedDict()
    for entry in document.get("skipped", []):
        key = "%s: %s" % (entry["tool"], entry["reason"])
        reasons.setdefault(key, []).append(str(entry["cipher"]))
    for reason, ciphers in reasons.items():
        lines.append("not measured: %s (%s)" % (printable(", ".join(ciphers)), printable(reason)))
    return lines
