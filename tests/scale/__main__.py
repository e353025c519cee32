"""`python -m tests.scale`: what `make scale` runs (docs/scaling.md).

With `--engine` it measures one engine on one snapshot: `tests.scale.run` calls it so.
"""

import argparse
import json
import logging
import os
import signal
import sys
from pathlib import Path


def main() -> int:
    """Measure and write the figures; 2 for a wrong setting, or no room."""
    import django

    django.setup()
    from results.analytics import engine
    from tests.bench.fleet import build
    from tests.scale import measure, run
    from tests.scale.prototypes import SIZE

    parser = argparse.ArgumentParser(prog="python -m tests.scale", description=__doc__)
    parser.add_argument("--json", type=Path, required=True, help="where the figures are written")
    parser.add_argument("--engine", help="one of tests.scale.engines alone")
    parser.add_argument("--snapshot", type=Path, help="the folder that it reads")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # a line for each run, and what chdb does without
    try:
        asked = run.asked(os.environ)
        if given.engine:
            engine.PATIENCE_SECONDS = 3600.0
            build.use(SIZE)
            found = measure.figures(given.engine, given.snapshot, asked.memory_gb)
        else:
            found = run.measure(asked)
    except run.WrongSetting as fault:
        sys.stderr.write(f"{fault}\n")
        return 2
    given.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is on the disk goes
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.settings"
    sys.exit(main())
