"""A text of the most lines that an upload may have is read at 0.05 ms a line, whatever it says."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.parsers.parsing_cost import HOSTILE, STEPS_A_LINE


def lines_about(names: list[str]) -> list[str]:
    """From a process of its own: counting coverage would be most of what is measured."""
    return subprocess.run(
        [sys.executable, "-m", "tests.parsers.parsing_cost", *names],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout.splitlines()


def test_no_text_costs_more_than_its_lines_may() -> None:
    names = list(HOSTILE)
    with ThreadPoolExecutor(2) as pool:  # one on each core of the smallest machine
        halves = pool.map(lines_about, (names[::2], names[1::2]))
        steps = {one["name"]: one["steps"] for half in halves for one in map(json.loads, half)}
    assert steps.keys() == HOSTILE.keys()
    assert {name: cost for name, cost in steps.items() if cost > STEPS_A_LINE} == {}
