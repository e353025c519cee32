"""Provide single sign-on through an OpenID Connect provider or an authenticating proxy."""
