"""`run`, `upload` and `show`: a finished run written, uploaded or kept, then shown."""

import argparse
import json
import os
import shlex
import sys
from typing import List, Optional, Sequence, TextIO, Tuple

from ciphermark_agent.children import (
    catch_signals,
    end_children,
    find_program,
    ignore_signals,
    restore_signals,
    shown_instead,
)
from ciphermark_agent.common import (
    EXIT_NOT_UPLOADED,
    EXIT_NOTHING,
    EXIT_OK,
    EXIT_USAGE,
    SCHEMA,
    Interrupted,
    Json,
    Progress,
    UsageError,
    at_terminal,
    complain,
    dumps,
    printable,
    say,
    shell_words,
    show,
)
from ciphermark_agent.conditions import condition
from ciphermark_agent.lock import no_other_agent
from ciphermark_agent.openssl import Asked, SpeedAbilities
from ciphermark_agent.plans import OpensslPlan, SshPlan, openssl_series
from ciphermark_agent.run import Run
from ciphermark_agent.settings import changed, run_options, upload_site
from ciphermark_agent.ssh_protocol import server_command
from ciphermark_agent.ssh_server import PrivateServer, sweep_stale_folders
from ciphermark_agent.tables import result_lines, result_text
from ciphermark_agent.tries import SSH_SAMPLE, dd_command, failure_of
from ciphermark_agent.upload import (
    NotKept,
    Refused,
    Site,
    UploadFailed,
    foresee_refusal,
    is_special,
    is_spooled,
    keep_in_spool,
    keep_or_print,
    remove_sent,
    set_aside,
    spool_folders,
    spooled_runs,
    upload,
    write_output,
)


def dry_run_lines(options: argparse.Namespace, server: Optional[str]) -> List[str]:
    """The commands of the real plans and a document without figures; runs nothing."""
    run = Run(options, Progress("none"))
    run.check_cipher_names()
    lines = ["# nothing of this is run now; FOLDER is a temporary directory, PORT a free port", ""]
    run.ssh, run.sshd = run.ssh or "ssh", run.sshd or "sshd"
    run.openssl = run.openssl or "openssl"
    with shown_instead(lines):
        environment = run.environment()
        run.offered = ["CIPHER"]
        run.able = SpeedAbilities(seconds=True, providers=True)  # as OpenSSL 3 is asked
        plans = run.plans(run.offered if "ssh" in options.tools else [], run.openssl_ciphers())
    for plan in plans:
        if isinstance(plan, SshPlan):
            chosen = ", ".join(options.ciphers or ["ssh -Q cipher"])
            lines += ["", "# ssh, %d tries of each method; CIPHER is each of:" % plan.depth.tries]
            lines += ["#   " + chosen] + ssh_commands(plan)
        else:
            lines += openssl_commands(plan)
        series = next(iter(plan.series.values()), None) or openssl_series(Asked("CIPHER"))
        names = SSH_SAMPLE if isinstance(plan, SshPlan) else ("bytes", "seconds", "foreign_cpu")
        series.samples = [dict.fromkeys(names)]
        run.series.append(series)
    run.skipped.add("TOOL", "CIPHER", "SENTENCE")
    document = run.document(environment, [condition("CODE", "SENTENCE")])
    lines += ["", "# the run document" + (", sent to " + server if server else "")]
    return lines + dumps(document).splitlines()


def ssh_commands(plan: SshPlan) -> List[str]:
    lines: List[str] = []
    server = plan.server
    server.folder = "FOLDER"
    if isinstance(server, PrivateServer):
        text = server.configuration(server.ciphers, server.macs)
        lines += ["# FOLDER/sshd_config:"] + ["#   " + line for line in text.splitlines()]
        keys = [server.key_command("host_key"), server.key_command("user_key")]
        start = server_command(server.sshd, server.folder)
        lines += [shell_words(command) for command in keys + [server.check_command(), start]]
    feed = shell_words(dd_command(0)).replace("count=0", "count=COUNT")
    for channel in plan.channels:
        typed = shell_words(server.command(channel, 0)).replace("-p 0 ", "-p PORT ")
        lines.append("# pipeline, as many MiB as pass in %g s:" % plan.depth.pipeline_seconds)
        lines.append("%s | %s" % (feed, typed))
        lines.append("# steady, %g s; the input is a sparse file:" % plan.depth.steady_seconds)
        lines.append(typed + " <SPARSE_FILE")
    return lines


