from time import process_time

from tests.cases import each
from texts.commands import read_command
from texts.prompts import is_typed, split_prompt

SPEED = "openssl speed aes-128-cbc"


@each("prompt, host", (
    ("kim@host:~/dir$ ", "host"), ("    root@evm:~# ", "evm"), ("[kim@nas dir]$ ", "nas"),
    ("[root@node1 ~]# ", "node1"), ("(venv) me@box:~$ ", "box"),
    ("12:34:56 root@a:/ # ", "a"), ("~ [kim@kim]$ ", "kim"), ("pi@pi ~ $ ", "pi"),
    ("kim@host ~/src (main) $ ", "host"), ("kim@host ~> ", "host"), ("kim@host> ", "host"),
    ("me@Mac ~ % ", "Mac"), ("Mac ~ % ", "Mac"), ("Mac:~ me$ ", "Mac"),
    ("apcote:/var/tmp# ", "apcote"), ("nas:~ # ", "nas"), ("nas:/share # ", "nas"),
    ("nas> ", "nas"), ("nas# ", "nas"), ("nas$ ", "nas"),
    ("bash-4.2$ ", None), ("-sh-3.2# ", None), ("for> ", None), ("/ # ", None),
    ("~ # ", None), ("/tmp # ", None), ("~/src> ", None), ("/ $ ", None), ("$ ", None),
    ("# ", None), ("% ", None), ("PS C:\\> ", None), ("C:\\Users\\x>", None),
    ("[~] # ", None), ("[/share/x] # ", None), ("➜  ~ ", None), ("➜  ssl git:(main) ✗ ", None),
))  # fmt: skip
def test_a_prompt_is_parted_from_its_command(prompt: str, host: str | None) -> None:
    assert split_prompt(prompt + SPEED) == (host, SPEED)


@each("prompt, host", (("root@nas:~#", "nas"), ("nas# ", "nas"), ("$", None), ("C:\\>", None)))
def test_a_prompt_needs_no_command(prompt: str, host: str | None) -> None:
    assert split_prompt(prompt) == (host, "")


@each("text", (
    "", SPEED, "# Results", "# openssl speed results", "# head of the table",
    "% of one core", "$ 5 a month", "> " + SPEED, "100 % of it",
    "aes128-gcm@openssh.com  50 % of it", "aes128-gcm@openssh.com: 300 MB/s > 5 %",
    "http://nas/x# time", "user@host MINGW64 ~", "Speed> the faster of two",
))  # fmt: skip
def test_other_lines_have_no_prompt(text: str) -> None:
    assert split_prompt(text) is None


@each("text", ("nas> uname -a", "# ./bench.sh", "# lscpu", "# FOO=1 dd if=/dev/zero"))
def test_a_doubtful_prompt_is_one_in_front_of_a_command(text: str) -> None:
    assert split_prompt(text)


@each("text", (
    "", "ssh is slow", "Outputs of openssl speed become more comparable.",
    "openssl speed results:", "openssl speed is slower here",
    "openssl speed -evp aes-128-cbc, AES-NI disabled:",
    "ssh -c uses the cipher that you name", "ssh -v nas visar vad som används:",
    "ssh gains too, if less: ~ [kim@kim]$ dd if=/dev/zero",
    "ssh -c x localhost  0.10s user 0.10s system 14% cpu 1:23.4 total", "make it so",
    "ssh | aes128-ctr | 100 MB/s", "ssh: connect to host nas port 22: Connection refused",
    "scp over gigabit, 112 MB/s", "time 20.4 s", "for the record", "if you want",
    "yes I did", "head over to the wiki", 'NAME="Debian GNU/Linux"',
    "OpenSSL 1.0.1e 11 Feb 2013",
))  # fmt: skip
def test_a_sentence_or_result_is_not_typed(text: str) -> None:
    assert not is_typed(text)
    assert read_command(text, prompted=False) is None


@each("signs", (
    "a@", "[a@b ", "~/", "a:/", "/ ", "PS C:\\", "(a) ", "➜ ", "# ", "$", "ab.", "= '", "[~", "ssl",
))  # fmt: skip
def test_a_hostile_line_is_read_at_once(signs: str) -> None:
    begun = process_time()
    split_prompt((signs * 50_000)[:50_000] + "$ x")
    split_prompt("nas# ssh " + (signs * 50_000)[:50_000])
    split_prompt("nas# ssh " + (signs * 50_000)[:50_000] + " speed:")
    assert process_time() - begun < 0.5
