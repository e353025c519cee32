from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import ApiToken
from accounts.tokens import digest_of


def created(*arguments: str) -> str:
    out = StringIO()
    call_command("create_token", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_it_prints_the_token_alone_and_it_works() -> None:
    printed = created("nas", "--scope", "upload")
    assert printed.count("\n") == 1
    token = ApiToken.objects.get(digest=digest_of(printed.strip()))
    assert (token.name, token.scope, token.expires_at) == ("nas", "upload", None)


@pytest.mark.django_db
def test_it_can_expire() -> None:
    created("nas", "--scope", "read", "--expires-days", "30")
    token = ApiToken.objects.get()
    assert token.expires_at is not None
    assert 29 <= (token.expires_at - token.created_at).days <= 30


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    (
        ("nas",),
        ("nas", "--scope", "write"),
        ("nas", "--scope", "read", "--expires-days", "0"),
        ("nas", "--scope", "read", "--expires-days", "99999999999"),
        ("", "--scope", "read"),
    ),
)
def test_it_refuses_what_makes_no_sense(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        created(*arguments)
    assert not ApiToken.objects.exists()
