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

LEEWAY_SECONDS = 60  # tolerated difference between the clocks of site and provider

# Asymmetric signature algorithms only.
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

# Claims for the displayed name, in order of preference.
NAMES = ("preferred_username", "email", "name", "sub")

# Exceptions that the library raises for invalid responses.
FAULTS = (jwt.PyJWTError, SuspiciousOperation, LookupError, TypeError, ValueError)

LONGEST_FAULT = 300


class AnswerRefused(Exception):
    """Report an invalid response of the identity provider.

    The site logs the message, so the message must not contain secrets.
    """


class ProviderBackend(OIDCAuthenticationBackend):  # type: ignore[misc]  # the library has no types
    """Identify accounts by issuer and subject instead of by email address.

    mozilla-django-oidc checks the signature and nonce of an ID token. This backend also checks the
    issuer, the audience and the expiry.
    """

    get_settings = staticmethod(library_setting)

    def __init__(self) -> None:
        # The library's __init__ runs in authenticate(), because Django creates a backend for every
        # permission check.
        self.UserModel = User

    def authenticate(self, request: HttpRequest, *, nonce: str, code_verifier: str) -> User:
        """Exchange the authorization code for tokens, and return the account of the user.

        Raise `SignInRefused` if the user has no access, `ProviderUnavailable` if the provider is
        not reachable or returns a 5xx status, and `AnswerRefused` if the response is invalid.
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
        """Verify an ID token (OpenID Connect Core 1.0, section 3.1.3.7), and return the claims."""
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
        # Many providers send the groups only from the userinfo endpoint.
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
        if not self.OIDC_OP_USER_ENDPOINT:
            return {}
        claims: dict[str, Any] = self.get_userinfo(access_token, id_token, payload)
        if claims.get("sub") != payload["sub"]:
            raise jwt.InvalidTokenError("the user information belongs to another user")
        return claims
