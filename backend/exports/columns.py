"""Every column of every export: one list for CSV, workbooks and docs/exports.md.

A stored column says by which SQL expression it is read. Its names are those of the statement in
`reports.export_rows`: `r` run, `h` host, `e` environment, one letterless join a dimension,
`s` series, `m` measurement, `n` what was negotiated, `v` values of the whole export.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from analysis.profiles.baselines import NAMES
from analysis.profiles.reference_profile import PROFILE

Kind = Literal["text", "integer", "number", "flag", "moment"]
"""`text` comes from outside or from closed lists alike: none of it is trusted."""

SUFFIXES = {"B/s": " (MB/s)", "s/GB": " (s/GB)", "bytes": " (bytes)"}
"""What the heading of a column says of its unit."""

Level = Literal["run", "series", "result"]
"""What a column's value depends on; the statement reads each level once, not once a row."""


@dataclass(frozen=True)
class Column:
    """One column: its name says the unit where there is one; `unit` repeats it for people."""

    name: str
    kind: Kind
    description: str
    unit: str = ""
    width: int = 14
    """Of a workbook's column, in characters."""
    heading: str = field(default="", kw_only=True)
    """Over the column in a workbook that is a report, which leaves out those without one."""

    @property
    def title(self) -> str:
        """Return what stands over the column in a workbook."""
        return f"{self.heading}{SUFFIXES.get(self.unit, '')}" if self.heading else self.name

    @property
    def scale(self) -> float:
        """Return what values are divided by in a workbook: under a heading rates are MB/s."""
        return 1e6 if self.heading and self.unit == "B/s" else 1


@dataclass(frozen=True)
class StoredColumn(Column):
    """A column that the database makes: `sql` is closed text, nothing of a user is in it."""

    level: Level = "run"
    sql: str = ""
    ssh_sql: str = ""
    """Of a run's column: what rows of ssh have instead, where that is something else."""

    @property
    def of_ssh(self) -> "StoredColumn":
        """The column as rows of ssh have it."""
        return replace(self, sql=self.ssh_sql) if self.ssh_sql else self


def _run(
    name: str, sql: str, description: str, kind: Kind = "text", width: int = 18
) -> StoredColumn:
    return StoredColumn(name, kind, description, "", width, "run", sql)


def _label(name: str, description: str, width: int = 18) -> StoredColumn:
    return StoredColumn(name, "text", description, "", width, "run", f"{name}.label")


def _series(
    name: str, sql: str, description: str, kind: Kind = "text", unit: str = ""
) -> StoredColumn:
    return StoredColumn(name, kind, description, unit, 14, "series", sql)


def _result(
    name: str, sql: str, description: str, kind: Kind = "number", unit: str = ""
) -> StoredColumn:
    return StoredColumn(name, kind, description, unit, 18, "result", sql)


def _library(name: str, description: str) -> StoredColumn:
    """Of the figure's own tool."""
    of_ssh = name.replace("openssl", "ssh_library")
    return StoredColumn(
        name, "text", description, "", 18, "run", f"{name}.label", f"{of_ssh}.label"
    )


def _single_baseline(index: str) -> str:
    """Return the name of the only family of a stored index, as SQL."""
    names = " ".join(f"WHEN '{family}' THEN '{name} only'" for family, name in NAMES.items())
    return (
        f"CASE jsonb_array_length({index}.families) WHEN 1"
        f" THEN CASE {index}.families ->> 0 {names} END END"
    )


INDEX = "CASE s.tool WHEN 'ssh' THEN r.ssh_index ELSE r.openssl_index END"

MACHINE = (
    _label("cpu", "CPU model, as comparisons group it.", 32),
    _label("cpu_vendor", "Who makes the CPU."),
    _label("microarchitecture", "Of the CPU."),
    _label("architecture", "Instruction set: x86_64, aarch64."),
    _label("os", "Operating system."),
    _label("os_version", "Operating system with its version.", 24),
)
"""Of the host and its operating system; "Unknown" where the run does not say."""

