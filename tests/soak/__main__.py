"""`python -m tests.soak [--minutes 60] [--rate 5]`: hours of uploads and browsing, looked at."""

import argparse
import os
import sys
import threading
import time


def main() -> int:
    """Soak a real site on a database of its own, print the table; 1 when something crept."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=5.0, help="uploads a second")
    parser.add_argument("--agents", type=int, default=4, help="that upload at once")
    asked = parser.parse_args()
    import django

    django.setup()
    from django.conf import settings

    from config.embedded.postgres import Postgres
    from config.embedded.redis_server import RedisServer
    from tests.live_site import live_site
    from tests.soak.acting import Acting
    from tests.soak.sampling import Sampling
    from tests.soak.told import Span, faults, table

    with live_site("soak") as site:
        acting = Acting(site.url, site.token("upload"))
        servers = (Postgres(settings.DATA_DIR), RedisServer(settings.DATA_DIR))
        sampling = Sampling(site.environment["DATABASE_URL"], servers, acting.stop)
        looking = threading.Thread(target=sampling.run, daemon=True)
        threads = [*acting.threads(asked.rate, asked.agents), looking]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        wait(asked.minutes * 60)
        span = Span(begin, time.monotonic())
        acting.stop.set()
        for thread in threads:
            thread.join()
    print(table(span, acting, sampling.samples))  # noqa: T201 - what it is for
    wrong = faults(span, acting, sampling.samples, asked.rate)
    for fault in wrong or ["passed: memory flat, no run waited for 5 s, every answer good"]:
        print(fault)  # noqa: T201
    return 1 if wrong else 0


def wait(seconds: float) -> None:
    """Until the time is over, or Ctrl-C: what was seen until then is told all the same."""
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    sys.exit(main())
