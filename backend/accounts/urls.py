from django.contrib.auth.views import LogoutView
from django.urls import path

from accounts.views import oidc, tokens
from accounts.views.audit import AuditLog
from accounts.views.password import SignInView

pages = [
    path("tokens/", tokens.TokenPage.as_view(), name="tokens"),
    path("tokens/<int:pk>/revoke/", tokens.RevokeToken.as_view(), name="revoke-token"),
    path("audit/", AuditLog.as_view(), name="audit"),
    path("accounts/login/", SignInView.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/oidc/", oidc.Start.as_view(), name="oidc-start"),
    path("accounts/oidc/callback/", oidc.Callback.as_view(), name="oidc-callback"),
]
