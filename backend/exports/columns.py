"""Every column of every export: one list for CSV, XLSX, docs/exports.md and the Method sheet.

A stored column says by which SQL expression it is read. Its names are those of the statement in
`reports.rows.export_rows`: `r` run, `h` host, `e` environment, one letterless join a dimension,
`s` series, `m` measurement, `n` what was negotiated, `t` one try of the document, `v` values of
the whole export.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from analysis.profiles.baselines import NAMES
from analysis.profiles.reference_profile import PROFILE

Kind = Literal["text", "integer", "number", "flag", "moment"]
"""`text` comes from outside or from closed lists alike: none of it is trusted."""

Level = Literal["run", "series", "result", "try"]
"""What a column's value depends on; the statement reads each level once, not once a row."""


@dataclass(frozen=True)
class Column:
    """One column: its name says the unit where there is one; `unit` repeats it for people."""

    name: str
    kind: Kind
    description: str
    unit: str = ""
    width: int = 14
    """Of a spreadsheet's column, in characters."""
    folded: bool = field(default=False, kw_only=True)
    """A spreadsheet shows the column only when it is asked to."""


C = TypeVar("C", bound=Column)


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


def _try(
    name: str, sql: str, description: str, kind: Kind = "number", unit: str = ""
) -> StoredColumn:
    return StoredColumn(name, kind, description, unit, 16, "try", sql)


def _library(name: str, description: str) -> StoredColumn:
    """Of the figure's own tool."""
    of_ssh = name.replace("openssl", "ssh_library")
    return StoredColumn(
        name, "text", description, "", 18, "run", f"{name}.label", f"{of_ssh}.label"
    )


def _single_baseline(index: str) -> str:
    """The name of the only family of a stored index, as SQL."""
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
    _result(
        "cpu_bound_bytes_per_second",
        "m.cpu_bound_throughput",
        "Bytes by the CPU seconds of the busier end; empty: not measured.",
        unit="B/s",
    ),
)


def _number(name: str) -> str:
    """A number of a try; nothing where it is spelt (1e-400) as may be beyond PostgreSQL's numbers.

    One such document would else end every file that has its run in it. `pg_input_is_valid` says
    it more exactly, but there is none in PostgreSQL 15.
    """
    text = f"t.body ->> '{name}'"
    plain = rf"length({text}) < 200 AND {text} !~ '[eE].?\d\d\d'"
    return f"CASE WHEN {plain} THEN ({text})::float8 END"


_BYTES, _SECONDS = _number("bytes"), _number("seconds")

TRIES = (
    _try("try", "t.number", "Its number within the series, from 1.", "integer"),
    _try("bytes", "(t.body ->> 'bytes')::numeric", "Bytes moved.", "integer", "bytes"),
    _try("seconds", _number("seconds"), "Wall-clock time.", unit="s"),
    _try(
        "bytes_per_second",
        # A quotient that no number can hold is no figure either.
        f"CASE WHEN {_SECONDS} BETWEEN 1e-100 AND 1e100 AND {_BYTES} <= 1e200"
        f" THEN {_BYTES} / {_SECONDS} ELSE {_number('bytes_per_second')} END",
        "Bytes by seconds; of imported and published figures the rate as printed.",
        unit="B/s",
    ),
    _try(
        "setup_seconds",
        _number("setup_seconds"),
        "ssh, steady: time of setting up the connection, as the agent saw it.",
        unit="s",
    ),
    _try(
        "client_cpu_seconds",
        _number("client_cpu_seconds"),
        "CPU time of the sending end.",
        unit="s",
    ),
    _try(
        "server_cpu_seconds",
        _number("server_cpu_seconds"),
        "CPU time of the receiving end.",
        unit="s",
    ),
    _try(
        "foreign_cpu",
        _number("foreign_cpu"),
        "Part of the CPU that other programs used meanwhile.",
        unit="fraction",
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

SAMPLES = (*RUN, *SERIES, *NEGOTIATED, *TRIES, *ORIGIN)
"""One row a try."""

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


def in_megabytes(column: StoredColumn) -> StoredColumn:
    """A column of bytes per second, in MB/s."""
    return replace(
        column, name=megabytes_name(column.name), unit="MB/s", sql=f"({column.sql}) / 1e6"
    )


def megabytes_name(name: str) -> str:
    """What a column of bytes per second is called in MB/s."""
    per_second = "bytes_per_second"
    return (
        name.replace(per_second, "mb_per_second") if per_second in name else f"{name}_mb_per_second"
    )


def with_megabytes(columns: tuple[C, ...], in_megabytes: Callable[[C], C]) -> tuple[C, ...]:
    """The columns of a sheet that people read: the same in MB/s beside bytes per second."""
    return tuple(
        one
        for column in columns
        for one in ((column, in_megabytes(column)) if column.unit == "B/s" else (column,))
    )


def chosen(columns: tuple[StoredColumn, ...], names: tuple[str, ...]) -> tuple[StoredColumn, ...]:
    """The columns of these names in the order asked for, all where none is; `KeyError` else."""
    known = {column.name: column for column in columns}
    return tuple(known[name] for name in names) if names else columns
