"""The recommendation page, `/recommend/`."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from rest_framework.exceptions import ValidationError

from pages.access import reader_required
from pages.compare.compare_page import query_faults
from pages.first_steps import agent_command, nobody_measured_yet
from pages.recommend.recommend_form import api_params, filled, form_context, with_keys
from pages.recommend.recommend_page import result_context
from questions.recommendation_parameters import recommendation_question
from results.recommendation.advice import advise
from results.recommendation.measured_ssh import TooManyHosts

TEMPLATE = "pages/recommend.html"


@require_safe
@reader_required
def recommend_page(request: HttpRequest) -> HttpResponse:
    """One host, a pair or a group; a parameter that cannot be is answered 400 and in words."""
    params, unclear = with_keys(filled(request.GET))
    if unclear:
        status = 200 if unclear.several else 404
        return _page(request, params, {"unclear": unclear}, status)
    try:
        question = recommendation_question(api_params(params))
        if question.empty:
            return _page(request, params, {"nobody_measured": nobody_measured_yet()})
        advice = advise(question, request.build_absolute_uri(reverse("recommend")), timezone.now())
    except ValidationError as error:
        return _page(request, params, {"faults": query_faults(error)}, status=400)
    except TooManyHosts as error:
        return _page(request, params, {"faults": [("host", str(error))]}, status=400)
    return _page(request, params, result_context(advice, params))


def _page(
    request: HttpRequest, params: QueryDict, result: dict[str, Any], status: int = 200
) -> HttpResponse:
    context = {**form_context(params), **result, "agent_command": agent_command(request)}
    return render(request, TEMPLATE, context, status=status)
