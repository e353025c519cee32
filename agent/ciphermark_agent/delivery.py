"""`run`, `upload` and `show`: a finished run written, uploaded or kept, then shown."""

import argparse
import json
import os
import shlex
import signal
import sys
from typing import List, Optional, Sequence, TextIO, Tuple

from ciphermark_agent import children, common, spool
from ciphermark_agent.common import Json, UsageError, complain, dumps, printable, say, show
from ciphermark_agent.conditions import condition
from ciphermark_agent.lock import no_other_agent
from ciphermark_agent.openssl import Asked, SpeedAbilities
from ciphermark_agent.plans import OpensslPlan, SshPlan, openssl_series
from ciphermark_agent.run import Run
from ciphermark_agent.settings import changed, run_options, upload_site
from ciphermark_agent.ssh_connection import Usage
from ciphermark_agent.ssh_server import PrivateServer, sweep_stale_folders
from ciphermark_agent.tables import result_lines, result_text
from ciphermark_agent.tries import Tried, dd_command, failure_of, reference_of, ssh_sample
from ciphermark_agent.upload import Refused, Site, UploadFailed, foresee_refusal, upload

OWN_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")  # names of what - stands for


def dry_run_lines(options: argparse.Namespace, server: Optional[str]) -> List[str]:
    """The commands of the real plans and a document without figures; runs nothing."""
    run = Run(options, common.Progress("none"))
    run.check_cipher_names()
    lines = ["# nothing of this is run now; FOLDER is a temporary directory, PORT a free port", ""]
    run.ssh, run.sshd = run.ssh or "ssh", run.sshd or "sshd"
    run.openssl = run.openssl or "openssl"
    with children.shown_instead(lines):
        environment = run.environment()
        run.able = SpeedAbilities(seconds=True, providers=True)  # as OpenSSL 3 is asked
        plans = run.plans(["CIPHER"] if "ssh" in options.tools else [], run.openssl_ciphers())
    for plan in plans:
        if isinstance(plan, SshPlan):
            lines += ssh_commands(plan, options.ciphers or ["ssh -Q cipher"])
        else:
            lines += openssl_commands(plan)
        sample = dict.fromkeys(("bytes", "seconds", "foreign_cpu"))
        if isinstance(plan, SshPlan):
            nothing = Tried(0, 0.0, 0, Usage(0.0, 0.0, 0.0, None), None)
            sample = dict.fromkeys(ssh_sample(nothing, reference_of([nothing])))
        series = next(iter(plan.series.values()), None) or openssl_series(Asked("CIPHER"))
        series.samples = [sample]
        run.series.append(series)
    run.skipped.add("TOOL", "CIPHER", "SENTENCE")
    document = run.document(environment, [condition("CODE", "SENTENCE")])
    lines += ["", "# the run document" + (", sent to " + server if server else "")]
    return lines + dumps(document).splitlines()


def ssh_commands(plan: SshPlan, ciphers: Sequence[str]) -> List[str]:
    server = plan.server
    server.folder = "FOLDER"
    lines = ["", "# ssh, %d tries of each method; CIPHER is each of:" % plan.depth.tries]
    lines.append("#   " + ", ".join(ciphers))
    with children.shown_instead(lines):
        failure_of(server.prepare)
    if isinstance(server, PrivateServer):
        lines.append(common.shell_words(server.server_command(plan.channels[0])))
    feed = common.shell_words(dd_command(0)).replace("count=0", "count=COUNT")
    for channel in plan.channels:
        typed = common.shell_words(server.command(channel, 0)).replace("-p 0 ", "-p PORT ")
        lines.append("# pipeline, as many MiB as pass in %g s:" % plan.depth.pipeline_seconds)
        lines.append("%s | %s" % (feed, typed))
        lines.append("# steady, %g s; the input is a sparse file:" % plan.depth.steady_seconds)
        lines.append(typed + " <SPARSE_FILE")
    return lines


def openssl_commands(plan: OpensslPlan) -> List[str]:
    lines: List[str] = []
    rounds = "each %d times" % plan.work.rounds
    with children.shown_instead(lines):
        for title, part in ((rounds, plan.work.often), ("once", plan.work.once)):
            lines += ["", "# openssl, " + title]
            for asked in part:
                failure_of(plan.attempt, asked)
    return lines


