"""`python -m tests.bench`: what `make bench` runs (docs/performance.md)."""

import argparse
import os
import sys
import time
from pathlib import Path


def main() -> int:
    """Measure, print the table, write the file; 1 when a bar is missed, 2 for a wrong setting."""
    import django

    django.setup()
    from tests.bench import figures, run
    from tests.bench.telling import say

    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--json", type=Path, required=True, help="where the figures are written")
    path = parser.parse_args().json
    try:
        asked = run.asked(os.environ)
    except run.WrongSetting as fault:
        say(str(fault))
        return 2
    begun = time.monotonic()
    found = run.measure(asked)
    figures.write_json(found, path)
    return run.judge(asked, found, time.monotonic() - begun)


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.settings"
    sys.exit(main())
