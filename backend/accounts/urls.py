from django.contrib.auth.views import LogoutView
from django.urls import path

from accounts.views import oidc, tokens
from accounts.views.audit import audit_page
from accounts.views.password import SignInView

pages = [
    path("tokens/", tokens.token_page, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke-token"),
    path("audit/", audit_page, name="audit"),
    path("accounts/login/", SignInView.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/oidc/", oidc.start, name="oidc-start"),
    path("accounts/oidc/callback/", oidc.callback, name="oidc-callback"),
]