def command_run(arguments: argparse.Namespace) -> int:
    options = run_options(arguments)
    site = upload_site(arguments)
    runs = options_of_runs(options, arguments.openssl)
    if arguments.dry_run:
        server = site.server if site else None
        return show("\n".join(line for each in runs for line in dry_run_lines(each, server)))
    sweep_stale_folders()
    refusal = foresee_refusal(site) if site else None
    if refusal:
        complain(refusal + "\nthe run is measured all the same, and kept until it can be sent")
    measured = []
    for number, each in enumerate(runs):
        document, signalled = measured_document(each, common.Progress(arguments.progress))
        if not document["measurements"]:
            if signalled is not None:
                raise signalled
            lines = ["%s: %s" % (entry["cipher"], entry["reason"]) for entry in document["skipped"]]
            complain("nothing could be measured; " + "; ".join(lines[:3] or ["no tool was found"]))
            continue
        output = "-" if arguments.output in OWN_OUTPUT else arguments.output
        if len(runs) > 1 and output not in (None, "-") and not spool.is_special(output):
            output = "-%d".join(os.path.splitext(output)) % (number + 1)
        if signalled is not None:
            return deliver_interrupted(document, output)
        measured.append(deliver(document, output, site))
    return max(measured) if measured else common.EXIT_NOTHING


def options_of_runs(options: argparse.Namespace, paths: Sequence[str]) -> List[argparse.Namespace]:
    """A run for each openssl; ssh is measured in the first only."""
    if len(paths) > 1 and "openssl" not in options.tools:
        raise UsageError("--openssl is given %d times, but --tools leaves it out" % len(paths))
    for path in paths:
        children.find_program("openssl", path)
    runs = [changed(options, openssl=path) for path in paths] or [options]
    return runs[:1] + [changed(one, tools=("openssl",)) for one in runs[1:]]


def measured_document(
    options: argparse.Namespace, progress: common.Progress
) -> Tuple[Json, Optional[common.Interrupted]]:
    """Run with signals turned into an orderly end; the signal, if one ended it early."""
    children.catch_signals()
    try:
        with no_other_agent(progress.note):
            run = Run(options, progress)
            return run.measure(), run.interrupted
    finally:
        children.ignore_signals()
        children.end_children()


def deliver_interrupted(document: Json, output: Optional[str]) -> int:
    """Keep what has been measured; whoever interrupts does not want to wait, also for no reader."""
    words = ["interrupted; everything that was started is ended"]
    to_file = output is not None and output != "-" and not spool.is_special(output)
    fault = output_fault(document, str(output)) if to_file else ""
    if to_file and not fault:
        words.append("what was measured is in %s" % output)
    else:
        words += [fault] if fault else []
        words.append(spool.keep_or_print(document))
    say(result_text(document), sys.stderr)
    complain("; ".join(words))
    return common.EXIT_NOT_UPLOADED


def output_fault(document: Json, output: str) -> str:
    """Write the document where --output says; why it is not there, or nothing."""
    try:
        if output != "-":
            spool.write_output(output, dumps(document))
            return ""
        error = say(dumps(document), sys.stdout)
    except OSError as failure:
        error = failure
    name = "standard output" if output == "-" else output
    return "%s cannot be written: %s" % (name, error.strerror) if error else ""


def deliver(document: Json, output: Optional[str], site: Optional[Site]) -> int:
    """Write and upload the document, or keep it; then nothing that is shown can lose it."""
    nowhere = output is None and site is None
    target = "-" if nowhere and not common.is_terminal(sys.stdout) else output
    try:
        children.catch_signals()
        fault = output_fault(document, target) if target else ""
        children.ignore_signals()
    except common.Interrupted:
        fault, site = "interrupted before it was written to %s" % target, None
    screen = sys.stderr if target == "-" or fault else sys.stdout
    if site:
        code = upload_or_keep(site, document, screen)
        if fault:
            complain(fault)
        return common.EXIT_NOT_UPLOADED if fault else code
    if fault:
        fault = "%s; %s" % (fault, spool.keep_or_print(document))
    children.on_signals(signal.SIG_DFL)
    say(result_text(document), screen)
    if fault:
        complain(fault)
        return common.EXIT_NOT_UPLOADED
    if target is None:
        say("(--output FILE keeps the run, --server URL uploads it)\n", screen)
    return common.EXIT_OK


