"""Apply the access rule of `accounts.admin_site` to Django's admin."""

from django.contrib.admin.apps import AdminConfig


class SiteAdminConfig(AdminConfig):
    """Select the class of the admin site. Django reads this before models are available."""

    default_site = "accounts.admin_site.CiphermarkAdminSite"
