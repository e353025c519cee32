"""`run --dry-run`: what can be measured here and what not, how to change that, every command."""

import argparse
import os
from typing import List, Optional, Sequence

from ciphermark_agent import children, common
from ciphermark_agent.conditions import cpus_for_pinning, read_cpu_times
from ciphermark_agent.delivery import spool_folder, spooled_runs
from ciphermark_agent.openssl import OPENSSL_KNOWN, SpeedAbilities
from ciphermark_agent.run import MISSING, Run
from ciphermark_agent.upload import Site, foresee_refusal


def capabilities(run: Run, site: Optional[Site]) -> List[str]:
    """Return a line for each capability, found without running a program."""
    lines = ["# What can be measured here"]

    def add(name: str, detail: Optional[str], remedy: str) -> None:
        lines.append("%-4s %s: %s" % ("yes" if detail else "no", name, detail or remedy))

    options = run.options
    for tool in options.tools:
        add(tool, getattr(run, tool), "%s%s" % MISSING[tool])
    if "ssh" in options.tools and not options.targets:
        add("sshd", run.sshd, "%s%s" % MISSING["sshd"])
    watched = "by /proc/stat" if read_cpu_times() else None
    add("disturbances by other programs", watched, "needs Linux with /proc mounted")
    counted = "by prctl" if children.PRCTL is not None else None
    add("CPU seconds of sshd", counted, "needs Linux, and a Python with ctypes")
    cpus = cpus_for_pinning()
    pinned = "CPU %d and %d, while others are quiet" % cpus if cpus else None
    add("ssh and sshd on a core each", pinned, "this process may use one core alone")
    folder = existing = spool_folder()
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    able = os.path.isdir(existing) and os.access(existing, os.W_OK)
    kept = "%s (waiting there: %d)" % (folder, len(spooled_runs())) if able else None
    remedy = "%s cannot be written: set XDG_STATE_HOME to a folder that can be" % folder
    add("keeping what cannot be uploaded", kept, remedy)
    if site is not None:
        refusal = foresee_refusal(site)
        add("upload", None if refusal else site.server, str(refusal).replace("\n", " "))
    return [common.printable(line) for line in lines]


def dry_run_lines(options: argparse.Namespace, site: Optional[Site]) -> List[str]:
    """Return the capabilities, and the commands of the real plans."""
    run = Run(options, common.Progress("none"))
    lines = capabilities(run, site)
    run.ssh, run.sshd = run.ssh or "ssh", run.sshd or "sshd"
    run.openssl = run.openssl or "openssl"
    lines += ["", "# Commands; CIPHER is each of ssh -Q cipher, FOLDER a temporary one"]
    children.shown = lines
    run.environment()
    names = run.openssl_ciphers()
    run.able = SpeedAbilities(seconds=True, providers=True)  # as OpenSSL 3 is asked
    asked = [name for name in options.ciphers or ["CIPHER"] if name not in OPENSSL_KNOWN]
    for plan in run.plans(asked if "ssh" in options.tools else [], names):
        plan.show(lines)
    children.shown = None
    return lines


def dry_run(runs: Sequence[argparse.Namespace], site: Optional[Site]) -> int:
    """Print all that; exit code 3 where no run has what it needs, as without --dry-run."""
    code = common.show("\n".join(line for each in runs for line in dry_run_lines(each, site)))
    made = [Run(each, common.Progress("none")) for each in runs]
    return code if any(run.has_tools() for run in made) else common.EXIT_NOTHING
