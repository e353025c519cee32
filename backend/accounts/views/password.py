from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator

from accounts.models import ExternalIdentity
from accounts.sign_in.provider import provider_name

# Django's maximum for User.username. Much longer names do not fit in the log of django-axes.
LONGEST_NAME = 150
LONGEST_PASSWORD = 1000  # hashing longer passwords is slow


class SignInForm(AuthenticationForm):
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
        super().confirm_login_allowed(user)
        if ExternalIdentity.objects.filter(person=user).exists():
            raise ValidationError("This account has no password. Sign in through your provider.")


class SignInView(LoginView):
    template_name = "accounts/login.html"
    authentication_form = SignInForm

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # A user whom the proxy signs in may also sign in with a local account.
        self.redirect_authenticated_user = not settings.CIPHERMARK_PROXY_USER_HEADER

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(provider=provider_name(), **context)
