"""The Celery application: `celery -A marcelcms worker` and `celery -A marcelcms beat`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")

app = Celery("marcelcms")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
