"""The Celery application: `celery -A marcelcms worker` and `celery -A marcelcms beat`."""

import os

from celery import Celery
from celery.signals import worker_process_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")

app = Celery("marcelcms")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def warm_up(**_: object) -> None:
    """Loads the embedding model before the first edit needs it: an edit must count within a second."""
    from knowledge.inference.embedder import get_embedder

    get_embedder()