def openssl_commands(plan: OpensslPlan) -> List[str]:
    lines: List[str] = []
    rounds = "each %d times" % plan.work.rounds
    for title, part in ((rounds, plan.work.often), ("once", plan.work.once)):
        lines += ["", "# openssl, " + title]
        with shown_instead(lines):
            for asked in part:
                failure_of(plan.attempt, asked)
    return lines


OWN_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")  # names of what - stands for


def command_run(arguments: argparse.Namespace) -> int:
    options = run_options(arguments)
    site = upload_site(arguments)
    if arguments.dry_run:
        lines: List[str] = []
        for each in options_of_runs(options, arguments.openssl):
            lines += dry_run_lines(each, site.server if site else None)
        return show("\n".join(lines))
    sweep_stale_folders()
    refusal = foresee_refusal(site) if site else None
    if refusal:
        complain(refusal + "\nthe run is measured all the same, and kept until it can be sent")
    codes = []
    for number, each in enumerate(options_of_runs(options, arguments.openssl)):
        document, signalled = measured_document(each, Progress(arguments.progress))
        if signalled is not None and not document["measurements"]:
            raise signalled
        if not document["measurements"]:
            lines = ["%s: %s" % (entry["cipher"], entry["reason"]) for entry in document["skipped"]]
            complain("nothing could be measured; " + "; ".join(lines[:3] or ["no tool was found"]))
            codes.append(EXIT_NOTHING)
            continue
        output = "-" if arguments.output in OWN_OUTPUT else arguments.output
        if len(arguments.openssl) > 1 and output not in (None, "-") and not is_special(output):
            output = "-%d".join(os.path.splitext(output)) % (number + 1)
        if signalled is not None:
            return deliver_interrupted(document, output)
        codes.append(deliver(document, output, site))
    measured = [code for code in codes if code != EXIT_NOTHING]
    return max(measured) if measured else EXIT_NOTHING


def options_of_runs(options: argparse.Namespace, paths: Sequence[str]) -> List[argparse.Namespace]:
    """A run for each openssl; ssh is measured in the first only."""
    if len(paths) > 1 and "openssl" not in options.tools:
        raise UsageError("--openssl is given %d times, but --tools leaves it out" % len(paths))
    for path in paths:
        find_program("openssl", path)
    runs = [changed(options, openssl=path) for path in paths] or [options]
    return runs[:1] + [changed(one, tools=("openssl",)) for one in runs[1:]]


def measured_document(
    options: argparse.Namespace, progress: Progress
) -> Tuple[Json, Optional[Interrupted]]:
    """Run with signals turned into an orderly end; the signal, if one ended it early."""
    catch_signals()
    try:
        with no_other_agent(progress.note):
            run = Run(options, progress)
            return run.measure(), run.interrupted
    finally:
        ignore_signals()
        end_children()


def deliver_interrupted(document: Json, output: Optional[str]) -> int:
    """Keep what has been measured; whoever interrupts does not want to wait, also for no reader."""
    words = ["interrupted; everything that was started is ended"]
    to_file = output not in (None, "-") and not is_special(str(output))
    fault = output_fault(document, str(output)) if to_file else ""
    if to_file and not fault:
        words.append("what was measured is in %s" % output)
    else:
        words += [fault] if fault else []
        words.append(keep_or_print(document))
    say(result_text(document), sys.stderr)
    complain("; ".join(words))
    return EXIT_NOT_UPLOADED


def output_fault(document: Json, output: str) -> str:
    """Write the document where --output says; why it is not there, or nothing."""
    name = "standard output" if output == "-" else output
    try:
        error = say(dumps(document), sys.stdout) if output == "-" else None
        if error:
            raise error
        if output != "-":
            write_output(output, dumps(document))
    except OSError as error:
        return "%s cannot be written: %s" % (name, error.strerror)
    return ""


