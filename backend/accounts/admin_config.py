from django.contrib.admin.apps import AdminConfig


# In a separate module, because Django reads this class before models are available.
class SiteAdminConfig(AdminConfig):
    default_site = "accounts.admin_site.CiphermarkAdminSite"
