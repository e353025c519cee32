"""The command line: options, their help, what each command calls; `source`."""

import argparse
import os
import pkgutil
import re
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

import ciphermark_agent
from ciphermark_agent import __version__, common, settings
from ciphermark_agent.delivery import command_run, command_show, command_upload
from ciphermark_agent.doctor import command_doctor
from ciphermark_agent.schedule import command_schedule
from ciphermark_agent.tries import QUICK, STANDARD, THOROUGH


def tool_list(text: str) -> Tuple[str, ...]:
    tools = tuple(name for name in text.split(",") if name)
    if not tools or any(name not in ("ssh", "openssl") for name in tools):
        raise argparse.ArgumentTypeError("give ssh, openssl or ssh,openssl")
    return tools


def remote_address(text: str) -> str:
    if not re.match(r"[^\s-][^\s]*$", text) or len(text) > 200:
        raise argparse.ArgumentTypeError("give USER@HOST, or a Host of your ssh configuration")
    return text


def between(least: float, most: float, kind: Callable[[float], float]) -> Callable[[str], float]:
    """A number in this range, of int or float."""

    def number_of(text: str) -> float:
        number = common.real(text)
        if number is None or number != kind(number) or not least <= number <= most:
            raise argparse.ArgumentTypeError("give a number from %g to %g" % (least, most))
        return kind(number)

    return number_of


def add_server_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("upload")
    group.add_argument("--server", metavar="URL", help="Ciphermark server (also CIPHERMARK_SERVER)")
    tokens = group.add_mutually_exclusive_group()
    tokens.add_argument("--token", help="upload token (also CIPHERMARK_TOKEN)")
    tokens.add_argument("--token-file", metavar="FILE", help="file that holds the upload token")
    words = "certificates (PEM) to trust instead of the system's"
    group.add_argument("--ca-file", metavar="FILE", help=words)


def add_depth_options(parser: Any) -> None:
    depth = parser.add_mutually_exclusive_group()
    for chosen, text in (
        (QUICK, "3 tries of each series: 1 to 2 minutes (the default)"),
        (STANDARD, "5 tries, all block sizes, decryption: about 5 minutes"),
        (THOROUGH, "more ciphers, up to 15 tries until stable: about 20 minutes"),
    ):
        option = "--" + chosen.name
        depth.add_argument(option, dest="depth", action="store_const", const=chosen, help=text)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    add: Any = parser.add_argument
    add("--output", metavar="FILE", help="write the run document; - is standard output")
    host = parser.add_mutually_exclusive_group()
    name_help = (
        "name of this host (default: its host name); a server lists the machine by its newest "
        "name, unless an editor gave it one"
    )
    host.add_argument("--name", type=settings.host_label, help=name_help)
    host.add_argument("--anonymous", action="store_true", help="no name of host or account, no id")
    many: Any = {"action": "append", "default": []}  # of what may be repeated
    tag: Any = {"dest": "tags", "metavar": "KEY=VALUE", "type": settings.tag_pair, **many}
    add("--tag", help="may be repeated", **tag)

    group = parser.add_argument_group("what is measured")
    add_depth_options(group)
    parser.set_defaults(depth=QUICK)
    add = group.add_argument
    both = ("ssh", "openssl")
    add("--tools", metavar="LIST", type=tool_list, default=both, help="ssh,openssl")
    ciphers_help = "names of ssh and of openssl, by commas"
    add("--ciphers", metavar="LIST", type=settings.name_list, help=ciphers_help)
    macs_help = "measure ssh ciphers with each of these MACs (default: the client's choice)"
    add("--macs", metavar="LIST", type=settings.name_list, default=(), help=macs_help)
    add("--compression", action="store_true", help="measure ssh also with compression")
    add("--tries", metavar="N", type=between(1, 50, int), help="tries a series")
    add("--seconds", metavar="S", type=between(0.1, 20, float), help="length of a try")
    threads: Any = {"metavar": "N", "type": between(1, 1024, int), "default": 1}
    add("--threads", help="measure openssl also in N processes at once", **threads)
    wait_help = "wait at most so long for other processes to become quiet (default: 5, 30 or 120)"
    add("--wait", metavar="S", type=between(0, 99999, float), help=wait_help)
    mask_help = "leave out the tries without AES hardware"
    add("--no-mask", dest="mask", action="store_false", help=mask_help)
    target: Any = {"dest": "targets", "metavar": "USER@HOST", "type": remote_address, **many}
    target_help = (
        "measure ssh to this host with your own ssh configuration, not to a private sshd; "
        "may be repeated"
    )
    add("--target", help=target_help, **target)
    add("--ssh", metavar="PATH", help="the ssh to measure")
    add("--sshd", metavar="PATH", help="the sshd to start on the loopback address")
    openssl_help = "the openssl to measure; repeated: a run for each, ssh in the first"
    add("--openssl", metavar="PATH", help=openssl_help, **many)

    add = parser.add_argument_group("output").add_argument
    dry_help = "print every command and the document's shape; run nothing"
    add("--dry-run", action="store_true", help=dry_help)
    add("--progress", choices=("auto", "plain", "json", "none"), default="auto")
    add("-v", "--verbose", action="store_true", help="print every command as it runs")


