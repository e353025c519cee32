"""Whole sbc-bench reports, made up here in the shapes of its versions."""

from collections.abc import Sequence

from parsers.lines import numbered_lines
from parsers.read_text import HowToRead, read_text
from parsers.sbc_bench.reports import read_sbc_bench
from parsers.types import Part
from tests.parsers.openssl_texts import codes, figures, header, rates, rising, row

RULE = "#" * 74
TITLE = "sbc-bench v0.9.99 Acme Board 2 (Fri, 01 Dec 2023 16:46:41 +0100)"
SYSTEM = """
Distributor ID:\tDebian
Description:\tDebian GNU/Linux 12 (bookworm)
Release:\t12
Architecture:\tarm64

Linux 6.1.63-current-acme (board) \t12/01/23 \t_aarch64_\t(4 CPU)
"""
PROCESSORS = """
CPU sysfs topology (clusters, cpufreq members, clockspeeds)
                 cpufreq   min    max
 CPU    cluster  policy   speed  speed   core type
  0        0        0      408    1800   Cortex-A55 / r2p0
  4        1        4      408    2304   Cortex-A76 / r4p0

Architecture:                    aarch64
CPU(s):                          8
Vendor ID:                       ARM
Model name:                      Cortex-A55
Flags:                           fp asimd aes pmull
Model name:                      Cortex-A76
"""
VERSION = "OpenSSL 3.0.11, built on 19 Sep 2023 (Library: OpenSSL 3.0.11 19 Sep 2023)"
SLOW, FAST = row("aes-256-cbc", rising(100_000_000)), row("aes-256-cbc", rising(300_000_000))


def report(
    rows: Sequence[str], before: str = "", title: str = TITLE, review: Sequence[str] = ()
) -> Part | None:
    """The parser's reading of a report with such a table."""
    return read_sbc_bench(numbered_lines(text_of(rows, before, title, review)))


def text_of(
    rows: Sequence[str], before: str = "", title: str = TITLE, review: Sequence[str] = ()
) -> str:
    table = "\n".join([before, "", VERSION, header(), *rows])
    echo = "\n".join(f"  * `{one}`" for one in review)
    return f"{title}\n{SYSTEM}\n{RULE}\n\n{table}\n\n{RULE}\n{PROCESSORS}\n{echo}\n"


def understood(part: Part | None) -> Part:
    assert part is not None
    return part


def test_a_report_is_read_with_its_board() -> None:
    part = understood(report([SLOW], "Executing benchmark twice on cluster 0 (Cortex-A55)"))
    section = part.sections[0]
    assert part.format == "sbc-bench"
    assert (section.host, section.label) == ("Acme Board 2", None)
    assert section.started_at == "2023-12-01T15:46:41Z"
    assert section.environment == {
        "cpu": {
            "model": "Cortex-A55",
            "architecture": "aarch64",
            "vendor": "ARM",
            "threads": 8,
            "flags": ["fp", "asimd", "aes", "pmull"],
        },
        "os": {
            "id": "debian",
            "name": "Debian GNU/Linux",
            "version": "12",
            "kernel": "Linux 6.1.63-current-acme",
        },
        "openssl": {"version_text": VERSION},
    }


def test_a_report_is_known_as_one_unless_another_format_is_asked_for() -> None:
    text = text_of([SLOW])
    assert read_text(text).format == "sbc-bench"
    assert read_text(text, HowToRead(format="sbc-bench")).format == "sbc-bench"
    assert read_text(text, HowToRead(format="openssl-speed")).format != "sbc-bench"


def test_two_runs_on_one_cluster_are_two_tries() -> None:
    part = understood(report([SLOW, FAST], "Executing benchmark twice on cluster 0 (Cortex-A55)"))
    assert [len(section.figures) for section in part.sections] == [12]


def test_clusters_are_kept_apart() -> None:
    part = understood(report([SLOW, FAST], "Executing benchmark on each cluster individually"))
    assert [section.label for section in part.sections] == [
        "CPU cluster 1 (Cortex-A55)",
        "CPU cluster 2 (Cortex-A76)",
    ]
    assert [section.environment["cpu"]["model"] for section in part.sections] == [
        "Cortex-A55",
        "Cortex-A76",
    ]
    assert rates(part) == rising(100_000_000) + rising(300_000_000)


def test_clusters_named_behind_the_figures_are_kept_apart() -> None:
    part = understood(report([SLOW + " (Small Core)", FAST + " (Big Core)"]))
    assert [section.label for section in part.sections] == [
        "CPU cluster 1 (Small Core)",
        "CPU cluster 2 (Big Core)",
    ]


def test_an_old_report_tells_clusters_by_its_memory_test() -> None:
    part = understood(report([SLOW, FAST], "Executing tinymembench on a little core:"))
    assert len(part.sections) == 2


def test_the_review_is_not_counted_again() -> None:
    part = understood(
        report([SLOW], "Executing benchmark twice on cluster 0", review=[" ".join(SLOW.split())])
    )
    assert len(figures(part)) == 6
    assert codes(part) == ["repeated"]


def test_rows_of_processes_at_once_stand_apart_and_say_so() -> None:
    parallel = [row("aes-256-cbc", rising(start)) + " (fully parallel)" for start in (8e7, 9e7)]
    part = understood(report([SLOW, FAST, *parallel], "Executing benchmark twice on cluster 0"))
    together = [figure for figure in figures(part) if figure.threads == 2]
    assert len(together) == 12
    assert all("not their sum" in (figure.implausible or "") for figure in together)
    assert [section.label for section in part.sections] == [None, "all 2 processes at once"]


def test_all_lines_of_a_report_are_understood_and_none_before_it() -> None:
    lines = numbered_lines(f"See this:\n{TITLE}\n{SYSTEM}\n{RULE}\n\n{VERSION}\n{header()}\n{SLOW}")
    part = understood(read_sbc_bench(lines))
    assert part.understood == {line.number for line in lines} - {1}


def test_two_reports_in_one_text_are_two_boards() -> None:
    one = f"{TITLE}\n{SYSTEM}\n{RULE}\n{VERSION}\n{header()}\n{SLOW}\n"
    part = understood(read_sbc_bench(numbered_lines(one + one.replace("Board 2", "Board 3"))))
    assert [section.host for section in part.sections] == ["Acme Board 2", "Acme Board 3"]


def test_a_report_without_a_device_or_with_an_impossible_date() -> None:
    title = "sbc-bench v0.4 -- Sun, 99 Jul 2018 18:53:35 +0000"
    section = understood(report([SLOW], title=title)).sections[0]
    assert section.host is None
    assert section.started_at is None


def test_a_damaged_figure_is_left_out() -> None:
    part = understood(report([SLOW.replace("101000.00k", "1010?0.00k")]))
    assert len(figures(part)) == 5
    assert codes(part) == ["damaged"]


MARKS = ("tinymembench v0.4.9 (simple benchmark)", "7-Zip (a) [64]", "Distributor ID:\tDebian")


def test_other_texts_are_no_reports() -> None:
    table = f"{VERSION}\n{header()}\n{SLOW}"
    for text in (
        "",
        "I ran sbc-bench v0.9 on it.",
        table,
        "\n".join([*MARKS[:2], MARKS[0], table]),
    ):
        assert read_sbc_bench(numbered_lines(text)) is None


def test_a_report_without_its_title_is_known_by_three_of_its_tools() -> None:
    part = understood(read_sbc_bench(numbered_lines("\n".join([*MARKS, VERSION, header(), SLOW]))))
    assert len(figures(part)) == 6
