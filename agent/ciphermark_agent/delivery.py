import argparse
import contextlib
import glob
import json
import os
import shlex
import sys
from typing import List, Optional

from ciphermark_agent import children, common
from ciphermark_agent.common import Interrupted, Json, UsageError, complain, dumps, printable, say
from ciphermark_agent.settings import upload_site
from ciphermark_agent.tables import result_lines
from ciphermark_agent.upload import Refused, Site, UploadFailed, upload


def is_special(path: str) -> bool:
    """Return whether the path exists but is not a regular file, such as a device or a FIFO."""
    return os.path.exists(path) and not os.path.isfile(path)


def write_file(path: str, text: str) -> None:
    """Replace a file, or the target of a symbolic link, atomically. Write to devices directly."""
    if is_special(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    path = os.path.realpath(path)
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


def spooled_runs() -> List[str]:
    paths = glob.glob(os.path.join(glob.escape(common.state_folder("spool")), "run-*.json"))
    return sorted(paths, key=lambda path: common.reading(lambda: os.path.getmtime(path), 0.0))


def keep_in_spool(document: Json) -> str:
    """Save the run in the spool folder. Return the path, or an empty string after an error."""
    folder = common.state_folder("spool")
    path = os.path.join(folder, "run-%s.json" % document["run_id"])
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        write_file(path, dumps(document))
    except OSError as error:
        complain("cannot save the run in %s: %s" % (folder, error.strerror))
        return ""
    return path


def remove_sent(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another agent has removed it
        os.unlink(path)


def set_aside(path: str) -> str:
    with contextlib.suppress(OSError):
        os.replace(path, path + ".rejected")
        return path + ".rejected"
    return path


def output_fault(document: Json, output: str) -> str:
    error: Optional[OSError] = None
    try:
        if output == "-":
            error = say(dumps(document), sys.stdout)
        else:
            write_file(output, dumps(document))
    except OSError as failure:
        error = failure
    name = "standard output" if output == "-" else output
    return "cannot write %s: %s" % (name, error.strerror) if error else ""


def deliver(document: Json, output: Optional[str], site: Optional[Site], interrupted: bool) -> int:
    faults = []
    folder = "" if os.access(".", os.W_OK) else common.state_folder()
    name = os.path.join(folder, "ciphermark-%s.json" % document["run_id"][:8])
    target = output or (None if site else name if os.isatty(1) else "-")
    if interrupted:
        faults, site = ["interrupted; all started processes have ended"], None
        target = None if not output or output == "-" or is_special(output) else output
    fault = ""
    try:
        children.catch_signals()
        fault = output_fault(document, target) if target else ""
        children.ignore_signals()
    except Interrupted:
        fault, site = "interrupted before writing %s" % target, None
    safe = bool(target) and not fault
    faults += [fault] if fault else []
    faults += ["the results so far are in %s" % target] if interrupted and safe else []
    path = "" if safe and not site else keep_in_spool(document)
    # Keep standard output free for a run that may have to be printed there.
    printed = not path and bool(site or not safe)
    screen = sys.stderr if target == "-" or faults or printed else sys.stdout
    later = ""
    try:
        children.catch_signals()
        say(common.reading(lambda: "\n".join(result_lines(document)) + "\n", ""), screen)
        if site:
            safe, later = False, "\nTo upload it, run: %s %s" % (site.again, shlex.quote(path))
            say(printable(upload(site, document)) + "\n", screen)
            safe = True
            remove_sent(path)
            waiting = len(spooled_runs())
            text = f"Earlier runs in the spool: {waiting}. To upload them, run: {site.again}\n"
            say(text if waiting else "", screen)
        elif not faults and target != "-":
            say("Run saved in %s. To upload it, use the upload command.\n" % target, screen)
    except UploadFailed as error:
        faults.append("%s\nmeasured but not uploaded" % error)
        if path and isinstance(error, Refused):
            path, later = set_aside(path), ""
    except Interrupted:
        faults += ["interrupted before the upload finished"] if site and not safe else []
    if not safe:
        kept = "run saved in %s%s" % (path, later)
        faults.append(kept if path else "run written to standard output")
        say("" if path else dumps(document), sys.stdout)
    if faults:
        complain("; ".join(faults))
    return common.EXIT_NOT_UPLOADED if faults else common.EXIT_OK


def command_upload(arguments: argparse.Namespace) -> int:
    site = upload_site(arguments)
    if site is None:
        raise UsageError("upload requires --server URL")
    folder = common.state_folder("spool")
    paths = arguments.files or spooled_runs()
    if not paths:
        say("Nothing to upload: no runs in %s\n" % folder, sys.stdout)
    code = common.EXIT_OK
    for path in paths:
        spooled = os.path.dirname(os.path.abspath(path)) == folder
        try:
            words = upload(site, load_document(path))
            if spooled:
                remove_sent(path)
            say(printable("%s: %s\n" % (path, words)), sys.stdout)
        except UsageError as error:  # continue with the other runs
            if arguments.files or os.path.exists(path):  # else another agent has uploaded it
                complain(str(error))
                code = code or common.EXIT_USAGE
        except UploadFailed as error:
            complain("%s: %s" % (path, error))
            if spooled and isinstance(error, Refused):
                complain("run saved in %s" % set_aside(path))
            code = common.EXIT_NOT_UPLOADED
            if not isinstance(error, Refused):
                break  # the next upload would wait as long
    return code


def command_show(arguments: argparse.Namespace) -> int:
    document = load_document(arguments.file)
    try:
        lines = result_lines(document)
    except Exception as error:  # noqa: BLE001 - the file may contain anything
        raise UsageError(f"{arguments.file} is not a valid run ({type(error).__name__}: {error})")
    return common.show("\n".join(lines))


def load_document(path: str) -> Json:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise UsageError("cannot read %s: %s" % (path, error.strerror))
    except (ValueError, RecursionError) as error:
        raise UsageError("%s is not JSON (%s)" % (path, error))
    members = document if isinstance(document, dict) else {}
    if members.get("schema") != common.SCHEMA or not isinstance(members.get("run_id"), str):
        raise UsageError("%s is not a run document (schema %s)" % (path, common.SCHEMA))
    return members
