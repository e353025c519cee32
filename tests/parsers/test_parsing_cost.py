"""A text of the most lines that an upload may have is read at 0.05 ms a line, whatever it says."""

import json
import os
import subprocess
import sys

from tests.parsers.parsing_cost import HOSTILE, STEPS_A_LINE


def test_no_text_costs_more_than_its_lines_may() -> None:
    # A process of its own: counting coverage would be most of what is measured.
    output = subprocess.run(
        [sys.executable, "-m", "tests.parsers.parsing_cost"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    steps = {one["name"]: one["steps"] for one in map(json.loads, output.splitlines())}
    assert steps.keys() == HOSTILE.keys()
    assert {name: cost for name, cost in steps.items() if cost > STEPS_A_LINE} == {}
