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
    "quick": "make 3 tries per series; 1 to 2 minutes (default)",
    "standard": "make 5 tries, with all block sizes and decryption; about 5 minutes",
    "thorough": "measure more ciphers, with up to 15 tries each; about 20 minutes",
}


def tool_list(text: str) -> Tuple[str, ...]:
    tools = tuple(name for name in text.split(",") if name)
    if not tools or any(name not in ("ssh", "openssl") for name in tools):
        raise argparse.ArgumentTypeError("must be ssh, openssl or ssh,openssl")
    return tools


def remote_address(text: str) -> str:
    bad = text.startswith("ssh://") and not SSH_ADDRESS.match(text)
    if bad or not re.match(r"[^\s-][^\s]*$", text) or len(text) > 200:
        words = "must be USER@HOST, ssh://USER@HOST:PORT or a Host in your ssh configuration"
        raise argparse.ArgumentTypeError(words)
    return text


def between(least: float, most: float, kind: Callable[[float], float]) -> Callable[[str], float]:
    def number_of(text: str) -> float:
        number = common.real(text)
        if number is None or number != kind(number) or not least <= number <= most:
            raise argparse.ArgumentTypeError("must be a number from %g to %g" % (least, most))
        return kind(number)

    return number_of


def add_server_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("upload")
    group.add_argument("--server", metavar="URL", help="server URL (or set CIPHERMARK_SERVER)")
    tokens = group.add_mutually_exclusive_group()
    tokens.add_argument("--token", help="upload token (or set CIPHERMARK_TOKEN)")
    tokens.add_argument("--token-file", metavar="FILE", help="file that contains the token")


def add_depth_options(parser: Any) -> None:
    add = parser.add_mutually_exclusive_group().add_argument
    for name, text in DEPTH_HELP.items():
        add("--" + name, dest="depth", action="store_const", const=DEPTHS[name], help=text)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    many: Any = {"action": "append", "default": []}  # for repeatable options
    names: Any = {"metavar": "LIST", "type": settings.name_list}
    switch: Any = {"action": "store_true"}
    add: Any = parser.add_argument
    add("--output", metavar="FILE", help="write the run document to FILE (- for standard output)")
    host = parser.add_mutually_exclusive_group()
    host.add_argument("--name", type=settings.host_label, help="host name to report")
    host.add_argument("--anonymous", help="omit host name, account and machine ID", **switch)
    add("--tag", dest="tags", metavar="KEY=VALUE", type=settings.tag_pair, help="add a tag", **many)

    group = parser.add_argument_group("measurement options")
    add_depth_options(group)
    parser.set_defaults(depth=DEPTHS["quick"], tools=("ssh", "openssl"), progress="auto")
    add = group.add_argument
    add("--tools", metavar="LIST", type=tool_list, help="tools to measure (default: ssh,openssl)")
    add("--ciphers", help="ciphers to measure, comma-separated", **names)
    add("--macs", default=(), help="MACs to use with ssh (default: client's choice)", **names)
    add("--compression", help="also measure ssh with compression", **switch)
    add("--tries", metavar="N", type=between(1, 50, int), help="number of tries per series")
    add("--seconds", metavar="S", type=between(0.1, 20, float), help="duration of each try")
    wait = "wait at most S seconds for an idle CPU before measuring"
    add("--wait", metavar="S", type=between(0, 99999, float), help=wait)
    no_mask = "skip the tries with AES hardware disabled"
    add("--no-mask", dest="mask", action="store_false", help=no_mask)
    target: Any = {"dest": "targets", "metavar": "USER@HOST", "type": remote_address, **many}
    add("--target", help="measure ssh to HOST with your ssh configuration; repeatable", **target)
    add("--ssh", metavar="PATH", help="ssh program to measure")
    add("--sshd", metavar="PATH", help="sshd program to start on the loopback address")
    add("--openssl", metavar="PATH", help="openssl program to measure; repeatable", **many)

    add = parser.add_argument_group("output").add_argument
    add("--dry-run", help="list available measurements and commands without running them", **switch)
    add("--progress", choices=("auto", "plain", "json", "none"), help="format of progress messages")
    add("-v", "--verbose", help="print every command as it runs", **switch)


def command_line(run_defaults: Dict[str, Any]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=os.path.basename(common.own_file()),
        allow_abbrev=False,
        description="Measure the speed of SSH and OpenSSL ciphers on this machine.",
        epilog="Exit codes: 0 success; 1 measured but not uploaded (run saved, path printed); "
        "2 usage error; 3 nothing measured.",
    )
    parser.add_argument("--version", action="version", version="ciphermark_agent " + __version__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def add(call: Callable[..., int], name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, allow_abbrev=False, help=text)
        command.set_defaults(call=call)
        return command

    run = add(command_run, "run", "measure, then upload the run (without a server: write JSON)")
    add_run_options(run)
    add_server_options(run)
    run.set_defaults(**run_defaults)
    upload = add(delivery.command_upload, "upload", "upload saved or spooled runs")
    upload.add_argument("files", metavar="FILE", nargs="*", help="run files (default: the spool)")
    add_server_options(upload)
    upload.add_argument("-v", "--verbose", action="store_true", help="report each retry")
    schedule = add(command_schedule, "schedule", "print or install a weekly schedule")
    add_depth_options(schedule)
    schedule.add_argument("--install", action="store_true", help="install and start the timer")
    show = add(delivery.command_show, "show", "show the results of a run")
    show.add_argument("file", metavar="FILE", help="run file")
    source = add(command_source, "source", "print or unpack the agent's source code")
    source.add_argument("folder", metavar="DIRECTORY", nargs="?", help="new folder to unpack into")
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
        common.complain(refusal + "\nMeasuring anyway; the run will be saved for later upload.")
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
            skipped = sorted(document["skipped"], key=lambda skip: "not supp" in skip["reason"])
            names = {skip["reason"]: skip["cipher"] or skip["tool"] for skip in skipped[::-1]}
            reasons = [f"{name}: {reason}" for reason, name in names.items()][::-1]
            why = "\n  ".join(reasons[:3]) or "this machine supports none of these ciphers"
            common.complain("nothing measured\n  " + why)
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
    measured = read_cpu_times() and children.PRCTL and "available"
    checks.append(("CPU load and sshd CPU time", measured, "requires Linux with /proc"))
    if site is not None:
        refusal = foresee_refusal(site)
        checks.append(("upload", not refusal and site.server, str(refusal).replace("\n", " ")))
    form = "%-6s  %s: %s"
    lines = [form % ("ok" if able else "failed", name, able or fix) for name, able, fix in checks]
    return ["# Available measurements", *map(common.printable, lines)]


def dry_run(runs: Sequence[argparse.Namespace], site: Optional[Site]) -> int:
    lines: List[str] = []
    possible = False
    for options in runs:
        run = Run(options, common.Progress("none"))
        possible = possible or run.has_tools()
        lines += capability_lines(run, site)
        lines += ["", "# Commands (CIPHER is listed by ssh -Q cipher; FOLDER is temporary)"]
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
        raise common.UsageError("cannot write %s: %s" % (error.filename, error.strerror))
    return common.show("Unpacked. To start it, run: python3 %s" % unpacked)


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
        common.complain("interrupted; all started processes have ended")
        return 128 + int(signalled.args[0])
