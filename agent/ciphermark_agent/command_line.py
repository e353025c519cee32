"""The command line: options and their help, `run`, `run --dry-run`, `source`."""

import argparse
import os
import pkgutil
import re
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import ciphermark_agent
from ciphermark_agent import __version__, children, common, delivery, settings
from ciphermark_agent.conditions import no_other_agent, read_cpu_times
from ciphermark_agent.openssl import OPENSSL_KNOWN
from ciphermark_agent.run import MISSING, Run
from ciphermark_agent.schedule import command_schedule
from ciphermark_agent.ssh_server import SSH_ADDRESS, sweep_stale_folders
from ciphermark_agent.tries import DEPTHS
from ciphermark_agent.upload import Site, foresee_refusal

OWN_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")  # other names of -
DEPTH_HELP = {
    "quick": "3 tries of each series: 1 to 2 minutes (the default)",
    "standard": "5 tries, all block sizes, decryption: about 5 minutes",
    "thorough": "more ciphers, up to 15 tries until stable: about 20 minutes",
}


def tool_list(text: str) -> Tuple[str, ...]:
    tools = tuple(name for name in text.split(",") if name)
    if not tools or any(name not in ("ssh", "openssl") for name in tools):
        raise argparse.ArgumentTypeError("give ssh, openssl or ssh,openssl")
    return tools


def remote_address(text: str) -> str:
    bad = text.startswith("ssh://") and not SSH_ADDRESS.match(text)
    if bad or not re.match(r"[^\s-][^\s]*$", text) or len(text) > 200:
        words = "give USER@HOST, ssh://USER@HOST:PORT, or a Host of your ssh configuration"
        raise argparse.ArgumentTypeError(words)
    return text


def between(least: float, most: float, kind: Callable[[float], float]) -> Callable[[str], float]:
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


def add_depth_options(parser: Any) -> None:
    add = parser.add_mutually_exclusive_group().add_argument
    for name, text in DEPTH_HELP.items():
        add("--" + name, dest="depth", action="store_const", const=DEPTHS[name], help=text)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    many: Any = {"action": "append", "default": []}  # of what may be repeated
    names: Any = {"metavar": "LIST", "type": settings.name_list}
    add: Any = parser.add_argument
    add("--output", metavar="FILE", help="write the run document; - is standard output")
    host = parser.add_mutually_exclusive_group()
    host.add_argument("--name", type=settings.host_label, help="default: the host name")
    host.add_argument("--anonymous", action="store_true", help="no name of host or account, no id")
    add("--tag", dest="tags", metavar="KEY=VALUE", type=settings.tag_pair, **many)

    group = parser.add_argument_group("what is measured")
    add_depth_options(group)
    parser.set_defaults(depth=DEPTHS["quick"])
    add = group.add_argument
    add("--tools", metavar="LIST", type=tool_list, default=("ssh", "openssl"), help="ssh,openssl")
    add("--ciphers", help="names of ssh and of openssl, by commas", **names)
    add("--macs", default=(), help="each of these MACs (default: the client's choice)", **names)
    add("--compression", action="store_true", help="measure ssh also with compression")
    add("--tries", metavar="N", type=between(1, 50, int), help="tries per series")
    add("--seconds", metavar="S", type=between(0.1, 20, float), help="length of a try")
    add("--wait", metavar="S", type=between(0, 99999, float), help="wait for an idle CPU")
    add("--no-mask", dest="mask", action="store_false", help="no tries without AES hardware")
    target: Any = {"dest": "targets", "metavar": "USER@HOST", "type": remote_address, **many}
    add("--target", help="measure ssh to this host as you reach it; may be repeated", **target)
    add("--ssh", metavar="PATH", help="the ssh to measure")
    add("--sshd", metavar="PATH", help="the sshd to start on the loopback address")
    add("--openssl", metavar="PATH", help="the openssl to measure; a run for each", **many)

    add = parser.add_argument_group("output").add_argument
    add("--dry-run", action="store_true", help="what can be measured here; every command; run none")
    add("--progress", choices=("auto", "plain", "json", "none"), default="auto")
    add("-v", "--verbose", action="store_true", help="print every command as it runs")


def command_line(run_defaults: Dict[str, Any]) -> argparse.ArgumentParser:
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
    run.set_defaults(**run_defaults)
    send = add(delivery.command_upload, "upload", "send saved or spooled runs")
    send.add_argument("files", metavar="FILE", nargs="*", help="runs (default: all of the spool)")
    add_server_options(send)
    send.add_argument("-v", "--verbose", action="store_true", help="report each retry")
    schedule = add(command_schedule, "schedule", "print a systemd timer, and a cron line")
    add_depth_options(schedule)
    schedule.add_argument("--install", action="store_true", help="install and start the timer")
    show = add(delivery.command_show, "show", "a run as tables in the terminal")
    show.add_argument("file", metavar="FILE")
    source = add(command_source, "source", "print the source that runs, or unpack it")
    source.add_argument("folder", metavar="DIRECTORY", nargs="?", help="a new one, to unpack into")
    return parser


