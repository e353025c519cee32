"""Sign in with a password, or follow a link to the provider."""

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator

from accounts.models import ExternalIdentity
from accounts.sign_in.provider import provider_name

LONGEST_NAME = 150
LONGEST_PASSWORD = 1000
"""Maximum length, because hashing long passwords is slow."""


class SignInForm(AuthenticationForm):
    """Limit the lengths of Django's form to what the log of failures can store."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": (
            "Wrong user name or password. Use the user name that your administrator gave you. User"
            " name and password are case-sensitive."
        ),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].validators.append(MaxLengthValidator(LONGEST_NAME))
        self.fields["password"].validators.append(MaxLengthValidator(LONGEST_PASSWORD))

    def confirm_login_allowed(self, user: Any) -> None:
        """Reject passwords of accounts that an identity provider manages."""
        super().confirm_login_allowed(user)
        if ExternalIdentity.objects.filter(person=user).exists():
            raise ValidationError("This account has no password. Sign in through your provider.")


class SignInView(LoginView):
    """Sign in with a password, even if a proxy has signed in the user."""

    template_name = "accounts/login.html"
    authentication_form = SignInForm

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.redirect_authenticated_user = not settings.CIPHERMARK_PROXY_USER_HEADER

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(provider=provider_name(), **context)
