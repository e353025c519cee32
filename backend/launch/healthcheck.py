"""`python -m launch.healthcheck URL`: exit code 0 when the site answers 200 (for containers)."""

import sys
import urllib.request

SECONDS = 4


def main(url: str) -> int:
    """Ask directly: a proxy of the environment is not for this machine's own address."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=SECONDS) as answer:
            return 0 if answer.status == 200 else 1
    except OSError as error:
        sys.stderr.write(f"{url}: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
