"""The page that says why a sign-in did not work."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def sign_in_failed(request: HttpRequest, words: str, status: int) -> HttpResponse:
    """`words` are whole sentences for whoever tried."""
    context = {"words": words, "status": status}
    return render(request, "pages/sign_in_failed.html", context, status=status)
