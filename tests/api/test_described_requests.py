from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS

from accounts.tokens import create_token
from config.wsgi import application

SCOPES = ("upload", "read")
# The schema cannot describe that parameters require each other, or that a name must exist.
NOT_APPLICABLE = "positive_data_acceptance"


def served(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    # The client of schemathesis requests compressed responses and closes no response.
    environ.pop("HTTP_ACCEPT_ENCODING", None)
    with closing(application(environ, start_response)) as answer:
        return [b"".join(answer)]


@pytest.fixture
def described(db: None, published: None) -> Iterator[Any]:
    # The test's transaction requires an open connection.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    reader = {"Authorization": f"Bearer {create_token('describing', 'read')}"}
    yield schemathesis.openapi.from_wsgi(
        "/api/v1/openapi.json", served, headers={**reader, "Host": "localhost"}
    )
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_every_operation_answers_as_described(described: Any) -> None:
    tokens = {scope: create_token(scope, scope) for scope in SCOPES}
    excluded: Any = [check for check in CHECKS.get_all() if check.__name__ == NOT_APPLICABLE]
    for operation in described.get_all_operations():
        operation = operation.ok()

        @settings(
            max_examples=4,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            for token in tokens.values():
                headers = {"Authorization": f"Bearer {token}", "Host": "localhost"}
                case.call_and_validate(headers=headers, excluded_checks=excluded)

        ask()
