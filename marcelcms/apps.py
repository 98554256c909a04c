import gc

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig

# What is loaded with the apps stays; looking through it again and again would be an eighth of every process's start.
# This module is loaded before the apps' own, and its `ready` is the last that is called.
gc.disable()


class StaffAdminConfig(AdminConfig):
    default_site = "marcelcms.accounts.site.AccountsSite"


class MarcelCMSConfig(AppConfig):
    name = "marcelcms"
    verbose_name = "MarcelCMS"

    def ready(self) -> None:
        # The first makes it the current app, so that shared tasks find the broker; the second registers.
        from marcelcms import celery, checks  # noqa: F401
        from marcelcms.accounts.open_sessions import signals  # noqa: F401

        gc.freeze()
        gc.enable()
