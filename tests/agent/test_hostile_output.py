"""Whatever a tool or the kernel answers, what is measured is kept, and the document is sound."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.agent import whole as agent
from tests.agent.running import (
    FAST_OPENSSL,
    ONCE,
    QUICK_RUN,
    STAND_IN,
    RunAgent,
    no_json,
    of_openssl,
    reasons,
    sound,
    write_program,
)

DIGITS = "9" * 400
MANY = "9" * 5000  # more than Python turns into a number


def answering(line: str, out: str = "+H:16384\\n+F:25:RC4:1000.00") -> str:
    """An openssl that answers this for rc4, and a good figure for any other cipher."""
    return (
        f"import sys\nif 'rc4' in sys.argv:\n"
        f"    print({line!r}.replace('~', chr(10)), file=sys.stderr)\n"
        f"    sys.exit(print('{out}'))\n" + FAST_OPENSSL
    )


DT = "+DT:RC4:1:16384~"


@pytest.mark.parametrize(
    "line",
    (
        DT + "+R:123:RC4:abc",
        DT + f"+R:{DIGITS}:RC4:1.000000",
        DT + f"+R:{MANY}:RC4:1.000000",
        DT + f"+R:123:RC4:{DIGITS}",
        DT + "+R:123:RC4:inf",
        DT + "+R:123:RC4:nan",
        DT + "+R:123:RC4:-1.0",
        DT + "+R:123:RC4:1e-320",
        DT + "+R:\u00b2:RC4:1.0",
        DT + "+R:\u0663\u0663:RC4:1.0",
        DT + "+R::RC4:",
        DT + "+R:1_000:RC4:1_0.0",
        f"+DT:RC4:1:{DIGITS}~+R:5:RC4:1.0",
        "+DT:RC4:1:0x~+R:5:RC4:1.0",
        "~".join(f"+DT:RC4:1:{size}~+R:5:RC4:1.0" for size in range(20000, 26000)),
        "\x00\udcff" * 3,
        "",
    ),
)
def test_an_answer_that_is_no_number_is_no_try(line: str, tmp_path: Path) -> None:
    fake = write_program(tmp_path / "openssl", answering(line.replace("\udcff", "\u00ff")))
    able = agent.SpeedAbilities(seconds=True, providers=True)
    with pytest.raises(agent.TryFailed, match="answered no rate"):
        agent.openssl_try(fake, agent.Asked("rc4"), 1, able)


def test_a_cipher_without_a_number_is_skipped_and_the_others_kept(
    run_agent: RunAgent, tmp_path: Path
) -> None:
    fake = write_program(tmp_path / "openssl", answering(f"{DT}+R:{MANY}:RC4:1.000000"))
    done = run_agent(
        "run", *of_openssl(fake, "rc4,aes-128-cbc"), "--no-mask",
        env={"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    document = sound(done)
    assert {one["cipher"] for one in document["measurements"]} == {"aes-128-cbc"}
    assert "no rate" in reasons(document)["rc4"]


HOSTILE_SSH = """
import os, sys
text = {text!r}
if '-V' in sys.argv: sys.exit(print('OpenSSH_' + text + ', OpenSSL ' + text, file=sys.stderr))
if '-Q' in sys.argv: sys.exit(print('aes128-ctr\\n' + text + '\\nNO NAME\\n' + text * 3))
if '-G' in sys.argv: sys.exit(print('ciphers ' + text))
print('kex: client->server cipher: ' + text + ' MAC: ' + text, file=sys.stderr)
print('debug1: remote software version ' + text, file=sys.stderr)
sys.stdout.write(text)
sys.stdout.flush()
sys.exit({code})
"""


@pytest.mark.parametrize(
    ("text", "code"),
    ((DIGITS, 0), ("inf", 255), ("%s%n{0}", 0), ("\u00b2" * 3000, 255), ("a b:c\td", 0), ("", 255)),
)
def test_a_hostile_ssh_costs_ssh_alone(
    text: str, code: int, run_agent: RunAgent, tmp_path: Path, sshd_option: tuple[str, str]
) -> None:
    ssh = write_program(tmp_path / "ssh", HOSTILE_SSH.format(text=text, code=code))
    done = run_agent(
        "run", *sshd_option, "--ssh", ssh, "--openssl", STAND_IN, "--ciphers", "aes128-ctr,rc4",
        "--tries", "1", before="agent.TOOL_SECONDS = 3", env={"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    document = sound(done)
    assert {one["cipher"] for one in document["measurements"]} == {"rc4"}
    assert reasons(document)["aes128-ctr"]


BROKEN = """
def fail(*words, **options): raise RuntimeError('nobody thought of this')
def but_for(real, name):
    return lambda *words: fail() if name in str(words) else real(*words)
