import re
import shlex
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import get_script_prefix

from runs.models import Measurement, Run, Series

MEASURING_SECONDS = 15 * 60
"""Maximum age in seconds of the file that exists while `make run` measures this machine.
A measurement takes two to four minutes.
"""

LATEST_RUNS = 10

LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1")


def site_of(request: HttpRequest) -> str:
    """Return the URL of the site without a trailing slash."""
    return request.build_absolute_uri(get_script_prefix()).rstrip("/")


def set_up_command(request: HttpRequest, token: str) -> str:
    server = site_of(request)
    return (
        f"curl -fsO {server}/agent.py && "
        f"python3 agent.py run --quick --server {server} --token {token}"
    )


def agent_command(request: HttpRequest) -> str:
    return set_up_command(request, "TOKEN")


def reverse_tunnel_command(request: HttpRequest) -> str:
    """Return an ssh command that makes a site on a loopback address reachable from HOST.

    Return an empty string if the site has another address.
    """
    port = local_port(request)
    return f"ssh -R {port}:127.0.0.1:{port} HOST" if port else ""


def local_port(request: HttpRequest) -> int | None:
    """Return the port of a site on a loopback address, or None for other sites."""
    address = urlsplit(site_of(request))
    if not LOOPBACK.fullmatch(address.hostname or ""):
        return None
    return address.port or (443 if address.scheme == "https" else 80)


def is_measuring() -> bool:
    """Return whether `make run` is measuring this machine, as a recent `MEASURING_FILE` shows."""
    try:
        begun = settings.MEASURING_FILE.stat().st_mtime
    except OSError:
        return False
    return time.time() - begun < MEASURING_SECONDS


def schedule_commands(request: HttpRequest, token: str) -> str:
    return (
        "mkdir -p ~/.config/ciphermark && (umask 077 && "
        "printf '[agent]\\nserver = %s\\ntoken = %s\\n' "
        f"{site_of(request)} {token} > ~/.config/ciphermark/agent.ini)\n"
        "python3 agent.py schedule --standard"
    )


def nobody_measured_yet() -> bool:
    counted = Run.objects.counted().filter(source=Run.Source.AGENT)
    return not counted.exists()


def agents_lack_ssh() -> bool:
    counted = Run.objects.counted().filter(source=Run.Source.AGENT)
    latest = list(counted.order_by("-id").values_list("pk", flat=True)[:LATEST_RUNS])
    series = Measurement.objects.filter(run__in=latest).values("series")
    tools = Series.objects.filter(pk__in=series).values_list("tool", flat=True)
    return set(tools.distinct()) == {"openssl"}


SAVE_TOKEN = "(umask 077 && cat > ciphermark.token)"  # noqa: S105 - a command, no token
"""Shell command that saves a pasted token in ciphermark.token. Enter and Ctrl-D end the input."""

USER_DATA = (
    "(umask 077 && awk 'NR == FNR { t = $0; next } { sub(/TOKEN/, t) } 1' "
    "ciphermark.token cloud-init.yaml > user-data)"
)
"""Shell command that copies cloud-init.yaml to user-data, with the token from ciphermark.token."""


@dataclass(frozen=True)
class ManyMachines:
    """Store commands and files that measure many hosts with ssh, Ansible or cloud-init.

    The token never appears in a command line. `is_local`: the site has a loopback address, which
    other hosts cannot reach. `is_unencrypted`: other hosts would send the token without TLS.
    """

    server: str
    is_local: bool
    is_unencrypted: bool
    ssh_loop: str
    play: str
    cloud_init: str
    save_token: str = SAVE_TOKEN
    with_token: str = USER_DATA


def many_machines(request: HttpRequest) -> ManyMachines:
    server, port = site_of(request), local_port(request)
    return ManyMachines(
        server=server,
        is_local=port is not None,
        is_unencrypted=urlsplit(server).scheme == "http" and port is None,
        ssh_loop=ssh_loop(server, port),
        play=_PLAY.replace("SERVER", server),
        cloud_init=_CLOUD_INIT.replace("SERVER", server),
    )


def ssh_loop(server: str, lent_port: int | None = None) -> str:
    """Return a shell loop that runs the agent over ssh on each host in hosts.txt.

    The loop sends the token in ciphermark.token to each host. `lent_port`: port of a site on a
    loopback address, which ssh forwards to the host; None for other sites.
    """
    there = (
        "d=$(mktemp -d) && cd $d && umask 077 && cat > token"
        f" && curl -fsSO {server}/agent.py"
        f" && python3 agent.py run --quick --server {server} --token-file token;"
        " s=$?; cd / && rm -rf $d; exit $s"
    )
    tunnel = f"-R {lent_port}:127.0.0.1:{lent_port} " if lent_port else ""
    return (
        f'for h in $(cat hosts.txt); do ssh {tunnel}"$h" {shlex.quote(there)}'
        ' < ciphermark.token || echo "$h: failed" >&2; done'
    )


_PLAY = """\
- name: Measure cipher speed with Ciphermark
  hosts: all
  become: true
  serial: 1
  tasks:
    - ansible.builtin.package:
        name: [python3, openssl, openssh-server]
    - ansible.builtin.tempfile:
        state: directory
      register: folder
    - block:
        - ansible.builtin.copy:
            src: ciphermark.token
            dest: "{{ folder.path }}/token"
            mode: "0600"
        - ansible.builtin.get_url:
            url: SERVER/agent.py
            dest: "{{ folder.path }}/agent.py"
        - ansible.builtin.command:
            chdir: "{{ folder.path }}"
            cmd: python3 agent.py run --quick --server SERVER --token-file token
      always:
        - ansible.builtin.file:
            path: "{{ folder.path }}"
            state: absent
"""

_CLOUD_INIT = """\
#cloud-config
packages: [curl, python3, openssl, openssh-server]
write_files:
  - path: /etc/ciphermark/token
    permissions: "0600"
    content: TOKEN
runcmd:
  - [curl, -fsSo, /etc/ciphermark/agent.py, "SERVER/agent.py"]
  - - python3
    - /etc/ciphermark/agent.py
    - run
    - --quick
    - --server=SERVER
    - --token-file=/etc/ciphermark/token
  - [rm, -f, /etc/ciphermark/token]
"""