def command_run(arguments: argparse.Namespace) -> int:
    options = settings.run_options(arguments)
    site = settings.upload_site(arguments)
    runs = options_of_runs(options, arguments.openssl)
    if arguments.dry_run:
        return dry_run(runs, site)
    sweep_stale_folders()
    refusal = foresee_refusal(site) if site else None
    if refusal:
        common.complain(refusal + "\nthe run is measured all the same, and kept to be sent later")
    codes = []
    for number, run_options in enumerate(runs):
        children.catch_signals()
        try:
            progress = common.Progress(arguments.progress)
            with no_other_agent(progress.note):
                run = Run(run_options, progress)
                document = run.measure()
        finally:
            children.ignore_signals()
            children.end_children()
        if not document["measurements"]:
            if run.interrupted is not None:
                raise run.interrupted
            skipped = sorted(document["skipped"], key=lambda skip: "not offer" in skip["reason"])
            reasons = [f"{skip['cipher'] or skip['tool']}: {skip['reason']}" for skip in skipped]
            why = "; ".join(reasons[:3]) or "none of these ciphers is known"
            common.complain("nothing could be measured; " + why)
            continue
        output = "-" if arguments.output in OWN_OUTPUT else arguments.output
        if len(runs) > 1 and output not in (None, "-") and not delivery.is_special(output):
            output = "-{}".format(number + 1).join(os.path.splitext(output))
        codes.append(delivery.deliver(document, output, site, run.interrupted is not None))
        if run.interrupted is not None:
            break
    return max(codes) if codes else common.EXIT_NOTHING


def options_of_runs(options: argparse.Namespace, paths: Sequence[str]) -> List[argparse.Namespace]:
    for path in paths:
        children.find_program("openssl", path)
    runs = [settings.changed(options, openssl=path) for path in paths] or [options]
    others = runs[1:] if "openssl" in options.tools else []
    return runs[:1] + [settings.changed(run, tools=("openssl",)) for run in others]


def capability_lines(run: Run, site: Optional[Site]) -> List[str]:
    checks: List[Tuple[str, Any, str]] = []  # name, detail if possible, remedy if not
    programs = list(run.options.tools)
    programs += ["sshd"] if "ssh" in programs and not run.options.targets else []
    for name in programs:
        checks.append((name, getattr(run, name), "".join(MISSING[name])))
    measured = read_cpu_times() and children.PRCTL and "yes"
    checks.append(("load by others, CPU seconds of sshd", measured, "needs Linux with /proc"))
    if site is not None:
        refusal = foresee_refusal(site)
        checks.append(("upload", not refusal and site.server, str(refusal).replace("\n", " ")))
    form = "%-4s %s: %s"
    lines = [form % ("yes" if able else "no", name, able or fix) for name, able, fix in checks]
    return ["# What can be measured here", *map(common.printable, lines)]


def dry_run(runs: Sequence[argparse.Namespace], site: Optional[Site]) -> int:
    lines: List[str] = []
    possible = False
    for options in runs:
        run = Run(options, common.Progress("none"))
        possible = possible or run.has_tools()
        lines += capability_lines(run, site)
        lines += ["", "# Commands; CIPHER is each of ssh -Q cipher, FOLDER a temporary one"]
        run.ssh, run.sshd = run.ssh or "ssh", run.sshd or "sshd"
        run.openssl = run.openssl or "openssl"
        children.shown = lines
        openssl_ciphers = run.openssl_ciphers()
        run.environment()
        run.inspected = run.inspected._replace(seconds=True, providers=True)  # as of OpenSSL 3
        ciphers = [name for name in options.ciphers or ["CIPHER"] if name not in OPENSSL_KNOWN]
        for plan in run.plans(ciphers if "ssh" in options.tools else [], openssl_ciphers):
            plan.show(lines)
        children.shown = None
    code = common.show("\n".join(lines))
    return code if possible else common.EXIT_NOTHING


def command_source(arguments: argparse.Namespace) -> int:
    package, folder = ciphermark_agent.__name__, arguments.folder
    names = sorted(module.name for module in pkgutil.iter_modules(ciphermark_agent.__path__))
    texts = {
        name: (pkgutil.get_data(package, name) or b"").decode("ascii")
        for name in ["__init__.py", *("%s.py" % name for name in names)]
    }
    if folder is None:
        parts = ["# %s/%s\n\n%s" % (package, *item) for item in texts.items()]
        return common.show("\n".join(parts).rstrip("\n"))
    unpacked = os.path.join(folder, package)
    try:
        os.makedirs(unpacked)
        for name, text in texts.items():
            delivery.write_file(os.path.join(unpacked, name), text)
    except OSError as error:
        raise common.UsageError("%s cannot be written: %s" % (error.filename, error.strerror))
    return common.show("unpacked; it runs as: python3 %s" % unpacked)


def main(argv: Optional[List[str]] = None) -> int:
    words = argv or sys.argv[1:]
    try:
        given = settings.configuration() if words[:1] == ["run"] else {}
        parser = command_line({key: given[key] for key in settings.OPTIONS if key in given})
        arguments = parser.parse_args(words)
        if arguments.command is None:
            parser.print_help(sys.stderr)
            return common.EXIT_USAGE
        common.verbosely = getattr(arguments, "verbose", False)
        children.catch_signals()
        return int(arguments.call(arguments))
    except common.UsageError as error:
        common.complain(str(error))
        return error.code
    except common.Interrupted as signalled:
        common.complain("interrupted; everything that was started is ended")
        return 128 + int(signalled.args[0])