"""


@pytest.mark.parametrize("name", ("parse_speed", "run_tool"))
def test_an_unforeseen_failure_of_a_try_costs_its_cipher_alone(
    name: str, run_agent: RunAgent
) -> None:
    done = run_agent(
        "run", *of_openssl(STAND_IN, "rc4,aes-128-cbc", tries=2), "--no-mask",
        before=f"{BROKEN}\nagent.{name} = but_for(agent.{name}, 'rc4')",
    )  # fmt: skip
    document = sound(done)
    assert {one["cipher"] for one in document["measurements"]} == {"aes-128-cbc"}
    assert reasons(document)["rc4"] == "unforeseen: RuntimeError: nobody thought of this"


@pytest.mark.parametrize("name", ("steady_window", "ssh_sample"))
def test_an_unforeseen_failure_of_an_ssh_try_costs_its_series_alone(
    name: str, run_agent: RunAgent, sshd_option: tuple[str, str]
) -> None:
    """And leaves no process behind: the tries after it find the machine as it was."""
    done = run_agent(
        "run", *sshd_option, "--openssl", STAND_IN, "--ciphers", "aes128-ctr,rc4", "--tries", "1",
        "--seconds", "0.2", before=f"{ONCE}{BROKEN}\nagent.{name} = fail",
    )  # fmt: skip
    document = sound(done)
    assert "rc4" in {one["cipher"] for one in document["measurements"]}
    assert "unforeseen: RuntimeError" in reasons(document)["aes128-ctr"]


FAILING = """
def failing(*words, **options):
    print("failing {0}", file=sys.stderr)
    fail()
