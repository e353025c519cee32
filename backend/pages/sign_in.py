"""The form of the sign-in page."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.validators import MaxLengthValidator

LONGEST_NAME = 150
LONGEST_PASSWORD = 1000
"""Characters: hashing a longer one would only keep the server busy."""


class SignInForm(AuthenticationForm):
    """Django's form with its lengths held by the server too: the log of failures has columns."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": (
            "No account has this user name and this password. The user name is the one that an"
            " administrator gave the account; both are case-sensitive."
        ),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].validators.append(MaxLengthValidator(LONGEST_NAME))
        self.fields["password"].validators.append(MaxLengthValidator(LONGEST_PASSWORD))
