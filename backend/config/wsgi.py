import logging
import os
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http.response import HttpResponseBase, HttpResponsePermanentRedirect

Application = Callable[[dict[str, Any], Any], HttpResponseBase]


def below(path: str, application: Application) -> Application:
    """Serve the application under a URL path such as /ciphermark. Django adds the path to links.

    Requests without the path also work, for health probes and for proxies that remove the path.
    """
    if not path:
        return application

    def without_path(environ: dict[str, Any], start_response: Any) -> HttpResponseBase:
        requested = environ.get("PATH_INFO", "")
        if requested == path:  # relative links that begin with "?" would lose the slash
            query = environ.get("QUERY_STRING", "")
            answer = HttpResponsePermanentRedirect(f"{path}/{'?' if query else ''}{query}")
            start_response(f"301 {answer.reason_phrase}", list(answer.items()))
            return answer
        if requested.startswith(f"{path}/"):
            environ["PATH_INFO"] = requested[len(path) :]
        return application(environ, start_response)

    return without_path


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = below(settings.CIPHERMARK_PATH, get_wsgi_application())

# Build the analytics copy while the process handles its first requests.
from compare.engine import prepare  # noqa: E402 - Django's settings come first

prepare()

# gunicorn's access log contains URLs; share URLs are secret.
from core.log_lines import RedactSecrets  # noqa: E402 - Django's settings come first

for name in ("gunicorn.access", "gunicorn.error"):
    logging.getLogger(name).addFilter(RedactSecrets())
