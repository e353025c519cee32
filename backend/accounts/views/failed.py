from typing import Any

from axes.helpers import get_cool_off
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def sign_in_failed(request: HttpRequest, words: str, status: int) -> HttpResponse:
    context = {"words": words, "status": status}
    return render(request, "accounts/sign_in_failed.html", context, status=status)


def locked_out(
    request: HttpRequest, response: HttpResponse | None = None, credentials: Any = None
) -> HttpResponse:
    cool_off = get_cool_off(request)
    seconds = int(cool_off.total_seconds()) if cool_off else 60
    context = {"minutes": -(-seconds // 60)}
    answer = render(request, "accounts/locked_out.html", context, status=429)
    answer["Retry-After"] = str(seconds)
    return answer