SSH = (
    _label("openssh", "OpenSSH client's version."),
    _label("virtualization", "Kind of virtual machine or container; none: real hardware."),
)

LIBRARY = (
    _library("openssl", "OpenSSL or LibreSSL behind this figure; of ssh its own (`ssh -V`)."),
    _library("openssl_series", "Series of that library, such as 3.0."),
)
"""Of a figure: the library that its tool uses."""

LIBRARIES = (
    _label("openssl", "Version of the openssl program."),
    _label("openssl_series", "Its series, such as 3.0."),
    _label("ssh_library", "OpenSSL or LibreSSL that ssh uses; where not stated, the program's."),
    _label("ssh_library_series", "Its series."),
)
"""Of a host: the libraries of both tools."""

RUN = (
    _run("run_id", "r.run_id::text", "The run, chosen by who measured.", width=38),
    _run("host", "h.name", "Name of the host.", width=24),
    _run("host_key", "h.slug", "Its key in addresses and filters.", width=24),
    *MACHINE,
    *LIBRARY,
    *SSH,
    _run("started_at", "r.started_at", "Start of the run, UTC; empty: not known.", "moment", 20),
    _run("source", "r.source", "agent, import or published.", width=10),
)

SERIES = (
    _series("tool", "s.tool", "ssh (whole transfer) or openssl (cipher alone)."),
    _series("cipher", "s.cipher", "The name that the tool itself uses."),
    _series("block_size_bytes", "s.block_size", "openssl: bytes a call.", "integer", "bytes"),
    _series("operation", "s.operation", "encrypt or decrypt."),
    _series("threads", "s.threads", "openssl: how many at once.", "integer"),
    _series("mac", "s.mac", "ssh: the MAC asked for; empty: the client's own choice."),
    _series("compression", "s.compression", "ssh: whether compression was on.", "flag"),
    _series("method", "s.method", "ssh: pipeline or steady (docs/method.md)."),
    _series("pinned", "s.pinned", "Whether the processes were tied to CPUs.", "flag"),
    _series("target_kind", "s.target_kind", "ssh: loopback or remote."),
    _series("target", "s.target_name", "ssh: name of the remote target."),
    _series(
        "acceleration",
        "s.acceleration",
        "default; masked: hardware AES was turned off for this measurement.",
    ),
)

NEGOTIATED = (
    _result("negotiated_mac", "n.mac", "ssh: the MAC agreed on; empty: none or unknown.", "text"),
    _result("negotiated_kex", "n.kex", "ssh: the key exchange agreed on.", "text"),
)

STATISTICS = (
    _result("n", "m.n", "Number of tries.", "integer"),
    _result("throughput_bytes_per_second", "m.median", "Median of the tries.", unit="B/s"),
    _result("minimum_bytes_per_second", "m.minimum", "Slowest try.", unit="B/s"),
    _result("maximum_bytes_per_second", "m.maximum", "Fastest try.", unit="B/s"),
    _result(
        "spread", "m.spread", "1.4826 · MAD / median of the tries; 0.05 is 5 %.", unit="fraction"
    ),
    _result("noisy", "m.noisy", "The spread is above 5 % over three tries or more.", "flag"),
    _result("implausible", "m.implausible", "Cannot be true; counted in no comparison.", "flag"),
    _result(
        "normalised_bytes_per_second",
        f"m.median / ({INDEX})",
        "The throughput divided by the host's speed index; empty: no baseline was measured.",
        unit="B/s",
    ),
    _result(
        "machine_speed_index",
        INDEX,
        "Plain speed of this host in this run and tool; 1 is the reference profile's.",
        unit="ratio",
    ),
    StoredColumn(
        "single_baseline",
        "text",
        "The baseline that this index rests on alone, as in: 3DES only; empty: several, or none.",
        "",
        16,
        "run",
        _single_baseline("openssl_index"),
        _single_baseline("ssh"),
    ),
    _result(
        "cpu_seconds_per_gb",
        "m.cpu_seconds_per_gb",
        "CPU time of both ends for 10⁹ bytes; empty: not measured.",
        unit="s/GB",
    ),
)


