from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.environment_difference import differing_facts, environment_difference
from tests.cases import each
from tests.sample_documents import environment


def changed(section: str, **members: Any) -> dict[str, Any]:
    plain = environment()
    return {**plain, section: {**plain[section], **members}}


def words(before: dict[str, Any], after: dict[str, Any], **how: Any) -> list[str]:
    return [difference.words for difference in environment_difference(before, after, **how)]


@each(
    ("after", "sentence"),
    (
        (
            changed("openssl", version_text="OpenSSL 3.5.0 8 Apr 2025"),
            "OpenSSL 3.0.19 → 3.5.0",
        ),
        (
            changed("openssh", client="OpenSSH_10.4p1, OpenSSL 3.5.0"),
            "OpenSSH client: OpenSSH 9.2p1 → OpenSSH 10.4p1",
        ),
        (changed("os", kernel="Linux 6.18"), "kernel: Linux 6.1 → Linux 6.18"),
        (changed("os", version="13"), "OS: Debian GNU/Linux 12 → Debian GNU/Linux 13"),
        ({**environment(), "virtualization": "none"}, "virtualisation: kvm → bare metal"),
        (environment(model="AMD EPYC 7B13"), "CPU: AMD EPYC 9R14 → AMD EPYC 7B13"),
        (environment(flags=["aes", "pclmulqdq"]), "CPU flags (lost vaes)"),
        (
            environment(flags=["pclmulqdq", "vaes", "sha_ni"]),
            "CPU flags (lost aes, gained sha_ni)",
        ),
    ),
)
def test_each_change_has_its_words(after: dict[str, Any], sentence: str) -> None:
    assert words(environment(), after) == [sentence]


def test_microcode_and_governor_are_compared_where_both_state_them() -> None:
    before = environment(microcode="0xa101144", governor="powersave")
    after = environment(microcode="0xa101148", governor="performance")
    assert words(before, after) == [
        "microcode: 0xa101144 → 0xa101148",
        "frequency governor: powersave → performance",
    ]


def test_what_one_side_does_not_state_need_not_have_changed() -> None:
    before, after = environment(governor="performance"), environment()
    assert words(before, after) == []


def test_many_flags_are_counted_not_listed() -> None:
    few = [f"flag{number:02}" for number in range(12)]
    (sentence,) = words(environment(), environment(flags=["aes", "pclmulqdq", "vaes", *few]))
    assert sentence.endswith("flag10, flag11)")
    many = [f"flag{number:02}" for number in range(20)]
    (sentence,) = words(environment(), environment(flags=["aes", "pclmulqdq", "vaes", *many]))
    assert sentence.endswith("flag11 and 8 more)")


def test_readings_are_no_difference() -> None:
    loaded = {**environment(), "load_average": [9.0, 9.0, 9.0], "memory_bytes": 1}
    assert words(environment(), loaded) == []


def test_empty_environments_do_not_differ() -> None:
    assert words({}, {}) == []
    assert words({"cpu": None}, {"os": {}}) == []


names = st.sampled_from(["aes", "avx2", "vaes", "sha_ni"])


@given(st.lists(names), st.lists(names))
def test_there_and_back_lists_the_same_facts(one: list[str], other: list[str]) -> None:
    there = environment_difference(environment(flags=one), environment(flags=other))
    back = environment_difference(environment(flags=other), environment(flags=one))
    assert [(a.before, a.after) for a in there] == [(b.after, b.before) for b in back]


def everything_else() -> dict[str, Any]:
    return {
        "os": {"name": "Debian GNU/Linux", "version": "13", "kernel": "Linux 6.18"},
        "virtualization": "none",
        "cpu": {"model": "AMD EPYC 7B13", "vendor": "AuthenticAMD", "flags": ["aes"]},
        "openssl": {"version_text": "OpenSSL 3.5.0 8 Apr 2025"},
        "openssh": {"client": "OpenSSH_10.4p1", "server": "OpenSSH_10.4p1"},
    }


def test_between_hosts_the_cpu_comes_first() -> None:
    names = [name for name, _ in differing_facts([environment(), everything_else()], hosts=True)]
    assert names[0] == "CPU"
    parts = ("CPU", "CPU flags", "virtualisation", "OpenSSL", "OS", "kernel", "OpenSSH client")
    assert [name for name in names if name in parts] == list(parts)


def test_between_runs_of_a_host_its_software_comes_first() -> None:
    found = environment_difference(environment(), everything_else())
    assert found[0].what == "OpenSSL"


def with_libraries(program: str | None, library: str | None) -> dict[str, Any]:
    stated = changed("openssl", version_text=program)
    return {**stated, "openssh": {**stated["openssh"], "library": library}}


@each(
    ("before", "after", "said"),
    (
        (("3.0.18", "3.0.18"), ("3.0.19", "3.0.19"), ("program", None, "program")),
        (("3.0.18", None), ("3.0.19", "3.0.19"), ("program", None, "program")),
        (("3.0.18", "1.0.2"), ("3.0.18", "1.0.1"), (None, "ssh", "ssh")),
        (("3.0.18", "1.0.2"), ("3.0.19", "1.0.2"), ("program", None, None)),
        (("3.0.18", "1.0.2"), ("3.0.19", "1.0.1"), ("program", "ssh", "ssh")),
    ),
)
def test_the_library_of_each_tool_is_told_once(
    before: tuple[str, str | None], after: tuple[str, str | None], said: tuple[str | None, ...]
) -> None:
    texts = [
        with_libraries(*(text and f"OpenSSL {text} 1 Jan 2026" for text in environment))
        for environment in (before, after)
    ]
    program = f"OpenSSL {before[0]} → {after[0]}"
    old, new = before[1] or before[0], after[1]
    of_ssh = f"SSH library: OpenSSL {old} → OpenSSL {new}"
    assert words(*texts) == [program] * bool(said[0]) + [of_ssh] * bool(said[1])
    assert words(*texts, tool="openssl") == [program] * bool(said[0])
    assert words(*texts, tool="ssh") == [f"OpenSSL {old} → {new}"] * bool(said[2])


def test_of_several_each_says_what_it_has_where_any_two_differ() -> None:
    plain = environment()
    newer = changed("os", version="13")
    silent = changed("os", kernel=None)
    assert differing_facts([plain, plain, plain]) == ()
    assert differing_facts([plain, newer, plain]) == (
        ("OS", ("Debian GNU/Linux 12", "Debian GNU/Linux 13", "Debian GNU/Linux 12")),
    )
    assert differing_facts([plain, silent]) == (("kernel", ("Linux 6.1", None)),)
    flags = [
        environment(flags=cpu_flags)
        for cpu_flags in (["aes", "vaes"], ["aes"], ["aes", "vaes", "sha"])
    ]
    assert differing_facts(flags) == (("CPU flags", ("", "lost vaes", "gained sha")),)
    both = {**environment(model="AMD EPYC 7B13"), "os": newer["os"]}
    named = {
        hosts: [name for name, _ in differing_facts([plain, both], hosts=hosts)]
        for hosts in (True, False)
    }
    assert named == {True: ["CPU", "OS"], False: ["OS", "CPU"]}
