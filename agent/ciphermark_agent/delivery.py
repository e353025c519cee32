"""A finished run: written, uploaded or kept in the spool, and shown."""

import argparse
import contextlib
import glob
import json
import os
import shlex
import sys
from typing import List, Optional, Sequence, Tuple

from ciphermark_agent import children, common
from ciphermark_agent.common import Interrupted, Json, UsageError, complain, dumps, printable, say
from ciphermark_agent.conditions import condition, no_other_agent
from ciphermark_agent.openssl import OPENSSL_KNOWN, SpeedAbilities
from ciphermark_agent.run import Run
from ciphermark_agent.settings import changed, run_options, upload_site
from ciphermark_agent.ssh_server import sweep_stale_folders
from ciphermark_agent.tables import result_lines, result_text
from ciphermark_agent.upload import Refused, Site, UploadFailed, foresee_refusal, upload

OWN_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")  # names of what - stands for


def is_special(path: str) -> bool:
    """Whether there is a device, a FIFO or the like, which is written to and not replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def write_output(path: str, text: str) -> None:
    """Write what --output names: a file whole or not at all, also where a link points to."""
    if is_special(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        write_atomically(os.path.realpath(path), text)


def write_atomically(path: str, text: str) -> None:
    """Write a whole file or nothing; permissions by the umask."""
    part = "%s.part-%d" % (path, os.getpid())
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except (OSError, Interrupted):
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def spool_folder() -> str:
    return os.path.join(common.state_folder(), "spool")


def spooled_runs() -> List[str]:
    """The runs that wait in the spool, the oldest first."""
    found = glob.glob(os.path.join(glob.escape(spool_folder()), "run-*.json"))
    return sorted(found, key=lambda path: common.reading(lambda: os.path.getmtime(path), 0.0))


def is_spooled(path: str) -> bool:
    return os.path.dirname(os.path.abspath(path)) == spool_folder()


def keep_in_spool(document: Json) -> str:
    """Path of the kept run; nothing, and the reason said, where it cannot be kept."""
    path = os.path.join(spool_folder(), "run-%s.json" % document["run_id"])
    try:
        os.makedirs(spool_folder(), mode=0o700, exist_ok=True)
        write_atomically(path, dumps(document))
    except OSError as error:
        complain("%s: the run could not be kept: %s" % (spool_folder(), error.strerror))
        return ""
    return path


def remove_sent(path: str) -> None:
    """Another agent may have sent and removed it at the same time."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def set_aside(path: str) -> str:
    """Rename a refused run, so that it waits no longer; its new path."""
    with contextlib.suppress(OSError):
        os.replace(path, path + ".rejected")
        return path + ".rejected"
    return path


def dry_run_lines(options: argparse.Namespace, server: Optional[str]) -> List[str]:
    """The commands of the real plans and a document without figures; runs nothing."""
    run = Run(options, common.Progress("none"))
    run.check_cipher_names()
    run.ssh, run.sshd = run.ssh or "ssh", run.sshd or "sshd"
    run.openssl = run.openssl or "openssl"
    lines = [
        "# nothing of this is run now; CIPHER is each of ssh -Q cipher, FOLDER a temporary one"
    ]
    children.shown = lines
    environment = run.environment()
    run.able = SpeedAbilities(seconds=True, providers=True)  # as OpenSSL 3 is asked
    named = [name for name in options.ciphers or ["CIPHER"] if name not in OPENSSL_KNOWN]
    for plan in run.plans(named if "ssh" in options.tools else [], run.openssl_ciphers()):
        run.series.append(plan.show(lines))
    run.skipped.add("TOOL", "CIPHER", "SENTENCE")
    document = run.document(environment, [condition("CODE", "SENTENCE")])
    lines += ["", "# the run document" + (", sent to " + server if server else "")]
    return lines + dumps(document).splitlines()


def command_run(arguments: argparse.Namespace) -> int:
    options = run_options(arguments)
    site = upload_site(arguments)
    runs = options_of_runs(options, arguments.openssl)
    if arguments.dry_run:
        server = site.server if site else None
        lines = [line for each in runs for line in dry_run_lines(each, server)]
        return common.show("\n".join(lines))
    sweep_stale_folders()
    refusal = foresee_refusal(site) if site else None
    if refusal:
        complain(refusal + "\nthe run is measured all the same, and kept until it can be sent")
    codes = []
    for number, each in enumerate(runs):
        document, signalled = measured_document(each, common.Progress(arguments.progress))
        if not document["measurements"]:
            if signalled is not None:
                raise signalled
            lines = ["%s: %s" % (entry["cipher"], entry["reason"]) for entry in document["skipped"]]
            complain("nothing could be measured; " + "; ".join(lines[:3] or ["no tool was found"]))
            continue
        output = "-" if arguments.output in OWN_OUTPUT else arguments.output
        if len(runs) > 1 and output not in (None, "-") and not is_special(output):
            output = "-%d".join(os.path.splitext(output)) % (number + 1)
        codes.append(deliver(document, output, site, signalled is not None))
        if signalled is not None:
            break
    return max(codes) if codes else common.EXIT_NOTHING


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
) -> Tuple[Json, Optional[Interrupted]]:
    """Run with signals turned into an orderly end; the signal, if one ended it early."""
    with children.starting_children(), no_other_agent(progress.note):
        run = Run(options, progress)
        return run.measure(), run.interrupted