def upload_or_keep(site: Site, document: Json, screen: Optional[TextIO]) -> int:
    """Keep the run first: whatever happens during the upload, it is not lost."""
    path = None
    try:
        path = spool.keep_in_spool(document)
    except spool.NotKept as error:
        complain("%s; it is uploaded all the same" % error)
    try:
        children.catch_signals()
        say(result_text(document), screen)
        say(printable(upload(site, document)) + "\n", screen)
    except UploadFailed as error:
        why = "%s\nmeasured but not uploaded" % error
        if path and isinstance(error, Refused):
            complain("%s; %s" % (why, aside_words(path, error)))
            return common.EXIT_NOT_UPLOADED
    except common.Interrupted:
        why = "interrupted before it was uploaded"
    else:
        if path:
            spool.remove_sent(path)
        waiting = len(spool.spooled_runs())
        if waiting:
            runs = "1 earlier run waits" if waiting == 1 else "%d earlier runs wait" % waiting
            say("%s in the spool: %s\n" % (runs, site.again), screen)
        return common.EXIT_OK
    if path:
        words = "%s; the run is kept in %s\nsend it later: %s %s"
        complain(words % (why, path, site.again, shlex.quote(path)))
    else:
        complain("%s; %s" % (why, spool.keep_or_print(document)))
    return common.EXIT_NOT_UPLOADED


def aside_words(path: str, refused: Refused) -> str:
    """Set a refused run aside; says where it is now."""
    try:
        words = "sent again it would be refused again: it is in %s, the answer beside it"
        return words % spool.set_aside(path, refused.answer)
    except OSError as error:
        return "the run is kept in %s (it cannot be moved: %s)" % (path, error.strerror)


def command_upload(arguments: argparse.Namespace) -> int:
    """Send saved or spooled runs; a spooled one is removed once the server has it."""
    site = upload_site(arguments)
    if site is None:
        raise UsageError(
            "upload needs --server and a token (--token, --token-file or CIPHERMARK_TOKEN)"
        )
    paths = arguments.files or spool.spooled_runs()
    if not paths:
        say("nothing to send: there is no run in %s\n" % spool.spool_folders()[0], sys.stdout)
    failed = malformed = False
    for path in paths:
        try:
            words = upload(site, load_document(path))
            if spool.is_spooled(path):
                spool.remove_sent(path)
            say(printable("%s: %s\n" % (path, words)), sys.stdout)
        except UsageError as error:  # it does not hold back the others
            if arguments.files or os.path.exists(path):  # else another agent has sent it
                complain(str(error))
                malformed = True
        except UploadFailed as error:
            complain("%s: %s" % (path, error))
            if isinstance(error, Refused) and spool.is_spooled(path):
                complain(aside_words(path, error))
            failed = True
    if failed:
        return common.EXIT_NOT_UPLOADED
    return common.EXIT_USAGE if malformed else common.EXIT_OK


def command_show(arguments: argparse.Namespace) -> int:
    document = load_document(arguments.file)
    try:
        lines = result_lines(document)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the file
        words = "%s is broken: the run in it cannot be shown (%s: %s)"
        raise UsageError(words % (arguments.file, type(error).__name__, error))
    return show("\n".join(lines))


def load_document(path: str) -> Json:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise UsageError("%s cannot be read: %s" % (path, error.strerror))
    except (ValueError, RecursionError) as error:
        raise UsageError("%s is not JSON: %s" % (path, error))
    if not isinstance(document, dict) or document.get("schema") != common.SCHEMA:
        raise UsageError("%s is not a run document (%s)" % (path, common.SCHEMA))
    if not isinstance(document.get("run_id"), str):
        raise UsageError("%s is not a complete run document: it has no run_id" % path)
    return document