def command_line(run_defaults: Optional[Dict[str, Any]] = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=os.path.basename(common.own_file()),
        allow_abbrev=False,
        description="Measures the SSH and OpenSSL cipher speed of this machine.",
        epilog="Exit codes: 0 measured (and uploaded, where asked); 1 measured but not uploaded: "
        "the run is kept and its path printed; 2 usage; 3 nothing could be measured.",
    )
    parser.add_argument("--version", action="version", version="ciphermark_agent " + __version__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def add(call: Callable[..., int], name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, allow_abbrev=False, help=text)
        command.set_defaults(call=call)
        return command

    run = add(command_run, "run", "measure; upload if a server is given, else write JSON")
    add_run_options(run)
    add_server_options(run)
    run.set_defaults(**run_defaults or {})
    send = add(command_upload, "upload", "send saved or spooled runs")
    words = "run documents (default: all of the spool)"
    send.add_argument("files", metavar="FILE", nargs="*", help=words)
    add_server_options(send)
    send.add_argument("-v", "--verbose", action="store_true", help="say what is retried")
    words = "what can be measured here, what cannot, and how to change that"
    doctor = add(command_doctor, "doctor", words)
    for name in ("ssh", "sshd", "openssl"):
        doctor.add_argument("--" + name, metavar="PATH", help="the %s to look at" % name)
    doctor.add_argument("--json", action="store_true", help="the findings as JSON")
    add_server_options(doctor)
    doctor.add_argument("-v", "--verbose", action="store_true", help="print every command")
    schedule = add(command_schedule, "schedule", "print a systemd timer, and a cron line")
    add_depth_options(schedule)
    action = schedule.add_mutually_exclusive_group()
    words = "write the two systemd units and start the timer"
    action.add_argument("--install", action="store_true", help=words)
    action.add_argument("--remove", action="store_true", help="stop the timer, remove its units")
    show = add(command_show, "show", "a run as tables in the terminal")
    show.add_argument("file", metavar="FILE")
    source = add(command_source, "source", "print the source that runs, or unpack it")
    source.add_argument("folder", metavar="DIRECTORY", nargs="?", help="a new one, to unpack into")
    return parser


def command_source(arguments: argparse.Namespace) -> int:
    """Print every module, or write them into a new folder; from a folder and one file alike."""
    package, folder = ciphermark_agent.__name__, arguments.folder
    found = sorted(one.name for one in pkgutil.iter_modules(ciphermark_agent.__path__))
    files = ["%s.py" % name for name in ["__init__", *found]]
    texts = [(pkgutil.get_data(package, file) or b"").decode("ascii") for file in files]
    if folder is None:
        both = zip(files, texts)
        text = "\n".join("# %s/%s\n\n%s" % (package, *one) for one in both)
        return common.show(text.rstrip("\n"))
    unpacked = os.path.join(folder, package)
    try:
        os.makedirs(unpacked)
        for name, text in zip(files, texts):
            with open(os.path.join(unpacked, name), "w") as file:
                file.write(text)
    except OSError as error:
        raise common.UsageError("%s cannot be written: %s" % (error.filename, error.strerror))
    return common.show("unpacked; it runs as: python3 %s" % unpacked)


def main(argv: Optional[List[str]] = None) -> int:
    words = argv or sys.argv[1:]
    try:
        parser = command_line(settings.run_defaults() if words[:1] == ["run"] else {})
        arguments = parser.parse_args(words)
        if arguments.command is None:
            parser.print_help(sys.stderr)
            return common.EXIT_USAGE
        common.be_verbose(getattr(arguments, "verbose", False))
        return int(arguments.call(arguments))
    except common.UsageError as error:
        common.complain(str(error))
        return error.code
    except common.Interrupted as signalled:
        common.complain("interrupted; everything that was started is ended")
        return 128 + signalled.signum
