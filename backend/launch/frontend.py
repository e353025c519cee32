"""The frontend: installed and built only when something it is made of has changed."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from launch import paths, processes
from launch.console import say
from launch.node import Node

NOT_SOURCES = frozenset({"node_modules", "dist", "coverage"})
BUILT = paths.FRONTEND / "dist" / "assets" / "main.js"


def install(node: Node) -> None:
    """`npm ci`, unless node_modules is what the lock file says."""
    stamp = paths.FRONTEND / "node_modules" / ".installed-from"
    wanted = hashlib.sha256((paths.FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("Installing the frontend's packages ...")
    _npm(node, "ci", "--no-audit", "--no-fund")
    stamp.write_text(wanted)


def build(node: Node) -> None:
    """`npm run build`, unless the built files are of these sources."""
    if is_built():
        return
    install(node)
    say("Building the frontend ...")
    _npm(node, "run", "build")
    _stamp().write_text(json.dumps({"sources": sources_digest()}))


def is_built() -> bool:
    """Whether frontend/dist is what these sources make."""
    stamp = _stamp()
    return (
        BUILT.exists()
        and stamp.exists()
        and stamp.read_text() == json.dumps({"sources": sources_digest()})
    )


def sources_digest() -> str:
    """A hash of every file the build can depend on, by name and content."""
    digest = hashlib.sha256()
    for path in sorted(_sources(paths.FRONTEND)):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(paths.FRONTEND)} {content}\n".encode())
    return digest.hexdigest()


def _sources(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name in NOT_SOURCES:
            continue
        if path.is_dir():
            yield from _sources(path)
        else:
            yield path


def _stamp() -> Path:
    return paths.FRONTEND / "dist" / ".built-from.json"


def _npm(node: Node, *arguments: str) -> None:
    log = paths.data_dir() / "log" / "npm.log"
    command: list[str | Path] = [node.folder / "npm", *arguments]
    status = processes.run(
        "npm", command, log=log, environment=node.environment(), folder=paths.FRONTEND
    )
    hint = ": check the network and npm's proxy settings" if arguments[0] == "ci" else ""
    processes.require(f"npm {' '.join(arguments)}", status, log, hint)
