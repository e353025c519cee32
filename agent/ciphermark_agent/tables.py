import statistics
from typing import Any, Dict, List, Optional, Sequence

from ciphermark_agent.common import Json, printable, rate
from ciphermark_agent.openssl import SpeedCall
from ciphermark_agent.ssh_connection import Channel

# openssl's names for ssh ciphers, if they differ by more than a dash.
OPENSSL_NAMES = {
    "arcfour": "rc4",
    "blowfish-cbc": "bf-cbc",
    "3des-cbc": "des-ede3-cbc",
    "cast128-cbc": "cast5-cbc",
}
# Authenticated encryption, as in the server's `modern` policy.
SOUND = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com")
LEAST_GAIN = 1.05  # the variation between tries


def megabytes(bytes_per_second: float) -> str:
    value = bytes_per_second / 1e6
    return "%.0f" % value if value >= 100 else "%.1f" % value


def median_rate(measurement: Json) -> float:
    return statistics.median(map(rate, measurement["samples"]))


def speed(measurement: Optional[Json]) -> str:
    if measurement is None:
        return "-"
    rates = sorted(map(rate, measurement["samples"]))
    median = megabytes(statistics.median(rates))
    return "%s (%s-%s)" % (median, megabytes(rates[0]), megabytes(rates[-1]))


def cpu_per_gb(measurement: Json) -> str:
    costs = []
    for end in ("client_cpu_seconds", "server_cpu_seconds"):
        samples = [sample for sample in measurement["samples"] if sample.get(end)]
        known = [sample[end] / sample["bytes"] * 1e9 for sample in samples]
        costs.append("%.2f" % statistics.median(known) if known else "?")
    return " + ".join(costs)


def ssh_rows(measurements: Sequence[Json]) -> Dict[str, Dict[str, Json]]:
    rows: Dict[str, Dict[str, Json]] = {}
    for measurement in measurements:
        if measurement["tool"] == "ssh":
            options = measurement.get("mac"), measurement.get("compression", False)
            channel = Channel(measurement["cipher"], *options)
            target = (measurement.get("target") or {}).get("name")
            name = channel.in_words() + (" to %s" % target if target else "")
            rows.setdefault(name, {})[measurement.get("method", "pipeline")] = measurement
    return dict(sorted(rows.items(), key=lambda row: -max(map(median_rate, row[1].values()))))


def openssl_rows(measurements: Sequence[Json]) -> Dict[str, Json]:
    rows: Dict[str, Json] = {}
    for measurement in sorted(measurements, key=lambda entry: entry.get("block_size") or 0):
        if measurement["tool"] == "openssl":
            names = SpeedCall._fields[:3]
            call = SpeedCall(**{name: measurement[name] for name in names if name in measurement})
            rows[call.in_words()] = measurement
    return dict(sorted(rows.items(), key=lambda row: -median_rate(row[1])))


def table(measurements: Sequence[Json]) -> List[str]:
    openssl = openssl_rows(measurements)
    columns = ["ssh pipeline", "ssh steady", "CPU s/GB", "openssl"]
    lines = [["MB/s: median (range); CPU: client + server", *columns]]
    for name, methods in ssh_rows(measurements).items():
        cipher = name.split("@")[0].split(" ")[0]
        same = OPENSSL_NAMES.get(cipher, cipher.replace("aes", "aes-", 1))
        cost = cpu_per_gb(methods.get("steady") or methods["pipeline"])
        speeds = [speed(methods.get(method)) for method in ("pipeline", "steady")]
        lines.append([name, *speeds, cost, speed(openssl.pop(same, None))])
    lines += [[name, "-", "-", "-", speed(row)] for name, row in openssl.items()]
    cells = [[printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells)]
    form = "  ".join(["%%-%ds" % widths[0]] + ["%%%ds" % width for width in widths[1:]])
    return [(form % tuple(line)).rstrip() for line in cells] + [""] if lines[1:] else []


def recommendation(document: Json) -> List[str]:
    rates = {
        name: median_rate(methods["pipeline"])
        for name, methods in ssh_rows(document["measurements"]).items()
        if "pipeline" in methods
    }
    order = sorted(filter(rates.__contains__, SOUND), key=lambda name: -rates[name])
    if len(order) < 2:  # no choice
        return []
    lines = ["Recommended for ssh_config: Ciphers %s" % ",".join(order)]
    default = (document["environment"].get("openssh") or {}).get("default_cipher")
    if default in rates:
        best, current, gain = order[0], printable(default), rates[order[0]] / rates[default]
        text = f"{best} is {100 * gain - 100:.0f} % faster than the default, {current}."
        if gain < LEAST_GAIN:
            text = f"The default, {current}, is as fast as {best}. No change is needed."
        lines.append("  " + text)
    return lines


def result_lines(document: Json) -> List[str]:
    cpu = document["environment"]["cpu"].get("model")
    about = (document["host"]["name"], cpu, document["started_at"])
    lines = [", ".join(printable(str(fact)) for fact in about), ""]
    lines += table(document["measurements"]) + recommendation(document)
    for entry in document.get("conditions", []):
        words = (entry["code"], str(entry.get("detail")))
        lines.append("Caution (%s): %s" % tuple(map(printable, words)))
    skipped: Dict[Any, List[str]] = {}
    for entry in document.get("skipped", []):
        names = skipped.setdefault((str(entry["tool"]), str(entry["reason"])), [])
        names.append(str(entry["cipher"] or "all"))
    for (tool, reason), names in skipped.items():
        lines.append(printable("Skipped %s ciphers: %s (%s)" % (tool, ", ".join(names), reason)))
    return lines
