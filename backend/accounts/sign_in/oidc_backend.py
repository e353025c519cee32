"""Authenticate users with the authorization code of an OpenID Connect provider.

mozilla-django-oidc exchanges the code and checks the signature and nonce. This backend also checks
the issuer, audience and expiry (with tolerance), and finds accounts by subject instead of email
address.
"""

from typing import Any

import jwt
import requests
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from accounts.sign_in.accounts import ExternalPerson, account_of
from accounts.sign_in.provider import ProviderUnavailable, discovered, in_words, library_setting

LEEWAY_SECONDS = 60
"""Tolerated difference between the clocks of the site and the provider."""

ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
"""Asymmetric signature algorithms."""

NAMES = ("preferred_username", "email", "name", "sub")
"""Claims for the displayed name in order of preference. They never identify an account."""

FAULTS = (jwt.PyJWTError, SuspiciousOperation, LookupError, TypeError, ValueError)
"""Exceptions that the library raises for invalid responses."""

LONGEST_FAULT = 300


class AnswerRefused(Exception):
    """Raised for an invalid response; the message is logged and contains no secret."""


class ProviderBackend(OIDCAuthenticationBackend):  # type: ignore[misc]  # the library has no types
    """Sign in with the code flow and discovered endpoints; find accounts by issuer and subject."""

    get_settings = staticmethod(library_setting)

    def __init__(self) -> None:
        """Defer configuration, because Django instantiates backends for every permission check."""
        self.UserModel = User

    def authenticate(self, request: HttpRequest, *, nonce: str, code_verifier: str) -> User:
        """Exchange the authorization code and return the user's account.

        Raises `SignInRefused`, `ProviderUnavailable`, or `AnswerRefused` for any other error.
        """
        try:
            super().__init__()
            person: User | None = super().authenticate(
                request, nonce=nonce, code_verifier=code_verifier
            )
        except requests.RequestException as error:
            if error.response is None or error.response.status_code >= 500:
                raise ProviderUnavailable(in_words(error)) from None
            raise AnswerRefused(str(error)[:LONGEST_FAULT]) from None
        except FAULTS as error:
            raise AnswerRefused(f"{type(error).__name__}: {error}"[:LONGEST_FAULT]) from None
        if person is None:
            raise AnswerRefused("it contains no code")
        return person

    def _verify_jws(self, payload: str, key: jwt.PyJWK) -> dict[str, Any]:
        """Verify a token according to OpenID Connect Core 3.1.3.7 and return its claims."""
        client = settings.OIDC_RP_CLIENT_ID
        claims: dict[str, Any] = jwt.decode(
            payload,
            key,
            algorithms=list(ALGORITHMS),
            audience=client,
            issuer=discovered()["issuer"],
            leeway=LEEWAY_SECONDS,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
        if claims.get("azp", client) != client:
            raise jwt.InvalidTokenError("it was issued to another client")
        return claims

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> User:
        claims = {**self._userinfo(access_token, id_token, payload), **payload}
        names = (claims[name] for name in NAMES if claims.get(name))
        groups = claims.get(settings.CIPHERMARK_OIDC_GROUPS_CLAIM) or ()
        return account_of(
            ExternalPerson(
                issuer=payload["iss"],
                subject=payload["sub"],
                name=str(next(names)),
                # Some providers write a single group without a list.
                groups=frozenset([groups] if isinstance(groups, str) else map(str, groups)),
            )
        )

    def _userinfo(
        self, access_token: str, id_token: str, payload: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the claims of the userinfo endpoint. Many providers send groups only there."""
        if not self.OIDC_OP_USER_ENDPOINT:
            return {}
        claims: dict[str, Any] = self.get_userinfo(access_token, id_token, payload)
        if claims.get("sub") != payload["sub"]:
            raise jwt.InvalidTokenError("the user information belongs to another user")
        return claims
