"""`python -m tests.bench.scaling`: measure the costs and write the tables of docs/scaling.md."""

import os
import sys


def main() -> int:
    """Measure at the default size, and charts at the others: 20m when `make bench` made it."""
    import django

    django.setup()
    from tests.bench.fleet import build
    from tests.bench.fleet.size import SIZES
    from tests.bench.into_docs import DOCS, replace_part
    from tests.bench.scaling import costs, told
    from tests.bench.telling import say

    size = SIZES["4.8m"]
    for needed in (SIZES["0.5m"], size):
        build.provide(needed)
    found = costs.measure(size, [one for one in SIZES.values() if build.is_there(one)])
    page = DOCS / "scaling.md"
    for name, text in told.parts(found).items():
        say(f"\n{text}")
        if "--write" in sys.argv:
            replace_part(page, name, text)
    return 0


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.settings"
    sys.exit(main())