agent.{0} = failing
"""


@pytest.mark.parametrize(
    "names",
    (
        ("cpu_environment", "virtualization", "container", "memory_bytes", "os_environment",
         "load_average", "wait_until_quiet", "machine_state"),
        ("conditions_of_run",),  # alone: it takes what machine_state returns
    ),
)  # fmt: skip
def test_readings_that_fail_are_unknown_and_lose_no_figure(
    names: tuple[str, ...], run_agent: RunAgent
) -> None:
    done = run_agent(
        "run", *QUICK_RUN, before=BROKEN + "".join(FAILING.format(name) for name in names)
    )
    assert sound(done)["measurements"]
    assert set(re.findall("^failing (.+)$", done.err, re.M)) == set(names)


def test_no_number_that_json_does_not_have_is_ever_written(run_agent: RunAgent) -> None:
    odd = (
        "agent.load_average = lambda: [float('inf'), float('nan'), 1.0]\n"
        "agent.max_mhz = lambda: float('-inf')"
    )
    done = run_agent("run", *QUICK_RUN, before=odd)
    assert done.code == 0, done.err
    document = json.loads(done.out, parse_constant=no_json)
    assert document["environment"]["load_average"] == [None, None, 1.0]
    assert document["environment"]["cpu"]["max_mhz"] is None


# Every reader of the agent, with texts near what it reads and far from it.

NUMBER = st.one_of(
    st.sampled_from(
        ["", "0", "-1", "1", "0x", "0x1f", "1e9", "1e999", "inf", "nan", "-0.0", ".", "1.2.3",
         "1_0", "\u00b2", "\u0663", DIGITS, MANY, "+5", " 7 ", "16384", "1.000000", "12345"]
    ),
    st.integers().map(str),
    st.floats().map(str),
    st.text(max_size=5),
)  # fmt: skip
WORD = st.one_of(st.sampled_from(["rc4", "RC4", "evp", "aes-128-gcm", "id-aes128-GCM"]), NUMBER)
LINES = st.one_of(
    st.builds("+DT:{}:{}:{}".format, WORD, NUMBER, NUMBER),
    st.builds("+R:{}:{}:{}".format, NUMBER, WORD, NUMBER),
    st.builds("+H:{}:{}".format, NUMBER, NUMBER),
    st.builds("+F:{}:{}:{}:{}".format, NUMBER, WORD, NUMBER, NUMBER),
    st.builds("Got: +F:{}:{}:{} from {}".format, NUMBER, WORD, NUMBER, NUMBER),
    st.builds("{}+0 records out".format, NUMBER),
    st.builds("cpu  {} {} {} {} {}".format, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER),
    st.builds("{}: {}".format, st.sampled_from(["cpu family", "model", "processor", "flags",
        "CPU implementer", "CPU part", "physical id", "core id", "built on", "CPUINFO"]), NUMBER),
    st.builds("kex: client->server cipher: {} MAC: {} compression: {}".format, WORD, WORD, WORD),
    st.builds("OPENSSL_armcap=0x{}".format, NUMBER),
    st.builds("Model name: {}\n  CPU max MHz: {}".format, WORD, NUMBER),
    st.builds("OpenSSH_{}.{}, OpenSSL {}".format, NUMBER, NUMBER, NUMBER),
    st.builds("{}:{}:/{}".format, NUMBER, WORD, NUMBER),
    st.builds("{} {}".format, NUMBER, NUMBER),
    st.builds("{}-{},{}".format, NUMBER, NUMBER, NUMBER),
    st.text(max_size=40),
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=8).map("\n".join)

READERS: dict[str, Callable[[str], Any]] = {
    "parse_speed": lambda text: agent.parse_speed(text, "rc4"),
    "parse_multi": lambda text: agent.parse_multi(text, "rc4", 3),
    "parse_dd": agent.parse_dd,
    "parse_proc_stat": agent.parse_proc_stat,
    "parse_cpu_list": agent.parse_cpu_list,
    "parse_cpuinfo": agent.parse_cpuinfo,
    "parse_os_release": agent.parse_os_release,
    "parse_openssl_version": agent.parse_openssl_version,
    "parse_ssh_version": agent.parse_ssh_version,
    "version_number": agent.version_number,
    "parse_negotiated": agent.parse_negotiated,
    "explain_failure": lambda text: agent.explain_failure(text, text, text),
    "lscpu_names": agent.lscpu_names,
    "mask_variable": lambda text: agent.mask_variable("aarch64", text),
    "whole": agent.whole,
    "real": agent.real,
    "one_line": agent.one_line,
    "parse_object": agent.parse_object,
}


def numbers(found: Any) -> list[float]:
    """All numbers in what a reader gives."""
    if isinstance(found, dict):
        return [number for both in found.items() for one in both for number in numbers(one)]
    if isinstance(found, list | tuple | set):
        return [number for one in found for number in numbers(one)]
    return [found] if isinstance(found, int | float) else []


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_no_text_makes_a_reader_fail_or_say_what_is_no_number(text: str) -> None:
    for name in READERS.keys() - {"parse_object"}:
        for number in numbers(READERS[name](text)):
            assert math.isfinite(number), name
            assert abs(number) <= 2**60, name


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_samples_of_any_text_fit_the_run_document(text: str) -> None:
    for name in ("parse_speed", "parse_multi"):
        for size, sample in READERS[name](text).items():
            assert 0 < size <= 2**30
            assert 0 < sample["bytes"] <= 2**60
            assert 0 < sample["seconds"] <= 1e7


def test_every_reader_of_text_is_among_them() -> None:
    """A parser that is added later is fuzzed too."""
    parsers = {name for name in vars(agent) if name.startswith("parse_")}
    assert parsers <= set(READERS)
