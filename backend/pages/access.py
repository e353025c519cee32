"""Who may read the pages, and how these travel."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.gzip import gzip_page

from runs.access import reading_allowed

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def reader_required(view: View[P]) -> View[P]:
    """Send who may not read to the sign-in page, and from there back to where they wanted to go.

    Tables repeat themselves: compressed, a page is a tenth. Django pads what it compresses, and
    masks its CSRF tokens, so that lengths tell nobody a secret.
    """

    @gzip_page
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not reading_allowed(request):
            return redirect_to_login(request.get_full_path())
        return view(request, *args, **kwargs)

    return guarded