def deliver(document: Json, output: Optional[str], site: Optional[Site], interrupted: bool) -> int:
    """Write and upload a run, or keep it; then nothing that is shown can lose it. The exit code.

    Whoever interrupts a run does not want to wait, not for an upload nor for the reader of a FIFO.
    """
    words = []  # of what is not as it should be
    target = output or (None if site or common.is_terminal(sys.stdout) else "-")
    if interrupted:
        words, site = ["interrupted; everything that was started is ended"], None
        target = None if target is None or target == "-" or is_special(target) else target
    fault = ""
    try:
        children.catch_signals()
        fault = output_fault(document, target) if target else ""
        children.ignore_signals()
    except Interrupted:
        fault, site = "interrupted before it was written to %s" % target, None
    safe = bool(target) and not fault
    words += [fault] if fault else []
    words += ["what was measured is in %s" % target] if interrupted and safe else []
    path = keep_in_spool(document) if site or (words and not safe) else ""
    # Where the run may have to be printed, nothing else is.
    screen = sys.stderr if target == "-" or words or (site and not path) else sys.stdout
    later = ""
    try:
        children.catch_signals()
        say(result_text(document), screen)
        if site:
            safe, later = False, "\nsend it later: %s %s" % (site.again, shlex.quote(path))
            say(printable(upload(site, document)) + "\n", screen)
            safe = True
            remove_sent(path)
            waiting = len(spooled_runs())
            text = "%s in the spool: %s\n" % (common.counted(waiting, "earlier run"), site.again)
            say(text if waiting else "", screen)
        elif target is None and not words:
            say("(--output FILE keeps the run, --server URL uploads it)\n", screen)
    except UploadFailed as error:
        words.append("%s\nmeasured but not uploaded" % error)
        if path and isinstance(error, Refused):
            path, later = set_aside(path), ""
    except Interrupted:
        words += ["interrupted before it was uploaded"] if site and not safe else []
    if words and not safe:
        kept = "the run is kept in %s%s" % (path, later)
        words.append(kept if path else "here it is, on standard output")
        say("" if path else dumps(document), sys.stdout)
    if words:
        complain("; ".join(words))
    return common.EXIT_NOT_UPLOADED if words else common.EXIT_OK


def output_fault(document: Json, output: str) -> str:
    """Write the document where --output says; why it is not there, or nothing."""
    error: Optional[OSError] = None
    try:
        if output == "-":
            error = say(dumps(document), sys.stdout)
        else:
            write_output(output, dumps(document))
    except OSError as failure:
        error = failure
    name = "standard output" if output == "-" else output
    return "%s cannot be written: %s" % (name, error.strerror) if error else ""


def command_upload(arguments: argparse.Namespace) -> int:
    """Send saved or spooled runs; a spooled one is removed once the server has it."""
    site = upload_site(arguments)
    if site is None:
        raise UsageError("upload needs --server URL")
    paths = arguments.files or spooled_runs()
    if not paths:
        say("nothing to send: there is no run in %s\n" % spool_folder(), sys.stdout)
    code = common.EXIT_OK
    for path in paths:
        try:
            words = upload(site, load_document(path))
            if is_spooled(path):
                remove_sent(path)
            say(printable("%s: %s\n" % (path, words)), sys.stdout)
        except UsageError as error:  # it does not hold back the others
            if arguments.files or os.path.exists(path):  # else another agent has sent it
                complain(str(error))
                code = code or common.EXIT_USAGE
        except UploadFailed as error:
            complain("%s: %s" % (path, error))
            if isinstance(error, Refused) and is_spooled(path):
                complain("the run is kept in %s" % set_aside(path))
            code = common.EXIT_NOT_UPLOADED
    return code


def command_show(arguments: argparse.Namespace) -> int:
    document = load_document(arguments.file)
    try:
        lines = result_lines(document)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the file
        words = "%s is broken: the run in it cannot be shown (%s: %s)"
        raise UsageError(words % (arguments.file, type(error).__name__, error))
    return common.show("\n".join(lines))


def load_document(path: str) -> Json:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise UsageError("%s cannot be read: %s" % (path, error.strerror))
    except (ValueError, RecursionError) as error:
        raise UsageError("%s is not JSON: %s" % (path, error))
    found = document if isinstance(document, dict) else {}
    if found.get("schema") != common.SCHEMA or not isinstance(found.get("run_id"), str):
        raise UsageError("%s is not a run document (%s, with a run_id)" % (path, common.SCHEMA))
    return found
