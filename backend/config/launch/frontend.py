import hashlib
from collections.abc import Iterable
from pathlib import Path

from config.launch import processes
from config.launch.node import LOG, PROJECT, Node, provide

FRONTEND = PROJECT / "frontend"
NOT_SOURCES = frozenset({"node_modules", "dist", "coverage"})


def install(node: Node) -> None:
    stamp = FRONTEND / "node_modules" / ".installed-from"
    wanted = digest_of([FRONTEND / "package-lock.json"])
    if not is_made(stamp, wanted):
        print("Installing the frontend packages ...", flush=True)
        _npm(node, "ci", "--prefer-offline", "--no-audit", "--no-fund")
        stamp.write_text(wanted)


def build(node: Node | None = None) -> None:
    stamp = FRONTEND / "dist" / ".built-from"
    if is_made(stamp, sources_digest()):
        return
    node = node or provide()
    install(node)
    print("Building the frontend ...", flush=True)
    _npm(node, "run", "build")
    stamp.write_text(sources_digest())


def sources_digest() -> str:
    tops = [path for path in FRONTEND.iterdir() if path.name not in NOT_SOURCES]
    return digest_of(path for top in tops for path in (top, *top.rglob("*")))


def is_made(stamp: Path, digest: str) -> bool:
    return stamp.exists() and stamp.read_text() == digest


def digest_of(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path} {content}\n".encode())
    return digest.hexdigest()


def _npm(node: Node, *words: str) -> None:
    command = [str(node.folder / "npm"), "--prefix", str(FRONTEND), *words]
    processes.run(f"npm {' '.join(words)}", command, LOG / "npm.log", node.environment())


if __name__ == "__main__":
    build()
