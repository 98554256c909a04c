from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    default_site = "marcelcms.accounts.site.AccountsSite"


class MarcelCMSConfig(AppConfig):
    name = "marcelcms"
    verbose_name = "MarcelCMS"

    def ready(self) -> None:
        # The first makes it the current app, so that shared tasks find the broker; the second registers.
        from marcelcms import celery, checks  # noqa: F401
        from marcelcms.accounts.open_sessions import signals  # noqa: F401
