"""Django's administration with our own rule of who comes in (`accounts.admin_site`)."""

from django.contrib.admin.apps import AdminConfig


class SiteAdminConfig(AdminConfig):
    """Apart from the site itself: this is read before any model can be."""

    default_site = "accounts.admin_site.CiphermarkAdminSite"
