"""Django's admin with the access rule of `accounts.admin_site`."""

from django.contrib.admin.apps import AdminConfig


class SiteAdminConfig(AdminConfig):
    """Name the admin site. Django reads this before models are available."""

    default_site = "accounts.admin_site.CiphermarkAdminSite"