def deliver(document: Json, output: Optional[str], site: Optional[Site]) -> int:
    """Write and upload the document, or keep it; then nothing that is shown can lose it."""
    nowhere = output is None and site is None
    to_stdout = output == "-" or (nowhere and not at_terminal(sys.stdout))
    target = "-" if to_stdout else output
    fault = ""
    try:
        catch_signals()
        fault = output_fault(document, target) if target else ""
        ignore_signals()
    except Interrupted:
        fault, site = "interrupted before it was written to %s" % target, None
    screen = sys.stderr if to_stdout or fault else sys.stdout
    if site:
        code = upload_or_keep(site, document, screen)
        if fault:
            complain(fault)
        return EXIT_NOT_UPLOADED if fault else code
    if fault:
        fault = "%s; %s" % (fault, keep_or_print(document))
    restore_signals()
    say(result_text(document), screen)
    if fault:
        complain(fault)
        return EXIT_NOT_UPLOADED
    if target is None:
        say("(--output FILE keeps the run, --server URL uploads it)\n", screen)
    return EXIT_OK


def upload_or_keep(site: Site, document: Json, screen: Optional[TextIO]) -> int:
    """Keep the run first: whatever happens during the upload, it is not lost."""
    path = None
    try:
        path = keep_in_spool(document)
    except NotKept as error:
        complain("%s; it is uploaded all the same" % error)
    try:
        catch_signals()
        say(result_text(document), screen)
        say(printable(upload(site, document)) + "\n", screen)
    except UploadFailed as error:
        why = "%s\nmeasured but not uploaded" % error
        if path and isinstance(error, Refused):
            complain("%s; %s" % (why, aside_words(path, error)))
            return EXIT_NOT_UPLOADED
    except Interrupted:
        why = "interrupted before it was uploaded"
    else:
        if path:
            remove_sent(path)
        waiting = len(spooled_runs())
        if waiting:
            words = "%d earlier run(s) wait in the spool: %s\n"
            say(words % (waiting, site.again), screen)
        return EXIT_OK
    if path:
        words = "%s; the run is kept in %s\nsend it later: %s %s"
        complain(words % (why, path, site.again, shlex.quote(path)))
    else:
        complain("%s; %s" % (why, keep_or_print(document)))
    return EXIT_NOT_UPLOADED


def aside_words(path: str, refused: Refused) -> str:
    """Set a refused run aside; says where it is now."""
    try:
        words = "sent again it would be refused again: it is in %s, the answer beside it"
        return words % set_aside(path, refused.answer)
    except OSError as error:
        return "the run is kept in %s (it cannot be moved: %s)" % (path, error.strerror)


def command_upload(arguments: argparse.Namespace) -> int:
    """Send saved or spooled runs; a spooled one is removed once the server has it."""
    site = upload_site(arguments)
    if site is None:
        raise UsageError(
            "upload needs --server and a token (--token, --token-file or CIPHERMARK_TOKEN)"
        )
    paths = arguments.files or spooled_runs()
    if not paths:
        say("nothing to send: there is no run in %s\n" % spool_folders()[0], sys.stdout)
    failed = malformed = False
    for path in paths:
        try:
            words = upload(site, load_document(path))
            if is_spooled(path):
                remove_sent(path)
            say(printable("%s: %s\n" % (path, words)), sys.stdout)
        except UsageError as error:  # it does not hold back the others
            if not arguments.files and not os.path.exists(path):
                continue  # another agent has sent it
            complain(str(error))
            malformed = True
        except UploadFailed as error:
            complain("%s: %s" % (path, error))
            if isinstance(error, Refused) and is_spooled(path):
                complain(aside_words(path, error))
            failed = True
    return EXIT_NOT_UPLOADED if failed else EXIT_USAGE if malformed else EXIT_OK


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
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UsageError("%s is not a run document (%s)" % (path, SCHEMA))
    if not isinstance(document.get("run_id"), str):
        raise UsageError("%s is not a complete run document: it has no run_id" % path)
    return document
