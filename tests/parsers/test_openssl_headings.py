"""What headings above tables of `openssl speed` say of how they were measured."""

from parsers.types import Part
from tests.cases import each
from tests.parsers.openssl_texts import figures, header, read, row

VERSION = "OpenSSL 1.1.1w  11 Sep 2023"
ONE, TWO = (
    (header((8192,)), row(name, [5_311_204_350])) for name in ("aes-128-cbc", "aes-256-cbc")
)


def codes(part: Part) -> list[str]:
    return [remark.code for remark in part.remarks]


@each(
    "heading",
    (
        "4 threads:",
        "-multi 4:",
        "On all 8 cores:",
        "With four CPU threads",
        "multi-threaded:",
        "decryption of big blocks:",
        "encrypt, then decrypt:",
    ),
)
@each("version", ((), (VERSION,)))
def test_a_table_that_may_be_of_several_processes_or_decrypted_is_left_out(
    heading: str, version: tuple[str, ...]
) -> None:
    for text in ((*version, heading, *ONE), (heading, *version, *ONE)):
        part = read(*text)
        assert figures(part) == []
        assert codes(part) == ["context_unclear"]


@each("heading", ("decrypt:", "aes-128-cbc decrypt:", "== Decryption =="))
def test_a_heading_may_say_the_direction(heading: str) -> None:
    (figure,) = figures(read(heading, *ONE))
    assert figure.operation == "decrypt"


@each("heading", ("1 thread:", "Single core:", "encryption:", "3.0.13:", "2 boards, the old one:"))
def test_other_headings_leave_a_table_as_it_is(heading: str) -> None:
    (figure,) = figures(read(heading, *ONE))
    assert (figure.operation, figure.threads) == ("encrypt", 1)


@each("first", ("decrypt:", "AES-NI disabled:", "4 threads:"))
@each("second", ("encryption again, bigger key:", "back to normal:"))
def test_a_heading_that_may_end_what_one_before_said_leaves_a_table_out(
    first: str, second: str
) -> None:
    part = read(first, *ONE, "", second, *TWO)
    assert "aes-256-cbc" not in {figure.cipher for figure in figures(part)}
    assert "context_unclear" in codes(part)


def test_headings_that_say_so_end_what_one_before_said() -> None:
    part = read("decrypt:", *ONE, "encrypt:", *TWO)
    assert [figure.operation for figure in figures(part)] == ["decrypt", "encrypt"]
    part = read("AES-NI disabled:", *ONE, "AES-NI enabled:", *TWO)
    assert [figure.acceleration for figure in figures(part)] == ["masked", "default"]


def test_a_heading_holds_for_all_tables_below_it() -> None:
    part = read("AES-NI disabled:", *ONE, *TWO)
    assert [figure.acceleration for figure in figures(part)] == ["masked", "masked"]


def test_a_command_below_a_heading_and_another_command_may_be_without_it() -> None:
    command = "$ openssl speed -evp aes-128-cbc"
    part = read("AES-NI disabled:", command, *ONE, command.replace("128", "256"), *TWO)
    assert [figure.acceleration for figure in figures(part)] == ["masked"]


@each(
    "command",
    (
        "ssh nas openssl",
        "docker run --rm alpine openssl",
        "./apps/openssl",
        "/opt/openssl-3.3/bin/openssl",
        "LD_LIBRARY_PATH=/opt/openssl-3.3/lib openssl",
    ),
)
@each("mark", ("$", "tom@desk:~$"))
def test_a_version_is_of_no_other_program_or_place(command: str, mark: str) -> None:
    lines = (f"{mark} openssl version", VERSION, f"{mark} {command} speed -evp aes-128-cbc", *ONE)
    (section,) = read(*lines).sections
    assert section.environment == {}
    same = (line.replace("openssl version", f"{command} version") for line in lines)
    (section,) = read(*same).sections
    assert section.environment.get("openssl", {}).get("version_text") == VERSION


@each("before", ((), ("tom@desk:~$ openssl version",)))
def test_a_version_is_of_the_plain_program(before: tuple[str, ...]) -> None:
    command = "tom@desk:~$ sudo nice openssl speed -evp aes-128-cbc"
    (section,) = read(*before, VERSION, command, *ONE).sections
    assert section.environment["openssl"]["version_text"] == VERSION


@each(
    "talk",
    (
        "AES-NI is disabled in the BIOS? No, it is on.",
        "AES-NI was disabled in the BIOS until yesterday; now enabled:",
        "Without AES-NI this would be four times slower.",
    ),
)
@each("command", ((), ("$ openssl speed -evp aes-128-cbc",)))
def test_words_that_only_speak_of_a_mask_leave_a_table_out(
    talk: str, command: tuple[str, ...]
) -> None:
    part = read(talk, "", *command, *ONE)
    assert figures(part) == []
    assert codes(part) == ["context_unclear"]


@each(
    "heading",
    (
        "AMD EPYC 7551 32-Core Processor:",
        "## AMD Ryzen 9 5950X 16-Core Processor",
        "model name : AMD EPYC 7551 32-Core Processor",
        "Raspberry Pi 2 B, 900 MHz 4-core BCM2709 CPU",
    ),
)
def test_the_cores_that_a_cpu_has_say_nothing_of_processes(heading: str) -> None:
    part = read(heading, *ONE)
    assert codes(part) == []
    assert [figure.threads for figure in figures(part)] == [1]


@each(
    "above, line",
    (
        (("Results", "", "All of it with 4 threads.", "", "## Box 1", ""), 3),
        (("Decrypt", "Baseline:", ""), 1),
        (("With AES-NI off it is perhaps slower.", "", "Box 1", ""), 1),
    ),
)
def test_the_remark_names_the_line_that_is_in_doubt(above: tuple[str, ...], line: int) -> None:
    (remark,) = read(*above, *ONE).remarks
    assert remark.detail.startswith(f"Line {line} may say")
