import json
import os
import threading
from pathlib import Path

from tests.agent.running import (
    ONE_CIPHER,
    RunAgent,
)


def has_measurements(text: str) -> bool:
    return bool(json.loads(text)["measurements"])


def test_a_symbolic_link_is_written_through(run_agent: RunAgent, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name, before in (("there.json", "old"), ("not-yet.json", None)):
        link, target = tmp_path / f"link-{name}", folder / name
        if before:
            target.write_text(before)
        link.symlink_to(target)
        done = run_agent(*ONE_CIPHER, "--output", str(link))
        assert done.code == 0, done.err
        assert link.is_symlink()
        assert has_measurements(target.read_text())
    assert sorted(path.name for path in folder.iterdir()) == ["not-yet.json", "there.json"]


def test_a_fifo_is_written_to_and_stays_one(run_agent: RunAgent, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    done = run_agent(*ONE_CIPHER, "--output", str(fifo))
    if not fifo.is_fifo():  # the reader would wait forever
        os.close(os.open(fifo, os.O_WRONLY))
    reader.join(30)
    assert done.code == 0, done.err
    assert fifo.is_fifo()
    assert has_measurements(read[0])
