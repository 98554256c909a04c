from django.apps import AppConfig


class MarcelCMSConfig(AppConfig):
    name = "marcelcms"
    verbose_name = "MarcelCMS"

    def ready(self) -> None:
        from marcelcms import celery  # noqa: F401  (makes it the current app, so that shared tasks find the broker)
