"""`python -m launch.healthcheck URL`: exit code 0 when the site answers 200 (for containers)."""

import os
import sys
import urllib.request

SECONDS = 4


def main(url: str) -> int:
    """Ask as a visitor does: production refuses a host name that is not its own."""
    names = os.environ.get("CIPHERMARK_ALLOWED_HOSTS", "")
    host = names.split(",")[0].strip().lstrip(".")
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=SECONDS) as answer:
            return 0 if answer.status == 200 else 1
    except OSError as error:
        sys.stderr.write(f"{url}: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