ORIGIN = (
    _run("reference_profile", f"'{PROFILE.name}'", "What the speed index refers to.", width=24),
    _run(
        "machine_acceleration",
        "r.acceleration",
        "Whether the run shows AES instructions at work: active, inactive, absent, unknown.",
    ),
    _run("tags", "nullif(r.tags::text, '{}')", "Tags of the run, as JSON.", width=24),
    _run("agent", "r.agent_name", "The program that measured."),
    _run("agent_version", "r.agent_version", "Its version.", width=14),
    _run("run_url", "v.site || '/runs/' || r.run_id || '/'", "The run's page.", width=60),
)

MEASUREMENTS = (*RUN, *SERIES, *NEGOTIATED, *STATISTICS, *ORIGIN)
"""One row a measurement: a series of a run with the statistics of its tries."""

HOSTS = (
    _run("host", "h.name", "Name of the host.", width=24),
    _run("host_key", "h.slug", "Its key in addresses and filters.", width=24),
    *MACHINE,
    *LIBRARIES,
    *SSH,
    _run("runs", "g.runs", "Runs of it that this file has figures of.", "integer", 8),
    _run("last_started_at", "g.last", "Start of the latest of these runs, UTC.", "moment", 20),
    StoredColumn(
        "ssh_speed_index", "number", "Of the latest of these runs.", "ratio", 16, "run", "ssh.index"
    ),
    StoredColumn(
        "openssl_speed_index",
        "number",
        "Of the latest of these runs.",
        "ratio",
        16,
        "run",
        "openssl_index.index",
    ),
)
"""One row a host, with what its latest run in this file says."""


def _headed(
    columns: tuple[StoredColumn, ...], headings: Mapping[str, str]
) -> tuple[StoredColumn, ...]:
    known = {column.name: column for column in columns}
    return tuple(replace(known[name], heading=heading) for name, heading in headings.items())


MEASUREMENT_SHEET = _headed(
    MEASUREMENTS,
    {
        "host": "Host",
        "cpu": "CPU",
        "os_version": "Operating system",
        "openssl": "OpenSSL",
        "openssh": "OpenSSH",
        "started_at": "Measured (UTC)",
        "source": "Source",
        "tool": "Tool",
        "cipher": "Cipher",
        "block_size_bytes": "Block size",
        "method": "Method",
        "mac": "MAC",
        "acceleration": "Acceleration",
        "n": "Tries",
        "throughput_bytes_per_second": "Throughput",
        "spread": "Spread",
        "normalised_bytes_per_second": "Normalised",
        "machine_speed_index": "Speed index",
        "cpu_seconds_per_gb": "CPU time",
        "run_url": "Run",
    },
)
HOST_SHEET = _headed(
    HOSTS,
    {
        "host": "Host",
        "cpu": "CPU",
        "architecture": "Architecture",
        "os_version": "Operating system",
        "openssl": "OpenSSL",
        "ssh_library": "Library of ssh",
        "openssh": "OpenSSH",
        "virtualization": "Virtualisation",
        "runs": "Runs",
        "last_started_at": "Last measured (UTC)",
        "ssh_speed_index": "Speed index, ssh",
        "openssl_speed_index": "Speed index, openssl",
    },
)


def chosen(columns: tuple[StoredColumn, ...], names: tuple[str, ...]) -> tuple[StoredColumn, ...]:
    """The columns of these names in the order asked for, all where none is; `KeyError` else."""
    known = {column.name: column for column in columns}
    return tuple(known[name] for name in names) if names else columns
