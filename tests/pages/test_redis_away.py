from typing import Any
from unittest import mock

import pytest
from django.test import Client
from django.urls import get_resolver

from runs import tasks
from runs.models import Run
from tests.conftest import ApiClient
from tests.pages.test_hostile_strings import addresses
from tests.sample_documents import run_document

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture(autouse=True)
def _redis_is_away(settings: Any) -> None:
    cache = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": NOWHERE}
    settings.CACHES = {"default": cache}
    settings.REDIS_URL = NOWHERE


@pytest.mark.django_db
def test_every_page_answers_or_says_when_to_come_back(admin_client: Client) -> None:
    asked = 0
    for address in sorted(set(addresses(get_resolver().url_patterns))):
        if not address.startswith("/admin/"):
            response: Any = admin_client.get(address)
            assert response.status_code < 500 or (
                response.status_code == 503 and response["Retry-After"]
            ), address
            if response.streaming:
                b"".join(response.streaming_content)  # reading to the end closes the file
            asked += 1
    assert asked > 20


@pytest.mark.django_db(transaction=True)
def test_an_upload_is_taken(uploader: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.process_run, "delay", mock.Mock(side_effect=ConnectionRefusedError))
    assert uploader.upload(run_document()).status_code == 202
    assert Run.objects.get().status == Run.Status.ACCEPTED
